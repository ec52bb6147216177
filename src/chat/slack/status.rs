//! The one message of an investigation that is edited while it runs: what is being looked at, what is spent, what is known.
//!
//! A fold over the agent's [`State`], so it can be drawn again at any time, after a restart too. Whoever sends it edits the
//! same message and leaves out what did not change.

#[cfg(test)]
pub(in crate::chat::slack) mod tests;

use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::report::Outcome;
use warrant_kernel::domain::result::Status;
use warrant_kernel::domain::run::Trigger;
use warrant_kernel::domain::time;

use super::blocks::{Message, Page, Run, Text};
use super::escape::{Exact, Shown};
use crate::agent::state::{CallState, Ending, State};

/// Pieces of evidence that are shown, the newest last.
const EVIDENCE: usize = 8;

/// Calls under way that are shown.
const CALLS: usize = 4;

/// Characters of one line.
const WIDTH: usize = 160;

/// Characters of the question.
const QUESTION: usize = 400;

/// Renders where an investigation stands.
#[must_use]
pub fn render(state: &State) -> Message {
    let mut page = Page::empty();
    page.header(Text::fit(headline(state)));
    question(&mut page, &state.run.trigger);
    now(&mut page, state);
    page.title("Spent", Shown::line(&spent(state)));
    evidence(&mut page, state);
    waiting(&mut page, state);
    let mut small = vec![Shown::own("investigation ").then_line(state.run.investigation.as_str())];
    if state.report.is_none() {
        small.push(Shown::own("answer in this thread to steer it; “stop” ends it"));
    }
    page.context(&small.into_iter().map(Text::fit).collect::<Vec<_>>());
    let blocks = page.into_blocks();
    // Everything in it is short, so it always fits.
    Message::one(blocks, headline(state)).unwrap_or_else(|| Message::words(Text::fit(headline(state))))
}

/// In place of it where not everybody may see what is looked at.
#[must_use]
pub fn withheld(state: &State) -> Message {
    let head = Shown::own(if state.report.is_some() { "Investigated." } else { "Investigating." });
    let text = head.then(
        " What is looked at is not shown here, since not everybody who reads here may see it: \
                          investigation ",
    );
    Message::words(Text::fit(text.then_line(state.run.investigation.as_str())))
}

fn headline(state: &State) -> Shown {
    let head = match &state.report {
        None => Shown::own("Investigating"),
        Some(report) => Shown::own(match report.outcome {
            Outcome::Confirmed => "Investigated: confirmed",
            Outcome::Likely => "Investigated: likely",
            Outcome::NoFault => "Investigated: no fault",
            Outcome::Inconclusive => "Investigated: inconclusive",
        }),
    };
    match state.run.service.as_ref().map(ServiceName::as_str) {
        Some(service) => head.then(" · ").then_line(service),
        None => head,
    }
}

fn question(page: &mut Page, trigger: &Trigger) {
    let label = match trigger {
        Trigger::Question { .. } => "Asked",
        Trigger::Alert { .. } => "Alert, untrusted text",
    };
    page.title(label, Shown::own(""));
    let text = match trigger {
        Trigger::Question { text } => Shown::lines(text),
        Trigger::Alert { name, text } => Shown::line(name).then("\n").and(&Shown::lines(text)),
    };
    let all = text.chars();
    let (head, rest) = text.parted(QUESTION);
    let shown = if rest.is_empty() {
        head
    } else {
        let missing = all - head.chars();
        head.then_line(&format!(" … {missing} more characters"))
    };
    page.quote(shown);
}

fn now(page: &mut Page, state: &State) {
    let under_way = state.unanswered();
    if state.report.is_some() {
        return;
    }
    if let Some(ending) = &state.ending {
        let why = match ending {
            Ending::Budget(why) | Ending::ModelFailed(why) => why,
        };
        page.title("Ending", Shown::own(""));
        page.quote(Shown::lines(why).parted(QUESTION).0);
        return;
    }
    if under_way.is_empty() {
        let turn = state.turns.len() + 1;
        page.title("Now", Shown::line(&format!("the model thinks, turn {turn}")));
        return;
    }
    page.title("Now", Shown::own("looking"));
    let mut lines: Vec<Exact> = under_way.iter().take(CALLS).map(|known| line(&what(known))).collect();
    let rest = under_way.len().saturating_sub(CALLS);
    if rest > 0 {
        lines.push(line(&format!("and {rest} more")));
    }
    page.exact(&lines);
}

