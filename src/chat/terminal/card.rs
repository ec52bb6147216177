//! A card as a person reads it in a terminal: what exactly will happen first, then what it rests on, then who decides.
//!
//! Facts of the plan stand as they are. What the model says stands behind `│`, what strangers wrote behind `┆`, on every
//! line, so that neither can pass for a fact. The face may leave lines out and says so; [`whole`] leaves nothing out.

use jiff::Timestamp;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::{Argument, Card, FACE_WIDTH};
use warrant_kernel::call::gate::exhibit::Excerpt;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::{EvidenceId, PersonId};
use warrant_kernel::domain::plan::{DiffLine, Facts, Ground, Said};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::time;

use super::sheet::{Most, Sheet};
use super::style::{Paint, Role};
use crate::chat::words::origin;

/// Stands before the model's words.
const MODEL: &str = "  │ ";

/// Stands before strangers' words.
const STRANGER: &str = "  ┆ ";

/// Lines of one of the model's texts on the face.
const CASE_LINES: usize = 6;

/// Lines of one excerpt on the face.
const EXCERPT_LINES: usize = 4;

/// Excerpts that are shown with so many lines.
const FEW: usize = 3;

/// The face of a card.
#[must_use]
pub fn face(card: &Card, now: Timestamp, paint: Paint, columns: usize) -> String {
    let mut sheet = Sheet::new(paint, columns);
    sheet.rule();
    head(&mut sheet, card, now);
    change(&mut sheet, card);
    facts(&mut sheet, "Holds now, or nothing is written", "another value is another plan", &card.bound);
    facts(&mut sheet, "Seen beside it", "may change without harm", &card.shown);
    list(&mut sheet, "To know", &card.notes);
    // Where all is to be looked through anyway, the face is for orientation.
    arguments(&mut sheet, card, if card.needs_whole { Most::Lines(2) } else { Most::All });
    sheet.heading(&format!("Why {}", card.tier.as_str()), &card.policy_ids.join(", "));
    for reason in &card.tier_reasons {
        sheet.item(reason);
    }
    case(&mut sheet, card);
    evidence_of(&mut sheet, card);
    who(&mut sheet, card);
    sheet.into_text()
}

/// All there is, line by line: the card's pages one after the other. Nothing is left out.
#[must_use]
pub fn whole(card: &Card, paint: Paint, columns: usize) -> Vec<String> {
    let mut sheet = Sheet::new(paint, columns);
    sheet.title(tier_role(card.tier), &format!("{} {}", card.approval, card.tier.as_str()), "the whole");
    for page in card.pages() {
        sheet.heading(&page.title, "");
        for line in &page.lines {
            let role = match line.get(..2) {
                Some("+ ") => Some(Role::Added),
                Some("- ") => Some(Role::Removed),
                _ => None,
            };
            sheet.foreign(STRANGER, role, line, Most::All);
        }
    }
    sheet.into_lines()
}

/// One piece of evidence, as far as the card holds it.
#[must_use]
pub fn evidence(card: &Card, id: EvidenceId, paint: Paint, columns: usize) -> String {
    let mut sheet = Sheet::new(paint, columns);
    match card.excerpts.iter().find(|excerpt| excerpt.evidence == id) {
        Some(excerpt) => put_excerpt(&mut sheet, excerpt, Most::All),
        None => {
            sheet.say(Some(Role::Careful), &format!("{id} is not among the evidence of this card: {}", cited(card)));
        }
    }
    sheet.into_text()
}

/// What is asked of people at a tier.
#[must_use]
pub fn asks(tier: Tier) -> &'static str {
    match tier {
        Tier::Low => "recorded, nobody is asked",
        Tier::Medium => "one confirmation",
        Tier::High => "review by another person who has seen the whole",
    }
}

