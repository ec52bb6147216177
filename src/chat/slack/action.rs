//! What buttons and forms say: which they are, and of which card or investigation. Ids and numbers, nothing else.
//!
//! Whoever takes a click reads it with these types. What stands in a value or in a form's metadata was sent through
//! somebody's client, so it is a claim: the gate compares digest and revision with what it holds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::plan::ApprovalId;

#[cfg(test)]
mod tests;

/// Most characters of a form's metadata.
pub const METADATA: usize = 3_000;

/// What does not name a button, a form, a card or an investigation of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is no {what} of ours")]
pub struct NotOurs {
    what: &'static str,
    shown: String,
}

fn not_ours(what: &'static str, text: &str) -> NotOurs {
    NotOurs { what, shown: text.chars().take(80).collect() }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal, $prefix:literal, { $($(#[$each:meta])* $word:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$each])* $word,)*
        }

        impl $name {
            /// All there are.
            pub const ALL: &'static [Self] = &[$(Self::$word),*];

            /// As it is sent.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => concat!($prefix, $text),)*
                }
            }
        }

        impl FromStr for $name {
            type Err = NotOurs;

            fn from_str(text: &str) -> Result<Self, NotOurs> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text).ok_or_else(|| not_ours($what, text))
            }
        }
    };
}

words! {
    /// A button.
    Action, "button", "warrant.", {
        /// Says yes, on the face of a card that shows all. Its value is a [`CardRef`], as in all that follow up to `Revoke`.
        Approve = "approve",
        /// Opens the whole, at its first page.
        SeeWhole = "whole",
        /// Opens the evidence.
        Evidence = "evidence",
        /// Turns to the next page of the whole.
        Next = "next",
        /// Turns to the page before.
        Before = "before",
        /// Opens the form that asks why not.
        Deny = "deny",
        /// Opens the form that asks why one person shall suffice.
        BreakGlass = "break_glass",
        /// Opens the form that asks why what was denied shall be asked again.
        Reopen = "reopen",
        /// Opens the form that asks why it is taken back.
        Revoke = "revoke",
        /// A report was of use. Its value is the investigation's id, as in `Wrong`.
        Helpful = "helpful",
        /// Opens the form that asks what was wrong with a report.
        Wrong = "wrong",
    }
}

words! {
    /// A form: the callback id of a modal.
    Form, "form", "warrant.form.", {
        /// The whole; handing in its last page says yes. Its metadata are a [`Kept`], as in all but `Feedback`.
        Whole = "whole",
        /// To be read, with nothing to hand in: the evidence of a card, or that something is recorded.
        Evidence = "evidence",
        /// Why not.
        Deny = "deny",
        /// Why one person shall suffice.
        BreakGlass = "break_glass",
        /// Why it shall be asked again.
        Reopen = "reopen",
        /// Why it is taken back.
        Revoke = "revoke",
        /// What was wrong with a report. Its metadata are the investigation's id.
        Feedback = "feedback",
    }
}

/// The block, and the input in it, that hold what a person wrote into a form.
pub const REASON: &str = "reason";

/// Which card a person was shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CardRef {
    /// The approval.
    pub approval: ApprovalId,
    /// The revision of the card.
    pub revision: u32,
    /// The beginning of the plan's digest.
    pub digest_prefix: String,
}

impl CardRef {
    /// Of a card.
    #[must_use]
    pub fn of(card: &Card) -> Self {
        Self { approval: card.approval, revision: card.revision, digest_prefix: card.digest_prefix.clone() }
    }
}

impl fmt::Display for CardRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.approval, self.revision, self.digest_prefix)
    }
}

impl FromStr for CardRef {
    type Err = NotOurs;

    fn from_str(text: &str) -> Result<Self, NotOurs> {
        let read = || {
            let mut parts = text.split('.');
            let (approval, revision, digest) = (parts.next()?, parts.next()?, parts.next()?);
            let hex = (1..=64).contains(&digest.len()) && digest.bytes().all(|b| b.is_ascii_hexdigit());
            let card = Self {
                approval: approval.parse().ok()?,
                revision: revision.parse().ok()?,
                digest_prefix: digest.to_owned(),
            };
            // One way to write it, so that what is compared as text is compared as a card.
            (hex && parts.next().is_none() && card.to_string() == text).then_some(card)
        };
        read().ok_or_else(|| not_ours("card", text))
    }
}

impl TryFrom<String> for CardRef {
    type Error = NotOurs;

    fn try_from(text: String) -> Result<Self, NotOurs> {
        text.parse()
    }
}

impl From<CardRef> for String {
    fn from(card: CardRef) -> Self {
        card.to_string()
    }
}

/// What a form about a card carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The card.
    pub card: CardRef,
    /// The page of the whole that stands in it, from 0; none in a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

impl Kept {
    /// As it is sent.
    #[must_use]
    pub fn metadata(&self) -> String {
        let page = self.page.map(|page| format!(r#","page":{page}"#)).unwrap_or_default();
        format!(r#"{{"card":"{}"{page}}}"#, self.card)
    }
}

impl FromStr for Kept {
    type Err = NotOurs;

    fn from_str(text: &str) -> Result<Self, NotOurs> {
        let kept = if text.len() <= METADATA { serde_json::from_str(text).ok() } else { None };
        kept.ok_or_else(|| not_ours("form's metadata", text))
    }
}

/// The investigation that feedback is about.
///
/// # Errors
/// Where it is no id.
pub fn investigation(value: &str) -> Result<InvestigationId, NotOurs> {
    value.parse().map_err(|_| not_ours("investigation", value))
}
