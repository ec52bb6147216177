//! The events of an investigation: its trace, and the only thing its state is made of.
//!
//! Questions and answers come in pairs, [`Body::Asked`] and [`Body::Answered`]. On resume an `Asked` without its
//! `Answered` is asked again where it is a model or a read. A write is never asked again: what became of it is looked up.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::Decision;
use super::name::{CallId, PersonId};
use super::plan::Proposal;
use super::report::{Report, Written};
use super::result::ToolResult;
use super::run::Run;

/// The schema version that this program writes.
pub const SCHEMA: u32 = 4;

/// What a model asked for. Untrusted: the tool may not exist and the arguments may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Our id of it.
    pub id: CallId,
    /// Its number within the investigation; its evidence bears the same.
    pub number: u64,
    /// The tool's name, as it was written.
    pub tool: String,
    /// The arguments, as they were written: JSON text, one hopes.
    pub arguments: String,
    /// Who made it.
    pub by: Caller,
}

/// Who made a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum Caller {
    /// The opening sweep.
    Sweep,
    /// A model, in this turn; `provider_id` is its own id of the call.
    Model {
        /// The turn, from 1.
        turn: u32,
        /// The provider's id.
        provider_id: String,
    },
    /// A person at the command line.
    Person,
    /// A write, after which this read looks whether the trouble is over.
    FollowUp {
        /// The write's call.
        of: CallId,
    },
}

/// Limits of one investigation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Turns of the model.
    pub turns: u32,
    /// Wall time in seconds, pauses not counted.
    pub wall_s: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// Cost in the currency of the prices in the config; none where no price is known.
    pub cost: Option<f64>,
    /// Calls in one turn.
    pub calls_per_turn: u32,
    /// Characters of conversation before older results are shrunk.
    pub context_chars: usize,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Asked {
    /// The model, for its next turn.
    Model {
        /// The turn, from 1.
        turn: u32,
        /// SHA-256 over system prompt, tools and conversation, in hex.
        request: String,
    },
    /// A tool that looks.
    Read {
        /// The call.
        call: Call,
    },
    /// A tool that changes something.
    Write {
        /// The call.
        call: Call,
    },
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Answered {
    /// The model's whole answer, in the agent's own form.
    Model {
        /// The turn.
        turn: u32,
        /// The answer.
        answer: Value,
    },
    /// The model failed for good in this turn.
    ModelFailed {
        /// The turn.
        turn: u32,
        /// What happened.
        message: String,
    },
    /// A tool that looks.
    Read {
        /// The envelope.
        result: Box<ToolResult>,
    },
    /// A tool that changes something.
    Write {
        /// The envelope.
        result: Box<ToolResult>,
        /// What the report says of it.
        written: Box<Written>,
        /// Reads that show whether the trouble is over.
        follow_ups: Vec<Proposal>,
    },
    /// A report that was handed back because claims did not stand up.
    Report {
        /// The call that handed it in.
        call_id: CallId,
        /// What the model is told.
        message: String,
    },
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Body {
    /// It began.
    Opened {
        /// What stays the same.
        run: Box<Run>,
        /// Its limits.
        budgets: Budgets,
        /// Names of the models, in the order in which they are tried.
        models: Vec<String>,
        /// The program's version.
        version: String,
    },
    /// The word of the marks between which text from outside reaches models, so that it is the same when it is resumed.
    Framed {
        /// The word.
        word: String,
    },
    /// Something was asked.
    Asked(Asked),
    /// Something was answered.
    Answered(Answered),
    /// A call was decided on.
    Decided {
        /// The decision.
        decision: Decision,
    },
    /// What became later of a write that waited.
    Settled {
        /// What the report says of it now.
        written: Box<Written>,
        /// What the model is told.
        text: String,
        /// Reads that show whether the trouble is over.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        follow_ups: Vec<Proposal>,
    },
    /// A person added something.
    Steered {
        /// What.
        text: String,
        /// Who, where it is known: from here on they have a part in what is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<PersonId>,
    },
    /// A person brought something to look at, a file; it is evidence from here on.
    Brought {
        /// As if it had been called for: what it is, and its number.
        call: Call,
        /// What it holds: a stranger's text.
        result: Box<ToolResult>,
        /// Who, where it is known: from here on they have a part in what is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<PersonId>,
    },
    /// Its alerts changed: one joined, fired again or was resolved. A stranger's text.
    News {
        /// What.
        text: String,
    },
    /// A limit was reached or is near.
    Budget {
        /// Which, in words for the model and for people.
        text: String,
        /// Whether the investigation ends here.
        spent: bool,
    },
    /// It was taken up again after a break; time in between does not count.
    Resumed,
    /// A person or a signal ended it before its report; it may be resumed.
    Interrupted,
    /// It ended.
    Reported {
        /// The report.
        report: Box<Report>,
    },
}

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the investigation, from 1.
    pub seq: u64,
    /// When. The loop knows no other time.
    pub at: Timestamp,
    /// The schema version it was written in.
    pub schema: u32,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}
