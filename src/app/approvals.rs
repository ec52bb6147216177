//! `warrant approvals ...`, `stop-writes`, `token ...` and `audit resolve`: what people do about writes from a terminal.
//!
//! Everything goes through the sequencer, wherever it runs; who acts is never taken from the command line.

pub mod told;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::sequencer::shown::Did;
use warrant_kernel::call::gate::sequencer::tokens::{Issued, NoScope, Scope};
use warrant_kernel::call::gate::vote::Whole;
use warrant_kernel::call::write::Held;
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::domain::plan::ApprovalId;

use super::fault::Fault;
use super::sequencer::line::{Line, seen};
use super::sequencer::wire::{Ask, Counted, Overview, Seen, Shown, Then};
use super::{App, SystemClock};
use crate::chat::terminal::approver::talk::{Talk, Talked};
use crate::chat::terminal::keyboard::Stdin;
use crate::chat::terminal::pager;
use crate::chat::terminal::progress::Progress;
use crate::chat::terminal::style::{Paint, columns};

/// How long a command looks on while an approved write is carried out.
const LOOK_ON: Duration = Duration::from_mins(2);

/// How long the look after a write may take whose caller does it.
const LOOKED_AFTER: Duration = Duration::from_secs(10);

/// How often it looks.
const AGAIN: Duration = Duration::from_millis(200);

/// How a person approves without being asked: what they saw elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// They are asked here, at a terminal.
    Asked,
    /// They name the plan by the beginning of its digest.
    Digest(String),
}

/// What is done to all writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// None happens any more.
    Stop,
    /// They happen again.
    Lift,
}

/// What became of a write whose outcome was lost, as a person found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Became {
    /// It took effect.
    Done,
    /// It did not.
    NotDone,
}

/// What came of an approval, as far as this command saw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Which.
    pub approval: ApprovalId,
    /// Where it stands now.
    pub state: State,
    /// What happens next, if it was voted for here.
    pub then: Option<Then>,
    /// Why it was not carried out, when that was tried.
    pub halted: Option<String>,
}

impl Outcome {
    /// The exit code: 0 done, or nothing was to be done; 5 done and not as it should be; 3 denied, over or still open.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match &self.state {
            State::Executed { verified: Some(Held::Failed), .. } => 5,
            State::Executed { .. } => 0,
            State::Open
            | State::Approved { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Revoked { .. }
            | State::Superseded { .. }
            | State::Consumed { .. }
            | State::NotExecuted { .. }
            | State::Unknown { .. } => 3,
        }
    }
}

/// All approvals and what else stands open.
///
/// # Errors
/// [`Fault`].
pub async fn list(app: &App) -> Result<Overview, Fault> {
    once(app, Ask::List).await
}

/// One approval.
///
/// # Errors
/// [`Fault`].
pub async fn show(app: &App, approval: ApprovalId) -> Result<Card, Fault> {
    let shown: Shown = once(app, Ask::Show { approval }).await?;
    Ok(shown.card)
}

/// Votes for a plan, and looks on while it is carried out.
///
/// # Errors
/// [`Fault::Usage`] where it can't be approved like this; [`Fault::Refused`] where the vote does not count.
pub async fn approve(app: &App, approval: ApprovalId, how: &Confirmation) -> Result<Outcome, Fault> {
    let line = Line::open(app).await?;
    let ended = decide(&line, approval, how, |seen| Ask::Approve { seen }).await;
    line.end().await;
    ended
}

/// Does without the second person, and looks on while the plan is carried out.
///
/// # Errors
/// As [`approve`].
pub async fn break_glass(app: &App, approval: ApprovalId, how: &Confirmation, reason: &str) -> Result<Outcome, Fault> {
    let line = Line::open(app).await?;
    let ended = decide(&line, approval, how, |seen| Ask::BreakGlass { seen, reason: reason.to_owned() }).await;
    line.end().await;
    ended
}

async fn decide(
    line: &Line<'_>,
    approval: ApprovalId,
    how: &Confirmation,
    ask: impl FnOnce(Seen) -> Ask,
) -> Result<Outcome, Fault> {
    let shown: Shown = line.ask(Ask::Show { approval }).await?;
    let then = match how {
        Confirmation::Asked => match &shown.card.state {
            State::Open if Stdin::is_attended() => talk(line, &shown.card).await?,
            State::Open => return Err(Fault::Usage(unasked(&shown.card))),
            // It was approved and not carried out: whoever says it again wants it done.
            State::Approved { .. } => {
                let counted: Counted = line.ask(ask(seen(&shown.card, Whole::NotOpened))).await?;
                Some(counted.then)
            }
            State::Denied { .. }
            | State::Expired { .. }
            | State::Revoked { .. }
            | State::Superseded { .. }
            | State::Consumed { .. }
            | State::Executed { .. }
            | State::NotExecuted { .. }
            | State::Unknown { .. } => None,
        },
        Confirmation::Digest(_) if shown.card.needs_whole => {
            return Err(Fault::Usage(format!(
                "{approval} is approved on the last page of the whole only: warrant approvals approve {approval}, in a \
                 terminal"
            )));
        }
        Confirmation::Digest(digest) if *digest != shown.card.digest_prefix => {
            return Err(Fault::Usage(format!(
                "`{digest}` is not the digest of {approval}; look at it again: warrant approvals show {approval}"
            )));
        }
        Confirmation::Digest(_) => {
            let counted: Counted = line.ask(ask(seen(&shown.card, Whole::NotOpened))).await?;
            Some(counted.then)
        }
    };
    look_on(line, approval, then).await
}