/// Where an approval stands, in a sentence.
#[must_use]
pub fn standing(state: &State) -> String {
    match state {
        State::Open => "waits for people".to_owned(),
        State::Approved { at } => format!("approved at {}; not carried out yet", clock(*at)),
        State::Denied { by, reason, at } => format!("denied by {by} at {}: {reason}", clock(*at)),
        State::Expired { at } => format!("expired at {}; nothing was written", clock(*at)),
        State::Revoked { by, reason, at } => format!("revoked by {by} at {}: {reason}", clock(*at)),
        State::Superseded { by, .. } => format!("what would happen has changed; {by} stands in its place"),
        State::Consumed { at } => format!("is being carried out since {}", clock(*at)),
        State::Executed { at, verified } => {
            use warrant_kernel::call::write::Held;
            let verified = match verified {
                Some(Held::Held) => "and is as it should be",
                Some(Held::Failed) => "but is NOT as it should be",
                Some(Held::Unknown) | None => "whether it is as it should be is not known",
            };
            format!("was carried out at {}, {verified}", clock(*at))
        }
        State::NotExecuted { at, because } => format!("was not carried out ({}): {because}", clock(*at)),
        State::Unknown { at, because } => {
            format!("whether it took effect is not known since {}: {because}", clock(*at))
        }
    }
}

/// The time of day.
#[must_use]
pub fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%SZ").to_string()
}

/// Names with commas between, or a word for nobody.
#[must_use]
pub fn names(persons: &[PersonId]) -> String {
    if persons.is_empty() {
        return "nobody".to_owned();
    }
    persons.iter().map(PersonId::as_str).collect::<Vec<_>>().join(", ")
}

fn tier_role(tier: Tier) -> Role {
    match tier {
        Tier::Low => Role::Strong,
        Tier::Medium => Role::Careful,
        Tier::High => Role::Bad,
    }
}

fn head(sheet: &mut Sheet, card: &Card, now: Timestamp) {
    let word = format!("{} {}", card.approval, card.tier.as_str().to_uppercase());
    sheet.title(tier_role(card.tier), &word, asks(card.tier));
    match &card.state {
        State::Open => {
            let left = card.expires_at.duration_since(now);
            let left = if left.is_positive() { format!(", in {}", time::short(left)) } else { ", now over".to_owned() };
            sheet.say(Some(Role::Faint), &format!("until {}{left}", clock(card.expires_at)));
        }
        state => sheet.say(Some(Role::Careful), &standing(state)),
    }
    sheet.heading("What will happen", "");
    sheet.foreign("  ", Some(Role::Heading), &card.effect, if card.needs_whole { Most::Lines(4) } else { Most::All });
    sheet.row("tool", card.tool.as_str());
    let target = &card.target;
    let mut place = format!("{} {} ({})", target.kind.as_str(), target.name, target.source);
    for (name, value) in [
        ("service", target.service.as_ref().map(ToString::to_string)),
        ("environment", target.environment.as_ref().map(ToString::to_string)),
        ("owner", target.owner.as_ref().map(ToString::to_string)),
    ] {
        place.extend(value.map(|value| format!(", {name} {value}")));
    }
    sheet.row("target", &place);
}

fn change(sheet: &mut Sheet, card: &Card) {
    let (lines, rest) = card.face_of_diff();
    if lines.is_empty() {
        return;
    }
    let size = &card.size;
    let digest: String = size.sha256.chars().take(12).collect();
    sheet.heading("The change", &format!("{} added, {} removed, sha256 {digest}", size.added, size.removed));
    for line in lines {
        match line {
            // Some tools write the marks of a unified diff around it.
            DiffLine::Hunk(text) => sheet.change(Some(Role::Faint), "@", &short(text)),
            DiffLine::Context(text) => sheet.change(None, " ", &short(text)),
            DiffLine::Removed(text) => sheet.change(Some(Role::Removed), "-", &short(text)),
            DiffLine::Added(text) => sheet.change(Some(Role::Added), "+", &short(text)),
        }
    }
    sheet.leave_out(rest, if rest == 1 { "line of the change" } else { "lines of the change" }, "see the whole");
}

/// A line as far as the face shows it; the card of a longer one asks for the whole.
fn short(line: &str) -> String {
    let over = line.chars().count().saturating_sub(FACE_WIDTH);
    if over == 0 {
        return line.to_owned();
    }
    let head: String = line.chars().take(FACE_WIDTH).collect();
    format!("{head} … {over} more characters: see the whole")
}

fn facts(sheet: &mut Sheet, title: &str, aside: &str, facts: &Facts) {
    if facts.is_empty() {
        return;
    }
    sheet.heading(title, aside);
    for (name, value) in facts {
        sheet.row(name, &short(value));
    }
}

fn list(sheet: &mut Sheet, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    sheet.heading(title, "");
    for item in items {
        sheet.item(item);
    }
}

