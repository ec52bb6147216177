//! The seam that tools implement.
//!
//! A tool is a pure function of its arguments and its source. It does not cache, cut, mask, time out or retry:
//! the stages around it do. It ends its work soon after [`Reading::cancel`] fires (dropping the future ends async work;
//! blocking work must look at the token).

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::domain::name::{EvidenceId, ServiceName};
use crate::domain::output::Output;
use crate::domain::run::Run;
use crate::domain::target::Target;
use crate::domain::time;

/// Something wrong with one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer to the argument, `/service`.
    pub pointer: String,
    /// What is wrong and what would do.
    pub message: String,
}

impl Problem {
    /// A problem of the argument `name`.
    #[must_use]
    pub fn of(name: &str, message: impl Into<String>) -> Self {
        Self { pointer: format!("/{name}"), message: message.into() }
    }
}

/// Arguments that fit the tool's schema, defaults filled in, times made absolute (RFC 3339).
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Wraps arguments that have been checked. For the schema stage and for tests of tools.
    #[must_use]
    pub fn checked(map: Map<String, Value>) -> Self {
        Self(map)
    }

    /// The arguments as the tool's own type.
    ///
    /// # Errors
    /// One problem that names what did not fit: a disagreement between the tool's definition and its code.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_value(Value::Object(self.0.clone()))
            .map_err(|error| Problem { pointer: String::new(), message: error.to_string() })
    }

    /// A text argument, if it was given.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A whole-number argument, if it was given.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    /// A yes-or-no argument, if it was given.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// A service argument, if it was given.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<ServiceName> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    /// A time argument, if it was given; the schema stage made it absolute.
    #[must_use]
    pub fn time(&self, name: &str) -> Option<Timestamp> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    /// A duration argument, if it was given.
    #[must_use]
    pub fn duration(&self, name: &str) -> Option<SignedDuration> {
        self.text(name).and_then(|text| time::parse_duration(text).ok())
    }

    /// An evidence id, if it was given.
    #[must_use]
    pub fn evidence(&self, name: &str) -> Option<EvidenceId> {
        self.text(name).and_then(|text| text.parse().ok())
    }

    /// All of them as a JSON object.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// Why a tool brought nothing. The message goes to the model (masked): say what was tried and what would do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The source answered with an error, or not at all.
    #[error("{message}")]
    Backend {
        /// Finer reason in upper case, e.g. `UNREACHABLE`.
        reason: &'static str,
        /// What happened and what to try.
        message: String,
        /// Whether the same call may succeed later.
        retryable: bool,
    },
    /// The arguments fit the schema and yet can't be carried out, e.g. a query the server can't parse.
    #[error("{message}")]
    Invalid {
        /// Finer reason in upper case, e.g. `QUERY_INVALID`, `PROTECTED_FILE`.
        reason: &'static str,
        /// What is wrong and what would do.
        message: String,
    },
    /// The work was ended through [`Reading::cancel`].
    #[error("the read was ended before it was done")]
    Cancelled,
}

/// A page of earlier evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidencePage {
    /// The tool that brought it.
    pub tool: String,
    /// Whose words it holds.
    pub origin: crate::domain::result::Origin,
    /// The facts before the rows.
    pub summary: Value,
    /// The rows asked for.
    pub rows: Vec<Value>,
    /// How many rows there are in all.
    pub total: u64,
}

/// Access to the whole outputs kept in the trace.
#[async_trait]
pub trait EvidencePages: Send + Sync {
    /// Rows `from .. from + count` of `evidence`; none where there is no such evidence or it was not captured.
    async fn page(&self, evidence: EvidenceId, from: u64, count: u64) -> Result<Option<EvidencePage>, ReadError>;
}

/// What a tool is given to read with.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The time of the call. Tools have no other clock.
    pub now: Timestamp,
    /// The investigation that asks.
    pub run: &'a Run,
    /// Fires when the work must end.
    pub cancel: &'a CancellationToken,
    /// Earlier outputs of this investigation.
    pub evidence: &'a dyn EvidencePages,
}

/// A tool that only looks.
#[async_trait]
pub trait ReadTool: Send + Sync {
    /// The tool's own rules of sense, all problems at once, then the target. No I/O beyond what is in memory.
    ///
    /// # Errors
    /// Every problem found.
    fn resolve(&self, args: &Arguments, now: Timestamp) -> Result<Target, Vec<Problem>>;

    /// Looks.
    ///
    /// # Errors
    /// [`ReadError`] where nothing could be found out; finding nothing is an empty output.
    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError>;
}

/// The services there are; the catalog implements it.
pub trait Services: Send + Sync {
    /// All names, sorted.
    fn names(&self) -> Vec<ServiceName>;
}

/// The clock seam.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// How long this process has run, by a clock that nobody sets.
    fn monotonic(&self) -> Duration {
        BEGAN.elapsed()
    }
}

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
