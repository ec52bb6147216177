//! Why a call brought nothing, on its way to becoming a result.

use crate::domain::name::SourceName;
use crate::domain::result::{CallError, ErrorCode, Status};

use super::gate::deed::{Deed, Ended, Halt};
use super::tool::{Problem, ReadError};

/// A call that ended without data. Its texts may hold anything; the normaliser masks them.
#[derive(Debug)]
pub struct Refusal {
    pub(super) status: Status,
    pub(super) error: CallError,
    /// The source that failed, if it came to that.
    pub(super) source: Option<SourceName>,
    /// A finer reason for the trace only, where the model must not learn it.
    pub(super) trace_reason: Option<&'static str>,
}

impl Refusal {
    fn new(status: Status, code: ErrorCode, reason: Option<&str>, message: String) -> Self {
        let error = CallError { code, reason: reason.map(str::to_owned), message, retryable: false };
        Self { status, error, source: None, trace_reason: None }
    }

    /// No such tool for this role.
    pub(super) fn unknown_tool(message: String) -> Self {
        Self::new(Status::Error, ErrorCode::UnknownTool, None, message)
    }

    /// Arguments that do not parse, fit or make sense: all problems, one a line.
    pub(super) fn invalid_arguments(problems: &[Problem]) -> Self {
        let lines: Vec<String> = problems
            .iter()
            .map(|problem| match problem.pointer.as_str() {
                "" => problem.message.clone(),
                pointer => format!("{pointer}: {}", problem.message),
            })
            .collect();
        Self::new(Status::Error, ErrorCode::InvalidArguments, None, lines.join("\n"))
    }

    /// Policy said no, or could not be asked.
    pub(super) fn policy_denied(reason: Option<&str>, why: &str, policy_ids: &[String]) -> Self {
        let message = format!("{why} (decided by {})", policy_ids.join(", "));
        Self::new(Status::Denied, ErrorCode::PolicyDenied, reason, message)
    }

    /// A write that did not begin.
    pub(super) fn halted(halt: Halt) -> Self {
        Self::new(halt.status, halt.code, Some(&halt.reason), halt.message)
    }

    /// A write that began and was not done, or of which it is not known.
    pub(super) fn of_deed(deed: &Deed) -> Option<Self> {
        let mut refusal = match &deed.ended {
            Ended::Done { .. } => return None,
            Ended::NotDone { reason, message } if reason == "CANCELLED" => {
                Self::new(Status::Cancelled, ErrorCode::Cancelled, Some(reason), message.clone())
            }
            Ended::NotDone { reason, message } => {
                let message = format!("{message}; nothing was changed");
                Self::new(Status::Error, ErrorCode::BackendError, Some(reason), message)
            }
            Ended::Unknown { message } => {
                let message = format!(
                    "whether {} took effect is not known: {message}. Nothing more is written on this target until a \
                     person has found out; look at it by reads, and report",
                    deed.approval
                );
                Self::new(Status::Unknown, ErrorCode::OutcomeUnknown, None, message)
            }
        };
        refusal.source = Some(deed.source.clone());
        Some(refusal)
    }

    /// The work took too long and was ended.
    pub(super) fn timeout(seconds: f64, source: SourceName) -> Self {
        let message = format!("ended after {seconds} s without an answer; ask for less, or look elsewhere");
        let mut refusal = Self::new(Status::Timeout, ErrorCode::Timeout, None, message);
        refusal.error.retryable = true;
        refusal.source = Some(source);
        refusal
    }

    /// What a tool could not find out.
    pub(super) fn of_read(error: ReadError, source: SourceName) -> Self {
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

    /// The tool's code panicked. What the panic said goes to nobody: it may hold anything.
    pub(super) fn panicked(source: Option<SourceName>) -> Self {
        let message = "the tool broke down inside; this is a fault of the program, so look another way".to_owned();
        let mut refusal = Self::new(Status::Error, ErrorCode::BackendError, Some("PANICKED"), message);
        refusal.source = source;
        refusal
    }

    /// The redactor failed; nothing of the output is shown.
    pub(super) fn not_masked(source: SourceName) -> Self {
        let message = "the output could not be checked for secrets, so none of it is shown".to_owned();
        let mut refusal = Self::new(Status::Error, ErrorCode::BackendError, Some("REDACTION_FAILED"), message);
        refusal.source = Some(source);
        refusal
    }
}
