//! What can be broken in the shop. A fault says what happens, never how an investigation is to find it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is put into the shop while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A change of configuration cuts a connection pool.
    Pool,
    /// The card processor that payments calls becomes slow. No configuration changes.
    Upstream,
    /// The quota of the store's data directory fills. No configuration changes.
    Disk,
    /// The certificate of payments is replaced by one that expires within hours. No configuration changes.
    Certificate,
    /// Nothing breaks.
    None,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 5] = [Self::Pool, Self::Upstream, Self::Disk, Self::Certificate, Self::None];

    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Upstream => "upstream",
            Self::Disk => "disk",
            Self::Certificate => "certificate",
            Self::None => "none",
        }
    }

    /// Whether customers notice.
    #[must_use]
    pub fn reach(self) -> Reach {
        match self {
            Self::Pool | Self::Upstream | Self::Disk => Reach::Customers,
            Self::Certificate | Self::None => Reach::Nobody,
        }
    }
}

/// Who notices a fault by himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Orders fail or are slow.
    Customers,
    /// Orders go on as before.
    Nobody,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fault; there are `pool`, `upstream`, `disk`, `certificate` and `none`")]
pub struct NotAFault(String);

impl FromStr for Fault {
    type Err = NotAFault;

    fn from_str(text: &str) -> Result<Self, NotAFault> {
        let found = Self::ALL.into_iter().find(|fault| fault.as_str() == text);
        found.ok_or_else(|| NotAFault(text.chars().take(80).collect()))
    }
}

/// A kind of source that an investigation of the shop reads, and that can be taken down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The log files.
    Logs,
    /// The `/metrics` pages.
    Metrics,
    /// The Git repository and the configuration files.
    Changes,
}

impl FromStr for Source {
    type Err = NotASource;

    fn from_str(text: &str) -> Result<Self, NotASource> {
        match text {
            "logs" => Ok(Self::Logs),
            "metrics" => Ok(Self::Metrics),
            "changes" => Ok(Self::Changes),
            other => Err(NotASource(other.chars().take(80).collect())),
        }
    }
}

/// A text that names no source of the shop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a source of the shop; there are `logs`, `metrics` and `changes`")]
pub struct NotASource(String);

#[cfg(test)]
mod tests {
    use super::{Fault, Source};

    #[test]
    fn every_fault_is_read_back_from_its_name() {
        for fault in Fault::ALL {
            assert_eq!(fault.to_string().parse(), Ok(fault));
            assert_eq!(serde_json::to_value(fault).unwrap(), fault.as_str());
        }
    }

    #[test]
    fn an_unknown_name_lists_what_there_is() {
        assert!("pools".parse::<Fault>().unwrap_err().to_string().contains("`upstream`"));
        assert!("log".parse::<Source>().unwrap_err().to_string().contains("`logs`"));
    }
}
