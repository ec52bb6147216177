//! On whose behalf and within what an investigation runs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::name::{InvestigationId, PersonId, RoleName, ServiceName};

/// What began an investigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Trigger {
    /// A person's question.
    Question {
        /// As it was asked.
        text: String,
    },
    /// An alert. Its texts are a stranger's.
    Alert {
        /// The alert's name.
        name: String,
        /// Its summary and description.
        text: String,
    },
}

impl Trigger {
    /// The words of the trigger, for people and for ranking runbooks.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Question { text } | Self::Alert { text, .. } => text,
        }
    }
}

/// The person (or alert source) on whose behalf an investigation runs; their rights bound every read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// Who.
    pub person: PersonId,
    /// The groups they are in, as the config says.
    pub groups: Vec<String>,
}

/// Where the investigation was asked for and where its answers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// This machine's terminal.
    Terminal,
    /// `warrant tools call`.
    Command,
    /// `warrant demo`.
    Demo,
    /// Slack.
    Slack,
    /// A webhook, with nobody watching.
    Alert,
    /// The HTTP API.
    Api,
}

impl Channel {
    /// The word as it stands in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Command => "command",
            Self::Demo => "demo",
            Self::Slack => "slack",
            Self::Alert => "alert",
            Self::Api => "api",
        }
    }
}

/// Whether an investigation may ask for writes at all: the switch of the config, or of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// It may not; policy says so of each.
    Off,
    /// It may; policy decides on each.
    Allowed,
}

impl Writes {
    /// Allowed where either allows them: the config to all, or a question to itself.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Off, Self::Off) => Self::Off,
            (Self::Allowed, _) | (_, Self::Allowed) => Self::Allowed,
        }
    }

    /// What stands where a run does not say: runs of before there were writes.
    fn off() -> Self {
        Self::Off
    }
}

/// What stays the same over one investigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Which investigation.
    pub investigation: InvestigationId,
    /// What began it.
    pub trigger: Trigger,
    /// For whom.
    pub requester: Requester,
    /// What it may see.
    pub role: RoleName,
    /// Where it is read.
    pub channel: Channel,
    /// Whether it may ask for writes.
    #[serde(default = "Writes::off")]
    pub writes: Writes,
    /// The service in question, if one was named.
    pub service: Option<ServiceName>,
    /// The beginning of the window looked at.
    pub since: Timestamp,
    /// When it was opened.
    pub opened_at: Timestamp,
}