/// A call as a person would write it: `search_logs checkout, pattern timeout`.
fn what(known: &CallState) -> String {
    let call = &known.call;
    let Ok(serde_json::Value::Object(map)) = serde_json::from_str(&call.arguments) else {
        return format!("{} {}", call.tool, call.arguments);
    };
    let argument = |(key, value): (&String, &serde_json::Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if key == "service" { value } else { format!("{key} {value}") }
    };
    format!("{} {}", call.tool, map.iter().map(argument).collect::<Vec<_>>().join(", "))
}

fn line(text: &str) -> Exact {
    Exact::of(text).cut(WIDTH)
}

fn spent(state: &State) -> String {
    let (budgets, usage) = (&state.budgets, state.usage());
    let wall = jiff::SignedDuration::from_secs(i64::try_from(budgets.wall_s).unwrap_or(i64::MAX));
    let mut parts = vec![
        format!("{} of {} turns", state.turns.len(), budgets.turns),
        format!("{} of {}", time::short(state.spent), time::short(wall)),
        format!("{} of {} tokens", usage.input.saturating_add(usage.output), budgets.tokens),
    ];
    parts.extend(match (state.cost(), budgets.cost) {
        (Some(cost), Some(most)) => Some(format!("cost {cost:.2} of {most:.2}")),
        (Some(cost), None) => Some(format!("cost {cost:.2}")),
        (None, _) => None,
    });
    parts.join(" · ")
}

fn evidence(page: &mut Page, state: &State) {
    let answered: Vec<&CallState> = state.calls.iter().filter(|known| known.result.is_some()).collect();
    let found = answered.iter().filter_map(|known| known.result.as_ref()?.evidence).count();
    let failed = answered.len() - found;
    let aside =
        if failed == 0 { format!("{found} pieces") } else { format!("{found} pieces, {failed} without an answer") };
    page.title("Evidence so far", Shown::line(&aside));
    let from = answered.len().saturating_sub(EVIDENCE);
    let mut lines = Vec::new();
    if from > 0 {
        lines.push(line(&format!("{from} before these")));
    }
    lines.extend(answered.iter().skip(from).map(|known| line(&came(known))));
    page.exact(&lines);
}

/// What came of a call, in a line.
fn came(known: &CallState) -> String {
    let what: String = what(known).chars().take(100).collect();
    let Some(result) = &known.result else { return what };
    match result.status {
        Status::Ok => {
            let id = result.evidence.map(|id| id.to_string()).unwrap_or_default();
            let rows = match result.meta.lines_returned {
                1 => "1 row".to_owned(),
                count => format!("{count} rows"),
            };
            let cut = if result.truncated { ", cut" } else { "" };
            format!("{id:>4}  {rows}{cut}: {what}")
        }
        Status::Error => format!("   ✗  failed: {what}"),
        Status::Denied => format!("   ✗  denied: {what}"),
        Status::Pending => format!("   …  waits for people: {what}"),
        Status::Timeout => format!("   ✗  took too long: {what}"),
        Status::Cancelled => format!("   ✗  ended: {what}"),
        Status::Unknown => format!("   ?  not known whether it took effect: {what}"),
    }
}

fn waiting(page: &mut Page, state: &State) {
    let waiting: Vec<_> = state.waiting().collect();
    if waiting.is_empty() {
        return;
    }
    page.title("Waits for people", Shown::own(""));
    for written in waiting.iter().take(CALLS) {
        let id = written.approval.map(|id| format!("{id}: ")).unwrap_or_default();
        page.bullet(vec![Run::plain(Shown::line(&id).then_line(&written.what).parted(WIDTH).0)]);
    }
}
