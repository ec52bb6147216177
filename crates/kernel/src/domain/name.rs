//! Names and identifiers as newtypes. Use [`str::parse`] or `TryFrom<String>`; there is no other way in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A text that is not a name of the kind asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a {kind}: {rule}")]
pub struct NameError {
    kind: &'static str,
    shown: String,
    rule: &'static str,
}

const MAX_NAME: usize = 128;

fn is_name(text: &str, extra: &[char]) -> bool {
    let mut chars = text.chars();
    let starts_well = chars.next().is_some_and(|first| first.is_ascii_alphanumeric());
    starts_well
        && text.len() <= MAX_NAME
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-' || extra.contains(&c))
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, $kind:literal, $extra:expr, $rule:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                if is_name(text, &$extra) {
                    return Ok(Self(text.to_owned()));
                }
                Err(NameError { kind: $kind, shown: text.chars().take(80).collect(), rule: $rule })
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// The name of a tool: what the model calls.
    ToolName, "tool name", [], "letters, digits, `_` and `-`, at most 128, beginning with a letter or digit";
    /// The name of a service in the catalog.
    ServiceName, "service name", ['.', '/', ':'], "letters, digits and `_-./:`, at most 128, beginning with a letter or digit";
    /// What an agent may see: `explore`, `general-purpose` or one from the config.
    RoleName, "role name", [], "letters, digits, `_` and `-`, at most 128, beginning with a letter or digit";
    /// Where a service runs: `production`, `staging`, ...
    Environment, "environment", ['.'], "letters, digits and `_-.`, at most 128, beginning with a letter or digit";
    /// A named source of the config: a metrics server, a set of log files, a workspace root.
    SourceName, "source name", ['.', ':', '/'], "letters, digits and `_-.:/`, at most 128, beginning with a letter or digit";
    /// A person, as the config or an identity provider names them.
    PersonId, "person", ['.', '@', '+'], "letters, digits and `_-.@+`, at most 128, beginning with a letter or digit";
    /// One call of a tool within an investigation: `c1`, `c2`, ...
    CallId, "call id", [], "letters, digits, `_` and `-`, at most 128, beginning with a letter or digit";
    /// One investigation: a UUID of version 7, so ids sort by their time.
    InvestigationId, "investigation id", [], "letters, digits, `_` and `-`, at most 128, beginning with a letter or digit";
}

impl CallId {
    /// The id of the `n`th call of an investigation.
    #[must_use]
    pub fn nth(n: u64) -> Self {
        Self(format!("c{n}"))
    }
}

/// A result that the investigation can cite: `E1`, `E2`, ... It bears the number of the call that brought it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EvidenceId(u64);

impl EvidenceId {
    /// The evidence of the `n`th call.
    #[must_use]
    pub fn nth(n: u64) -> Self {
        Self(n)
    }

    /// The number behind the `E`.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EvidenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{}", self.0)
    }
}

impl FromStr for EvidenceId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let digits = text.strip_prefix('E').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|d| d.parse().ok()).map(Self).ok_or_else(|| NameError {
            kind: "evidence id",
            shown: text.chars().take(80).collect(),
            rule: "`E` and a number, as in `E7`",
        })
    }
}

impl TryFrom<String> for EvidenceId {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<EvidenceId> for String {
    fn from(id: EvidenceId) -> Self {
        id.to_string()
    }
}
