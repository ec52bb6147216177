//! What the commands about writes say to people.

use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::sequencer::shown::Listed;
use warrant_kernel::call::gate::sequencer::tokens::Issued;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::visible::visible;

use super::Outcome;
use crate::app::SystemClock;
use crate::app::fault::counted;
use crate::app::print;
use crate::app::sequencer::wire::{Overview, Then};
use crate::chat::terminal::card::{clock, face, standing, whole};
use crate::chat::terminal::style::{Paint, columns};

/// How much of the approvals is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// What still asks for something.
    Open,
    /// All there ever were.
    All,
}

/// All approvals and what else stands open.
pub fn overview(overview: &Overview, which: Which) {
    if let Some(stopped) = &overview.stopped {
        let (by, at) = (&stopped.by, clock(stopped.at));
        let why = if stopped.reason.is_empty() { String::new() } else { format!(": {}", visible(&stopped.reason)) };
        print::foreign(&format!("Writes are stopped since {at} by {by}{why}."));
        print::line("They go on with: warrant stop-writes --lift \"why\"\n");
    }
    let listed: Vec<&Listed> =
        overview.approvals.iter().filter(|it| which == Which::All || is_open(&it.state)).collect();
    print::rows(&listed.iter().map(|it| row(it)).collect::<Vec<_>>());
    let earlier = usize::try_from(overview.earlier).unwrap_or(usize::MAX);
    if which == Which::All && earlier > 0 {
        print::line(&format!("\n{earlier} earlier ones stand in the ledger: warrant audit list"));
    }
    let earlier = if which == Which::All { 0 } else { earlier };
    let over = (overview.approvals.len() - listed.len()).saturating_add(earlier);
    match (listed.is_empty(), over) {
        (true, 0) => print::line("No write was ever asked for."),
        (true, _) => print::line(&format!("Nothing waits. {}: warrant approvals list --all", over_text(over))),
        (false, 0) => {}
        (false, _) => print::line(&format!("\n{}: warrant approvals list --all", over_text(over))),
    }
    let figures = overview.figures;
    if which == Which::All && figures.decisions > 0 {
        let (took, hasty) = (figures.seconds / figures.decisions, figures.hasty);
        let decisions = counted(usize::try_from(figures.decisions).unwrap_or(usize::MAX), "decision");
        print::line(&format!(
            "\n{decisions} of people, after {took} s on average; {hasty} of them within 3 s of the card."
        ));
    }
    for debt in overview.reviews.iter().filter(|debt| debt.reviewed.is_none()) {
        let (id, by) = (debt.approval, &debt.by);
        print::foreign(&format!("\nA review is owed: {by} broke the glass on {id}: {}", visible(&debt.reason)));
        print::line(&format!("Another person closes it: warrant approvals review {id} \"what was found\""));
    }
}

fn over_text(over: usize) -> String {
    if over == 1 { "1 more is over".to_owned() } else { format!("{} are over", counted(over, "approval")) }
}

/// Whether a person can still do something about it.
fn is_open(state: &State) -> bool {
    match state {
        State::Open | State::Approved { .. } | State::Consumed { .. } | State::Unknown { .. } => true,
        State::Denied { .. }
        | State::Expired { .. }
        | State::Revoked { .. }
        | State::Superseded { .. }
        | State::Executed { .. }
        | State::NotExecuted { .. } => false,
    }
}

fn row(it: &Listed) -> (String, String) {
    let stands = match &it.state {
        State::Open => {
            let have = it.approved.len();
            let votes = if have == 0 { String::new() } else { format!(", {have} of {} approved", it.quorum) };
            format!("waits until {}{votes}", clock(it.expires_at))
        }
        state => standing(state),
    };
    let what = format!("{} ({} on {}, for {}): {stands}", it.effect, it.tool, it.target, it.requester);
    (format!("{} {}", it.approval, it.tier.as_str()), what)
}

/// One card.
pub fn card(card: &Card) {
    let paint = Paint::for_stream(&std::io::stdout());
    print::line(face(card, SystemClock.now(), paint, columns()).trim_end());
    if card.state == State::Open {
        let (id, digest) = (card.approval, &card.digest_prefix);
        let rest = if card.needs_whole { String::new() } else { format!(" --digest {digest}") };
        print::line(&format!("\n  warrant approvals approve {id}{rest}\n  warrant approvals deny {id} \"why\""));
    }
}

/// All there is about a write.
pub fn whole_of(card: &Card) {
    let paint = Paint::for_stream(&std::io::stdout());
    print::line(&whole(card, paint, columns()).join("\n"));
}

/// What came of a vote.
pub fn outcome(outcome: &Outcome) {
    let (id, state) = (outcome.approval, &outcome.state);
    if let Some(why) = &outcome.halted {
        print::foreign(&format!("{id} is approved and was not carried out: {}", visible(why)));
        return;
    }
    let then = match (state, outcome.then) {
        (State::Open, Some(Then::MoreNeeded)) => "your vote counted; more persons are needed".to_owned(),
        (State::Approved { .. }, Some(Then::CallerCarriesOut)) => {
            "approved; the investigation that asked carries it out".to_owned()
        }
        (state, _) => standing(state),
    };
    print::foreign(&format!("{id}: {then}"));
}

/// A token, this once.
pub fn token(issued: &Issued) {
    let (id, person) = (&issued.kept.id, &issued.kept.person);
    print::line(&issued.token);
    let scopes = issued.kept.scopes.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    eprintln!("It proves {person}, and is not shown again. Set it as $WARRANT_TOKEN where {person} works.");
    eprintln!("It is good for: {scopes}");
    eprintln!("Revoke it with: warrant token revoke {id}");
}

/// The tokens there are.
pub fn tokens(tokens: &[serde_json::Value]) {
    if tokens.is_empty() {
        print::line("There are no tokens.");
    }
    let rows = tokens.iter().map(|token| {
        let text = |key: &str| print::text(token, key);
        let revoked = text("revoked_at");
        let stands = if revoked.is_empty() { String::new() } else { format!("; revoked {revoked}") };
        let scopes: Option<Vec<&str>> = token
            .get("scopes")
            .and_then(serde_json::Value::as_array)
            .map(|scopes| scopes.iter().filter_map(serde_json::Value::as_str).collect());
        let scopes = scopes.map_or_else(|| "read, approve".to_owned(), |scopes| scopes.join(", "));
        let (person, at, by) = (text("person"), text("issued_at"), text("issued_by"));
        (text("id"), format!("{person}, good for {scopes}, issued {at} by {by}{stands}"))
    });
    print::rows(&rows.collect::<Vec<_>>());
}
