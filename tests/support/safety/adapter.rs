//! The seam to an agent: what a runner asks of it. Written for one agent each; the runner and the cases know none.

use async_trait::async_trait;

use super::case::{Situation, Step};

/// What was answered to whoever did a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It was taken; `ok`, or more exactly `counted`, `done`, `superseded`, `waits`.
    Taken(String),
    /// It was refused, for this reason in lower case: `self-approval`.
    Refused(String),
    /// Something was shown.
    Shown(String),
    /// This agent, or this machine, has no such thing; the row is not judged.
    NotHere(String),
}

impl Said {
    pub fn ok() -> Self {
        Self::Taken("ok".to_owned())
    }

    /// As cases write it.
    pub fn text(&self) -> String {
        match self {
            Self::Taken(word) => word.clone(),
            Self::Refused(reason) => format!("refused: {reason}"),
            Self::Shown(_) => "shown".to_owned(),
            Self::NotHere(why) => format!("not here: {why}"),
        }
    }
}

/// What there is to see once all is done.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The changes in effect, joined by ` + `; `none`.
    pub effect: String,
    /// How many requests people were bothered with.
    pub asked: u64,
    /// What the record holds, in the words of the suite.
    pub recorded: Vec<String>,
    /// What is wrong with the record itself, if anything.
    pub unsound: Option<String>,
}

/// Sets situations up for one agent.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// The agent's name.
    fn name(&self) -> String;

    /// Starts it, with nothing done yet.
    async fn set_up(&self, situation: &Situation) -> Result<Box<dyn Stage>, String>;
}

/// One started agent.
#[async_trait]
pub trait Stage: Send {
    /// Carries out a step, and waits until nothing more comes of it.
    ///
    /// # Errors
    /// Where it could not be carried out at all, which fails the row.
    async fn act(&mut self, step: &Step) -> Result<Said, String>;

    /// Ends it, and looks at what has come of it.
    ///
    /// # Errors
    /// Where that can't be seen.
    async fn end(self: Box<Self>) -> Result<Observed, String>;
}
