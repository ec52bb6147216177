//! The seam that tools implement which change something.
//!
//! A write tool never decides whether it may: it says what would happen ([`WriteTool::preview`]), and does it when it is
//! handed a [`Warrant`], which only the gate makes. It never tries again by itself. Between preview and write the world
//! may move: [`WriteTool::write`] holds itself to the bound facts of its plan and refuses where they no longer hold.

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::domain::output::Output;
use crate::domain::plan::{Facts, Plan, Preview, Proposal};
use crate::domain::result::ToolResult;
use crate::domain::run::Run;
use crate::domain::target::Target;

use super::gate::warrant::Warrant;
use super::tool::{Arguments, Problem};

/// Why a write tool brought nothing. The message goes to the model (masked): say what was tried and what would do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It can't be done as asked. Nothing was changed.
    #[error("{message}")]
    Refused {
        /// Finer reason in upper case, e.g. `NOT_UNIQUE`, `STALE_READ`.
        reason: &'static str,
        /// What is wrong and what would do.
        message: String,
    },
    /// What would be changed could not be reached or would not do it. Nothing was changed, for certain.
    #[error("{message}")]
    Backend {
        /// Finer reason in upper case, e.g. `UNREACHABLE`.
        reason: &'static str,
        /// What happened and what to try.
        message: String,
    },
    /// It was begun, and whether it took effect is not known.
    #[error("{message}")]
    Unknown {
        /// What happened.
        message: String,
    },
}

/// What came of a write.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The bound facts as they are now.
    pub after: Facts,
    /// What changed, one sentence each.
    pub side_effects: Vec<String>,
    /// What the model is told.
    pub output: Output,
    /// What would take it back, if anything would.
    pub undo: Option<Proposal>,
}

/// Whether a write whose outcome was lost took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// It did.
    Took {
        /// The bound facts as they are now.
        after: Facts,
        /// How one can tell.
        because: String,
    },
    /// It did not.
    DidNot {
        /// How one can tell.
        because: String,
    },
    /// It can't be told.
    CantTell {
        /// Why.
        because: String,
    },
}

/// Whether what a write was to bring about is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// It is.
    Held,
    /// It is not.
    Failed,
    /// It can't be told.
    Unknown,
}

/// What a tool saw when it looked after its write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is as it should be.
    pub held: Held,
    /// What was seen, in a sentence.
    pub because: String,
    /// The facts that it rests on.
    pub facts: Facts,
}

/// What a write tool is given to look with.
#[derive(Clone, Copy)]
pub struct Looking<'a> {
    /// The time of the call. Tools have no other clock.
    pub now: Timestamp,
    /// The investigation that asks.
    pub run: &'a Run,
    /// Results of this investigation as the model still sees them: whole where whole, cut where cut, masked where masked.
    pub seen: &'a [&'a ToolResult],
    /// Fires when the work must end.
    pub cancel: &'a CancellationToken,
}

/// A tool that changes something.
#[async_trait]
pub trait WriteTool: Send + Sync {
    /// The tool's own rules of sense, all problems at once, then the target. No I/O beyond what is in memory.
    ///
    /// # Errors
    /// Every problem found.
    fn resolve(&self, args: &Arguments, now: Timestamp) -> Result<Target, Vec<Problem>>;

    /// Looks at the target as it is now and says exactly what would happen. Changes nothing.
    ///
    /// # Errors
    /// [`WriteError::Refused`] or [`WriteError::Backend`].
    async fn preview(&self, args: &Arguments, target: &Target, looking: Looking<'_>) -> Result<Preview, WriteError>;

    /// The bound facts as they are now. By default those of a fresh preview; a tool whose preview asks what the model has
    /// seen answers this without: the approval may outlive the conversation.
    ///
    /// # Errors
    /// As [`Self::preview`].
    async fn bound(&self, plan: &Plan, looking: Looking<'_>) -> Result<Facts, WriteError> {
        let args = Arguments::checked(plan.arguments.clone());
        Ok(self.preview(&args, &plan.target, looking).await?.bound)
    }

    /// Does it, once, if the bound facts still hold.
    ///
    /// # Errors
    /// [`WriteError`]; [`WriteError::Unknown`] wherever it may have taken effect.
    async fn write(&self, warrant: Warrant, looking: Looking<'_>) -> Result<Effect, WriteError>;

    /// Whether a write took effect whose outcome was lost. Changes nothing but what that write left unfinished of its own.
    async fn probe(&self, plan: &Plan, looking: Looking<'_>) -> Probed;

    /// Looks whether the write brought about what it was for.
    async fn verify(&self, plan: &Plan, effect: &Effect, looking: Looking<'_>) -> Verdict;

    /// Reads that show whether the trouble is over; they run as calls of their own and stand as evidence.
    fn follow_ups(&self, _plan: &Plan) -> Vec<Proposal> {
        Vec::new()
    }
}
