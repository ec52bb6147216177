//! The whole of a card, cut into pages of a size that people read.

use serde::{Deserialize, Serialize};

use crate::domain::plan::{DiffLine, Facts, Ground};

use super::Card;

/// Most lines of a page.
const LINES: usize = 40;

/// One page of the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// What stands on it.
    pub title: String,
    /// Its lines, at most 40. They are data: whoever shows them gives them no meaning.
    pub lines: Vec<String>,
}

pub(super) fn pages(card: &Card) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut add = |title: &str, lines: Vec<String>| {
        let parts = lines.chunks(LINES).count();
        for (index, part) in lines.chunks(LINES).enumerate() {
            let title = if parts > 1 { format!("{title} ({} of {parts})", index + 1) } else { title.to_owned() };
            pages.push(Page { title, lines: part.to_vec() });
        }
    };
    add("What will happen", plan(card));
    add("The change", card.diff.iter().map(diff_line).collect());
    add("Why, in the model's words", case(card));
    for excerpt in &card.excerpts {
        let mut title = format!("Evidence {} from {}, untrusted text", excerpt.evidence, excerpt.tool);
        if excerpt.of > excerpt.lines.len() {
            title = format!("{title}, {} of {} lines", excerpt.lines.len(), excerpt.of);
        }
        add(&title, excerpt.lines.clone());
    }
    add("The investigation up to here", so_far(card));
    pages
}

fn plan(card: &Card) -> Vec<String> {
    let mut lines = vec![
        card.effect.clone(),
        format!("tool: {}", card.tool),
        format!("target: {} {} ({})", card.target.kind.as_str(), card.target.name, card.target.source),
    ];
    lines.extend(card.target.service.iter().map(|service| format!("service: {service}")));
    lines.extend(card.target.environment.iter().map(|environment| format!("environment: {environment}")));
    for argument in &card.arguments {
        let from = ground(&argument.ground);
        match argument.value.as_slice() {
            [one] => lines.push(format!("{}: {one} [{from}]", argument.name)),
            many => {
                lines.push(format!("{}: {} lines [{from}]", argument.name, many.len()));
                lines.extend(many.iter().map(|line| format!("  {line}")));
            }
        }
    }
    lines.extend(facts("bound", &card.bound));
    lines.extend(facts("shown", &card.shown));
    lines.extend(card.notes.iter().map(|note| format!("note: {note}")));
    lines.push(format!("tier: {}", card.tier.as_str()));
    lines.extend(card.tier_reasons.iter().map(|reason| format!("  {reason}")));
    lines.push(format!("policies: {}", card.policy_ids.join(", ")));
    lines.push(format!("who decides: {}", card.electorate.who_may));
    lines.push(format!("asked by {} in {}", card.requester, card.investigation));
    lines.push(format!("from {} until {}", card.requested_at, card.expires_at));
    lines
}

fn facts<'a>(kind: &'a str, facts: &'a Facts) -> impl Iterator<Item = String> + 'a {
    facts.iter().map(move |(name, value)| format!("{kind}: {name} = {value}"))
}

/// Who named a value, in words.
pub(super) fn ground(ground: &Ground) -> String {
    match ground {
        Ground::Person => "a person said it".to_owned(),
        Ground::Trigger => "the trigger names it".to_owned(),
        Ground::Runbook(id) => format!("runbook {id}"),
        Ground::Catalog => "catalog".to_owned(),
        Ground::Stranger(said) => format!("{}, `{}`: untrusted text", said.evidence, said.field),
        Ground::Model => "the model alone".to_owned(),
    }
}

fn diff_line(line: &DiffLine) -> String {
    match line {
        DiffLine::Hunk(text) => format!("@@ {text}"),
        DiffLine::Context(text) => format!("  {text}"),
        DiffLine::Removed(text) => format!("- {text}"),
        DiffLine::Added(text) => format!("+ {text}"),
    }
}

fn case(card: &Card) -> Vec<String> {
    let mut lines = Vec::new();
    let mut part = |title: &str, text: Option<&str>| {
        lines.push(format!("{title}:"));
        match text {
            Some(text) => lines.extend(text.lines().map(|line| format!("  {line}"))),
            None => lines.push("  (the model says nothing)".to_owned()),
        }
    };
    part("because", Some(&card.case.because));
    part("alternatives", card.case.alternatives.as_deref());
    part("if nothing is done", card.case.otherwise.as_deref());
    let cited: Vec<String> = card.case.evidence.iter().map(ToString::to_string).collect();
    lines.push(if cited.is_empty() {
        "it cites no evidence".to_owned()
    } else {
        format!("it cites {}", cited.join(", "))
    });
    lines
}

fn so_far(card: &Card) -> Vec<String> {
    let mut lines = vec![format!("{} turns, {} calls", card.so_far.turns, card.so_far.reads)];
    lines.extend(card.so_far.lines.iter().cloned());
    lines.extend(card.so_far.ruled_out.iter().map(|line| format!("ruled out: {line}")));
    lines
}
