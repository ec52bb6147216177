//! Why a call brought nothing, on its way to becoming a result.

use crate::domain::name::SourceName;
use crate::domain::result::{CallError, ErrorCode, Status};

use super::tool::{Problem, ReadError};

/// A call that ended without data. Its texts may hold anything; the normaliser masks them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// How the call ended.
    pub status: Status,
    /// The stable code and the message.
    pub error: CallError,
    /// The source that failed, if it came to that.
    pub source: Option<SourceName>,
    /// A finer reason for the trace only, where the model must not learn it.
    pub trace_reason: Option<&'static str>,
}

impl Refusal {
    fn new(status: Status, code: ErrorCode, reason: Option<&str>, message: String) -> Self {
        let error = CallError { code, reason: reason.map(str::to_owned), message, retryable: false };
        Self { status, error, source: None, trace_reason: None }
    }

    /// No such tool for this role.
    #[must_use]
    pub fn unknown_tool(message: String) -> Self {
        Self::new(Status::Error, ErrorCode::UnknownTool, None, message)
    }

    /// Arguments that do not parse, fit or make sense: all problems, one a line.
    #[must_use]
    pub fn invalid_arguments(problems: &[Problem]) -> Self {
        let lines: Vec<String> = problems
            .iter()
            .map(|problem| match problem.pointer.as_str() {
                "" => problem.message.clone(),
                pointer => format!("{pointer}: {}", problem.message),
            })
            .collect();
        Self::new(Status::Error, ErrorCode::InvalidArguments, None, lines.join("\n"))
    }

    /// Policy said no.
    #[must_use]
    pub fn policy_denied(reason: &str, policy_ids: &[String]) -> Self {
        let message = format!("{reason} (decided by {})", policy_ids.join(", "));
        Self::new(Status::Denied, ErrorCode::PolicyDenied, None, message)
    }

    /// The work took too long and was ended.
    #[must_use]
    pub fn timeout(seconds: f64, source: SourceName) -> Self {
        let message = format!("ended after {seconds} s without an answer; ask for less, or look elsewhere");
        let mut refusal = Self::new(Status::Timeout, ErrorCode::Timeout, None, message);
        refusal.error.retryable = true;
        refusal.source = Some(source);
        refusal
    }

    /// What a tool could not find out.
    #[must_use]
    pub fn of_read(error: ReadError, source: SourceName) -> Self {
        let mut refusal = match error {
            ReadError::Backend { reason, message, retryable } => {
                let mut refusal = Self::new(Status::Error, ErrorCode::BackendError, Some(reason), message);
                refusal.error.retryable = retryable;
                refusal
            }
            ReadError::Invalid { reason, message } => {
                Self::new(Status::Error, ErrorCode::InvalidArguments, Some(reason), message)
            }
            ReadError::Cancelled => Self::new(
                Status::Cancelled,
                ErrorCode::Cancelled,
                None,
                "ended on request before it was done".to_owned(),
            ),
        };
        refusal.source = Some(source);
        refusal
    }

    /// The redactor failed; nothing of the output is shown.
    #[must_use]
    pub fn not_masked() -> Self {
        Self::new(
            Status::Error,
            ErrorCode::BackendError,
            Some("REDACTION_FAILED"),
            "the output could not be checked for secrets, so none of it is shown".to_owned(),
        )
    }
}