fn unasked(card: &Card) -> String {
    let id = card.approval;
    if card.needs_whole {
        format!("{id} is approved on the last page of the whole only, and nobody can be shown it here; use a terminal")
    } else {
        format!(
            "nobody can be asked here; look at it (warrant approvals show {id}) and name what you saw: \
             warrant approvals approve {id} --digest {}",
            card.digest_prefix
        )
    }
}

/// Asks the person at this terminal.
async fn talk(line: &Line<'_>, card: &Card) -> Result<Option<Then>, Fault> {
    let stderr = std::io::stderr();
    let paint = Paint::for_stream(&stderr);
    let screen = Progress::new(stderr, paint, columns());
    let mut keyboard = Stdin::new();
    let booth = line.booth(card.approval).await?;
    let talk =
        Talk { held: screen.hold(), keyboard: &mut keyboard, booth: &booth, clock: &SystemClock, rows: pager::rows() };
    match talk.about(card.clone()).await {
        Talked::Decided | Talked::LeftOpen => Ok(booth.then()),
    }
}

/// Looks on until the plan is carried out, or will not be for now.
async fn look_on(line: &Line<'_>, approval: ApprovalId, then: Option<Then>) -> Result<Outcome, Fault> {
    let mut waited = Duration::ZERO;
    loop {
        let shown: Shown = line.ask(Ask::Show { approval }).await?;
        let (state, halted) = (shown.card.state, shown.halted);
        let caller = then == Some(Then::CallerCarriesOut);
        let goes_on = match &state {
            State::Approved { .. } => halted.is_none() && caller,
            State::Consumed { .. } => true,
            // Its caller looks after it; where that one is gone, nobody does.
            State::Executed { verified: None, .. } => caller && waited < LOOKED_AFTER,
            State::Open
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Revoked { .. }
            | State::Superseded { .. }
            | State::Executed { .. }
            | State::NotExecuted { .. }
            | State::Unknown { .. } => false,
        };
        let goes_on = goes_on || shown.under_way;
        if !goes_on || waited >= LOOK_ON {
            return Ok(Outcome { approval, state, then, halted });
        }
        tokio::time::sleep(AGAIN).await;
        waited += AGAIN;
    }
}

/// Votes against a plan.
///
/// # Errors
/// [`Fault::Refused`] where it does not count.
pub async fn deny(app: &App, approval: ApprovalId, reason: &str) -> Result<(), Fault> {
    let line = Line::open(app).await?;
    let ended = async {
        let shown: Shown = line.ask(Ask::Show { approval }).await?;
        line.ask(Ask::Deny { seen: seen(&shown.card, Whole::NotOpened), reason: reason.to_owned() }).await
    };
    let ended = ended.await;
    line.end().await;
    ended
}

/// Takes an approval back before it is used.
///
/// # Errors
/// [`Fault::Refused`].
pub async fn revoke(app: &App, approval: ApprovalId, reason: &str) -> Result<(), Fault> {
    once(app, Ask::Revoke { approval, reason: reason.to_owned() }).await
}

/// Lets what was denied be asked for again.
///
/// # Errors
/// [`Fault::Refused`].
pub async fn reopen(app: &App, approval: ApprovalId, reason: &str) -> Result<(), Fault> {
    once(app, Ask::Reopen { approval, reason: reason.to_owned() }).await
}

/// Closes the debt of a broken glass.
///
/// # Errors
/// [`Fault::Refused`].
pub async fn review(app: &App, approval: ApprovalId, note: &str) -> Result<(), Fault> {
    once(app, Ask::Review { approval, note: note.to_owned() }).await
}

/// Stops all writes, or lets them go on.
///
/// # Errors
/// [`Fault::Refused`].
pub async fn stop_writes(app: &App, switch: Switch, reason: &str) -> Result<(), Fault> {
    let reason = reason.to_owned();
    let ask = match switch {
        Switch::Stop => Ask::Stop { reason },
        Switch::Lift => Ask::Lift { reason },
    };
    once(app, ask).await
}

/// Says what became of a write whose outcome is not known.
///
/// # Errors
/// [`Fault::Refused`].
pub async fn resolve(app: &App, approval: ApprovalId, became: Became, reason: &str) -> Result<(), Fault> {
    let did = match became {
        Became::Done => Did::Did,
        Became::NotDone => Did::DidNot,
    };
    once(app, Ask::Resolve { approval, did, reason: reason.to_owned() }).await
}

/// Makes a personal token that is good for these scopes; for all, where none is named. It is told here and never again.
///
/// # Errors
/// [`Fault::Usage`] for what is no scope; [`Fault::Refused`].
pub async fn token_new(app: &App, person: PersonId, scopes: &[String]) -> Result<Issued, Fault> {
    let named: Result<BTreeSet<Scope>, _> = scopes.iter().map(|scope| scope.parse()).collect();
    let named = named.map_err(|error: NoScope| Fault::Usage(error.to_string()))?;
    let scopes = if named.is_empty() { Scope::ALL.into_iter().collect() } else { named };
    once(app, Ask::TokenNew { person, scopes }).await
}

/// The tokens there are: one's own, or to the operator all.
///
/// # Errors
/// [`Fault::Refused`].
pub async fn token_list(app: &App) -> Result<Vec<serde_json::Value>, Fault> {
    once(app, Ask::TokenList).await
}

/// Revokes a token.
///
/// # Errors
/// [`Fault::Refused`].
pub async fn token_revoke(app: &App, id: &str) -> Result<serde_json::Value, Fault> {
    once(app, Ask::TokenRevoke { id: id.to_owned() }).await
}

async fn once<T: serde::de::DeserializeOwned>(app: &App, ask: Ask) -> Result<T, Fault> {
    let line = Line::open(app).await?;
    let ended = line.ask(ask).await;
    line.end().await;
    ended
}
