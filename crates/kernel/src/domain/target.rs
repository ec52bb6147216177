//! What a call looks at, after its arguments have been resolved.

use serde::{Deserialize, Serialize};

use super::name::{Environment, PersonId, ServiceName, SourceName};

/// The kind of a resolved target; a policy's resource type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A service of the catalog.
    Service,
    /// A configured source as a whole.
    Source,
    /// A path beneath a workspace root.
    Path,
    /// The catalog itself.
    Catalog,
    /// The runbook store.
    Runbooks,
    /// Evidence of the same investigation.
    Evidence,
}

impl TargetKind {
    /// The word as it stands in definitions and policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Source => "source",
            Self::Path => "path",
            Self::Catalog => "catalog",
            Self::Runbooks => "runbooks",
            Self::Evidence => "evidence",
        }
    }
}

/// What one call looks at. Resolved by trusted code from checked arguments; policy decides on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Which kind of resource.
    pub kind: TargetKind,
    /// Its name in its kind: a service, a path, an evidence id.
    pub name: String,
    /// The service it belongs to, if one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceName>,
    /// Where it runs, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// Who owns it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<PersonId>,
    /// The source whose concurrency limit the call counts against.
    pub source: SourceName,
}
