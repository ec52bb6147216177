//! The log file of a service: one JSON object a line, each written whole.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value};
use warrant_kernel::domain::time::rfc3339;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// For people who look for something.
    Debug,
    /// The usual course.
    Info,
    /// Not as it should be.
    Warn,
    /// Something was not done.
    Error,
}

impl Level {
    /// The level of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Debug, Self::Info, Self::Warn, Self::Error].into_iter().find(|level| level.as_str() == name)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// A log file that is open.
#[derive(Debug)]
pub struct Journal {
    service: &'static str,
    file: Mutex<File>,
    least: AtomicU8,
}

impl Journal {
    /// Opens the file for appending.
    ///
    /// # Errors
    /// What the file system says.
    pub fn open(path: &Path, service: &'static str) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { service, file: Mutex::new(file), least: AtomicU8::new(Level::Info as u8) })
    }

    /// Sets the least important level that is written.
    pub fn set_least(&self, level: Level) {
        self.least.store(level as u8, Ordering::Relaxed);
    }

    /// Writes one line. `fields` is a JSON object.
    pub fn write(&self, level: Level, message: &str, fields: Value) {
        if (level as u8) < self.least.load(Ordering::Relaxed) {
            return;
        }
        let mut line = Map::new();
        line.insert("time".to_owned(), rfc3339(Timestamp::now()).into());
        line.insert("level".to_owned(), level.as_str().into());
        line.insert("service".to_owned(), self.service.into());
        line.insert("msg".to_owned(), message.into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A service that cannot write its log goes on serving, as real ones do; the log then shows a gap.
        drop(file.write_all(text.as_bytes()));
    }
}
