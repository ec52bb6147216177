//! The labels of what is counted. A field that is a [`String`] holds a name of the config, or `other`.

use prometheus_client::encoding::EncodeLabelSet;
use warrant_kernel::domain::result::Status;

/// Why a request was refused before it came to a route, or by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It proved nobody.
    Unauthenticated,
    /// Its token is not good for that, or its person may not.
    Scope,
    /// It asked for what its person may not see.
    NotVisible,
    /// It was for another name.
    Host,
    /// It came from another page.
    Origin,
}

impl Refused {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthenticated => "unauthenticated",
            Self::Scope => "scope",
            Self::NotVisible => "not_visible",
            Self::Host => "host",
            Self::Origin => "origin",
        }
    }
}

/// What came of reading policies, tools and runbooks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// They are in force.
    Taken,
    /// They are not.
    Refused,
}

impl Reload {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Refused => "refused",
        }
    }
}

/// What began an investigation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Began {
    pub(super) trigger: &'static str,
    pub(super) channel: &'static str,
}

/// How one ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Ended {
    pub(super) outcome: &'static str,
}

/// Which tool, and how the call ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Tool {
    pub(super) tool: String,
    pub(super) status: &'static str,
}

/// Which model, and which of its tokens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Tokens {
    pub(super) model: String,
    pub(super) kind: &'static str,
}

/// Which model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Named {
    pub(super) model: String,
}

/// Which route, and how it answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Http {
    pub(super) route: &'static str,
    pub(super) method: &'static str,
    pub(super) status: u16,
}

/// Why.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Reason {
    pub(super) reason: &'static str,
}

/// The word for how a call ended.
pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Error => "error",
        Status::Denied => "denied",
        Status::Pending => "pending",
        Status::Timeout => "timeout",
        Status::Cancelled => "cancelled",
        Status::Unknown => "unknown",
    }
}
