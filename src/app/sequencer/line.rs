//! The way of a command to the sequencer: the socket of the process that holds the lease, else this process itself.
//!
//! Either way the same [`Office`](super::office::Office) answers, in the name of the user that this process runs as or of
//! the token in `$WARRANT_TOKEN`.

use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;
use warrant_kernel::call::gate::approval::Tally;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::vote::Whole;
use warrant_kernel::db::lease::LeaseError;
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::ledger::error::LedgerError;
use warrant_toolbox::tools::process::users;

use super::hold::{Hold, socket_fault};
use super::socket::{self, Peer};
use super::wire::{Answer, Ask, Counted, Refused, Seen, Shown, Then};
use crate::app::fault::Fault;
use crate::app::{App, environment};
use crate::chat::terminal::approver::Attended;
use crate::chat::terminal::approver::booth::{Booth, Uncounted};

/// How long a process that has taken the lease may need until it answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is asked meanwhile.
const AGAIN: Duration = Duration::from_millis(100);

/// A way to the sequencer.
pub struct Line<'a> {
    app: &'a App,
    token: Option<String>,
    here: Option<Hold>,
}

impl<'a> Line<'a> {
    /// Finds whoever holds the lease, or takes it.
    ///
    /// # Errors
    /// [`Fault`], where neither is possible.
    pub async fn open(app: &'a App) -> Result<Self, Fault> {
        let token = environment("WARRANT_TOKEN");
        let mut waited = Duration::ZERO;
        loop {
            if socket::is_answered(&app.config.store).await.map_err(|error| socket_fault(&error))? {
                return Ok(Self { app, token, here: None });
            }
            match Hold::take(app, Attended::default()).await {
                Ok(hold) => return Ok(Self { app, token, here: Some(hold) }),
                // It has just begun, or is about to end.
                Err(Fault::Ledger(LedgerError::Lease(LeaseError::Held { .. }))) if waited < PATIENCE => {}
                Err(fault) => return Err(fault),
            }
            tokio::time::sleep(AGAIN).await;
            waited += AGAIN;
        }
    }

    /// What this process found that an earlier one had left.
    #[must_use]
    pub fn here(&self) -> Option<&Hold> {
        self.here.as_ref()
    }

    /// Asks for something.
    ///
    /// # Errors
    /// [`Fault::Refused`], or what stood in the way.
    pub async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, Fault> {
        let token = self.token.clone();
        let answer = if let Some(hold) = &self.here {
            hold.office().answer(Peer { uid: users::current() }, token, ask).await
        } else {
            let answer = socket::ask(&self.app.config.store, token, ask).await.map_err(|error| socket_fault(&error))?;
            let gone = "the process that decided on writes has ended meanwhile; try again";
            answer.ok_or_else(|| Fault::Failed(gone.to_owned()))?
        };
        match answer {
            Answer::Done(value) => read(value),
            Answer::Refused(Refused { code, message }) => Err(Fault::Refused { code, message }),
        }
    }

    /// Where answers about one approval are handed in, for a conversation.
    ///
    /// # Errors
    /// Where nobody knows who this is.
    pub async fn booth(&self, approval: ApprovalId) -> Result<Distant<'_>, Fault> {
        Ok(Distant { line: self, approval, person: self.ask(Ask::Who).await?, then: std::sync::Mutex::new(None) })
    }

    /// Lets go.
    pub async fn end(self) {
        if let Some(hold) = self.here {
            hold.end().await;
        }
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, Fault> {
    serde_json::from_value(value)
        .map_err(|error| Fault::Failed(format!("the sequencer's answer can't be read: {error}")))
}

/// What a person saw of a card.
#[must_use]
pub fn seen(card: &Card, whole: Whole) -> Seen {
    Seen { approval: card.approval, revision: card.revision, digest: card.digest_prefix.clone(), whole }
}

/// A booth at the end of a line.
pub struct Distant<'a> {
    line: &'a Line<'a>,
    approval: ApprovalId,
    person: PersonId,
    then: std::sync::Mutex<Option<Then>>,
}

impl Distant<'_> {
    /// What happens after the vote that was handed in here, if one was.
    #[must_use]
    pub fn then(&self) -> Option<Then> {
        *self.then.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn counted(&self, ask: Ask) -> Result<Tally, Uncounted> {
        let counted: Counted = self.line.ask(ask).await.map_err(uncounted)?;
        *self.then.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(counted.then);
        Ok(match counted.then {
            Then::MoreNeeded => Tally::Counted { have: counted.have, need: counted.need },
            Then::CallerCarriesOut | Then::CarriedOutHere => Tally::Approved,
        })
    }
}

fn uncounted(fault: Fault) -> Uncounted {
    match fault {
        Fault::Refused { code, message } => Uncounted { code, message },
        other => Uncounted { code: "FAILED".to_owned(), message: other.to_string() },
    }
}

#[async_trait]
impl Booth for Distant<'_> {
    fn person(&self) -> &PersonId {
        &self.person
    }

    async fn card(&self) -> Result<Card, Uncounted> {
        let shown: Shown = self.line.ask(Ask::Show { approval: self.approval }).await.map_err(uncounted)?;
        Ok(shown.card)
    }

    async fn approve(&self, shown: &Card, whole: Whole) -> Result<Tally, Uncounted> {
        self.counted(Ask::Approve { seen: seen(shown, whole) }).await
    }

    async fn deny(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted> {
        let ask = Ask::Deny { seen: seen(shown, whole), reason: reason.to_owned() };
        self.line.ask(ask).await.map_err(uncounted)
    }

    async fn break_glass(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted> {
        self.counted(Ask::BreakGlass { seen: seen(shown, whole), reason: reason.to_owned() }).await.map(drop)
    }
}
