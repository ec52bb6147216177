//! Whether a claim is borne out by the evidence that it cites.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::{Finding, FindingKind};

use super::numbers::{self, Stated};
use crate::agent::envelope::{self, Frame};
use crate::agent::prompt;
use crate::agent::state::State;

/// Seconds by which a time in a claim may differ from the evidence: reports round.
const TIME_SLACK_S: i64 = 1;

/// Longest claim that is looked at.
const MOST_CHARS: usize = 2_000;

/// What one piece of evidence says, as the model saw it.
struct Said {
    text: String,
    /// The texts within it, decoded and without what can't be seen: a quote may stand in one of them.
    strings: Vec<String>,
    stated: Stated,
}

/// All that claims may rest on.
pub struct Basis {
    said: BTreeMap<EvidenceId, Said>,
    /// Numbers and times of the question, which claims may repeat.
    asked: Stated,
    /// The marks around it, which say what a text looked like in there.
    frame: Frame,
}

/// Whether a claim stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Stands,
    /// It does not, for this reason.
    Falls(String),
}

impl Basis {
    /// Everything the model was shown.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let (sweep, frame) = (prompt::sweep_as_shown(state), state.marks());
        let said = state
            .calls
            .iter()
            .filter_map(|known| {
                let result = known.result.as_ref()?;
                let text = sweep.get(&result.call_id).cloned().unwrap_or_else(|| frame.body(result));
                let mut strings = Vec::new();
                collect_strings(&envelope::as_seen(result).data, &mut strings);
                let arguments = format!("{text} {}", known.call.arguments);
                Some((result.evidence?, Said { stated: numbers::stated(&arguments), strings, text }))
            })
            .collect();
        let run = &state.run;
        let asked = format!("{} {} {}", run.trigger.text(), run.since, run.opened_at);
        Self { said, asked: numbers::stated(&asked), frame }
    }

    fn all(&self) -> Vec<EvidenceId> {
        self.said.keys().copied().collect()
    }
}

fn collect_strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, into)),
        Value::Object(map) => map.values().for_each(|item| collect_strings(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Judges one finding.
#[must_use]
pub fn finding(basis: &Basis, finding: &Finding) -> Verdict {
    if finding.evidence.is_empty() {
        return Verdict::Falls("it cites no evidence".to_owned());
    }
    let quoted = finding.quotes.iter().map(|quote| quote.evidence);
    if let Some(missing) = finding.evidence.iter().copied().chain(quoted).find(|id| !basis.said.contains_key(id)) {
        return Verdict::Falls(format!("there is no evidence {missing}"));
    }
    for quote in &finding.quotes {
        if !stands_in(basis, quote.evidence, &quote.text) {
            return Verdict::Falls(format!("the quote `{}` does not stand in {}", quote.text, quote.evidence));
        }
    }
    if finding.kind == FindingKind::Cause
        && let Some(at) = &finding.at
    {
        let known = at.parse::<Timestamp>().is_ok_and(|at| time_stands(basis, at, &finding.evidence));
        if !known {
            return Verdict::Falls(format!("`{at}` is not a time that stands in its evidence"));
        }
    }
    claim(basis, &finding.claim, &finding.evidence)
}

/// Judges the sentence that names the cause: some cause must stand, and its numbers must be among what was seen.
#[must_use]
pub fn root_cause(basis: &Basis, text: &str, causes: &[EvidenceId]) -> Verdict {
    if causes.is_empty() {
        return Verdict::Falls("no finding of kind `cause` supports it".to_owned());
    }
    claim(basis, text, &basis.all())
}

/// Judges a claim outside the findings: against what it cites, or against everything.
#[must_use]
pub fn aside(basis: &Basis, text: &str, evidence: &[EvidenceId]) -> Verdict {
    if let Some(missing) = evidence.iter().find(|id| !basis.said.contains_key(id)) {
        return Verdict::Falls(format!("there is no evidence {missing}"));
    }
    let all = basis.all();
    claim(basis, text, if evidence.is_empty() { &all } else { evidence })
}

fn claim(basis: &Basis, text: &str, evidence: &[EvidenceId]) -> Verdict {
    if text.chars().count() > MOST_CHARS {
        return Verdict::Falls(format!("it is longer than {MOST_CHARS} characters"));
    }
    let claimed = numbers::stated(text);
    let cited = || evidence.iter().filter_map(|id| basis.said.get(id)).map(|said| &said.stated).chain([&basis.asked]);
    let stray = claimed.numbers.iter().find(|number| !cited().any(|stated| numbers::agrees(**number, &stated.numbers)));
    if let Some(number) = stray {
        return Verdict::Falls(format!("the number {} stands nowhere in its evidence", number.value));
    }
    let known = |time: &String| match time.parse::<Timestamp>() {
        Ok(at) => time_stands(basis, at, evidence),
        Err(_) => cited().any(|stated| stated.times.iter().any(|known| known.contains(time.as_str()))),
    };
    match claimed.times.iter().find(|time| !known(time)) {
        Some(time) => Verdict::Falls(format!("the time {time} stands nowhere in its evidence")),
        None => Verdict::Stands,
    }
}

fn stands_in(basis: &Basis, evidence: EvidenceId, quote: &str) -> bool {
    !quote.trim().is_empty()
        && basis.said.get(&evidence).is_some_and(|said| {
            said.text.contains(quote)
                // Decoded texts count only where the model saw them: their JSON form must stand in what was shown.
                || said.strings.iter().any(|text| text.contains(quote)) && said.text.contains(&basis.frame.within(quote))
        })
}

fn time_stands(basis: &Basis, at: Timestamp, evidence: &[EvidenceId]) -> bool {
    let near = |text: &String| {
        text.parse::<Timestamp>().is_ok_and(|known| known.duration_since(at).as_secs().abs() <= TIME_SLACK_S)
    };
    evidence
        .iter()
        .filter_map(|id| basis.said.get(id))
        .map(|said| &said.stated)
        .chain([&basis.asked])
        .any(|stated| stated.times.iter().any(near))
}
