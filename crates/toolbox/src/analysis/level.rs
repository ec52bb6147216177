//! How bad a log record is, in five words. Every program's own word is read by [`Level::from_word`] or [`Level::from_number`].

use serde::{Deserialize, Serialize};

/// The level of a record. Ordered from least to most telling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The record names none.
    #[default]
    Unknown,
    /// Debug, trace, verbose.
    Debug,
    /// Info, notice.
    Info,
    /// Warning.
    Warn,
    /// Error, and all that is worse.
    Error,
}

const WORDS: [(&str, Level); 26] = [
    ("info", Level::Info),
    ("error", Level::Error),
    ("warn", Level::Warn),
    ("debug", Level::Debug),
    ("warning", Level::Warn),
    ("err", Level::Error),
    ("fatal", Level::Error),
    ("trace", Level::Debug),
    ("notice", Level::Info),
    ("critical", Level::Error),
    ("crit", Level::Error),
    ("severe", Level::Error),
    ("panic", Level::Error),
    ("alert", Level::Error),
    ("emerg", Level::Error),
    ("emergency", Level::Error),
    ("dpanic", Level::Error),
    ("wrn", Level::Warn),
    ("inf", Level::Info),
    ("dbg", Level::Debug),
    ("information", Level::Info),
    ("verbose", Level::Debug),
    ("fine", Level::Debug),
    ("finer", Level::Debug),
    ("finest", Level::Debug),
    ("exception", Level::Error),
];

impl Level {
    /// All levels, worst first.
    pub const ALL: [Self; 5] = [Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Unknown];

    /// The level that a word stands for, whatever its case.
    #[must_use]
    pub fn from_word(word: &[u8]) -> Option<Self> {
        WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known.as_bytes())).map(|(_, level)| *level)
    }

    /// The level of a number as pino and bunyan write it (10 trace to 60 fatal), or a syslog severity (0 to 7).
    #[must_use]
    pub fn from_number(number: i64) -> Option<Self> {
        match number {
            0..=3 | 50..=69 => Some(Self::Error),
            4 | 40..=49 => Some(Self::Warn),
            5 | 6 | 30..=39 => Some(Self::Info),
            7 | 10..=29 => Some(Self::Debug),
            _ => None,
        }
    }

    /// The word as it stands in arguments and results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}