fn arguments(sheet: &mut Sheet, card: &Card, most: Most) {
    if card.arguments.is_empty() {
        return;
    }
    sheet.heading("Arguments", "and where each comes from");
    for argument in &card.arguments {
        put_argument(sheet, argument, most);
    }
}

fn put_argument(sheet: &mut Sheet, argument: &Argument, most: Most) {
    let (from, role) = match &argument.ground {
        Ground::Person => ("from a person".to_owned(), Role::Faint),
        Ground::Trigger => ("from what began the investigation".to_owned(), Role::Faint),
        Ground::Runbook(id) => (format!("from the runbook {id}"), Role::Faint),
        Ground::Catalog => ("from the catalog".to_owned(), Role::Faint),
        Ground::Stranger(Said { evidence, field, origin: of }) => {
            (format!("from {} ({evidence}, `{field}`): untrusted", origin(*of)), Role::Careful)
        }
        Ground::Model => ("the model's own choice".to_owned(), Role::Careful),
    };
    match argument.value.as_slice() {
        [one] => sheet.row(&argument.name, &short(one)),
        lines => {
            sheet.row(&argument.name, &format!("{} lines", lines.len()));
            sheet.foreign("      ", None, &lines.iter().map(|line| short(line)).collect::<Vec<_>>().join("\n"), most);
        }
    }
    sheet.aside(role, &from);
}

fn case(sheet: &mut Sheet, card: &Card) {
    sheet.heading("The model's case", "its own words; nothing above rests on them");
    let case = &card.case;
    sheet.words(MODEL, &case.because, Most::Lines(CASE_LINES));
    for (title, text) in [
        ("What else could be done, it says", case.alternatives.as_deref()),
        ("If nothing is done, it says", case.otherwise.as_deref()),
    ] {
        sheet.say(Some(Role::Faint), title);
        sheet.words(MODEL, text.unwrap_or("(nothing)"), Most::Lines(CASE_LINES));
    }
}

fn evidence_of(sheet: &mut Sheet, card: &Card) {
    sheet.heading("Evidence it cites", &cited(card));
    // Many are named rather than shown, or what they are cited for would be out of sight.
    let lines = if card.excerpts.len() > FEW { 1 } else { EXCERPT_LINES };
    for excerpt in &card.excerpts {
        put_excerpt(sheet, excerpt, Most::Lines(lines));
    }
}

fn put_excerpt(sheet: &mut Sheet, excerpt: &Excerpt, most: Most) {
    let kept = if excerpt.of > excerpt.lines.len() {
        format!(", the first {} of {} lines", excerpt.lines.len(), excerpt.of)
    } else {
        String::new()
    };
    sheet.say(None, &format!("{} {} ({}){kept}", excerpt.evidence, excerpt.tool, trust(excerpt.origin)));
    let rest = format!("evidence {}", excerpt.evidence);
    sheet.excerpt(STRANGER, Some(Role::Faint), &excerpt.lines.join("\n"), most, &rest);
}

fn cited(card: &Card) -> String {
    if card.case.evidence.is_empty() {
        return "none".to_owned();
    }
    card.case.evidence.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn who(sheet: &mut Sheet, card: &Card) {
    let so_far = &card.so_far;
    sheet.heading("Who decides", "");
    sheet.row("asked for", &format!("{} in investigation {}", card.requester, card.investigation));
    sheet.row(
        "up to here",
        &format!("{} turns, {} calls, {} ruled out", so_far.turns, so_far.reads, so_far.ruled_out.len()),
    );
    sheet.row("may approve", &card.electorate.who_may);
    if !card.electorate.approved.is_empty() || card.electorate.quorum > 1 {
        let have = card.electorate.approved.len();
        sheet.row("so far", &format!("{have} of {}: {}", card.electorate.quorum, names(&card.electorate.approved)));
    }
    let said = format!("{} revision {}", card.digest_prefix, card.revision);
    sheet.row("this plan", &said);
}

fn trust(of: Origin) -> String {
    match of {
        Origin::Warrant | Origin::Catalog => origin(of).to_owned(),
        Origin::Log
        | Origin::Metric
        | Origin::Alert
        | Origin::Runbook
        | Origin::File
        | Origin::Change
        | Origin::Http
        | Origin::Command => format!("{}: untrusted", origin(of)),
    }
}

#[cfg(test)]
pub(in crate::chat) mod sample;

#[cfg(test)]
mod tests;
