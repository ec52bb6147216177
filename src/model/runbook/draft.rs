//! The report: what held, in words of the runbook, with the values that stand in the evidence.

mod after;

use serde_json::Value;
use warrant_kernel::domain::name::{EvidenceId, ServiceName};
use warrant_kernel::domain::report::{Draft, Finding, FindingKind, Moment, Quote, RuledOut};
use warrant_kernel::domain::time::rfc3339;
use warrant_toolbox::runbook::document::Shows;

use super::cause::{Change, Weighed, peer};
use super::checks::Checked;
use super::remedy::Course;
use super::scene::{Scene, Trouble};

pub(super) use after::counts;

/// Longest quote; longer lines are cited without one.
const QUOTE_CHARS: usize = 300;

/// Explanations, beside the best one, whose findings are told too.
const MOST_OTHERS: usize = 2;

/// Writes the draft.
pub(super) fn write(scene: &Scene<'_>, held: &[Weighed<'_>], failed: &[Weighed<'_>], course: &Course<'_>) -> Draft {
    let mut findings: Vec<Finding> = symptoms(scene);
    let best = held.first().filter(|best| best.explains());
    for weighed in held.iter().take(1 + MOST_OTHERS) {
        let is_best = best.is_some_and(|best| std::ptr::eq(best, weighed));
        for finding in findings_of(weighed, if is_best { Standing::Best } else { Standing::Other }) {
            if !findings.iter().any(|known| known.claim == finding.claim) {
                findings.push(finding);
            }
        }
    }
    findings.extend(after::findings(scene, course));
    let root_cause = best.and_then(root_cause);
    let summary = match (&root_cause, findings.first()) {
        (Some(cause), _) => format!("{} {cause}{}", opening(scene), after::told(course)),
        (None, Some(_)) => format!("{} No cause was established.", opening(scene)),
        (None, None) if scene.saw_signals() => {
            "Nothing out of the ordinary was found in the signals looked at.".to_owned()
        }
        (None, None) => "No signal could be looked at: no logs and no health URL were read.".to_owned(),
    };
    Draft {
        summary,
        root_cause,
        ruled_out: ruled_out(scene, best, failed),
        impact: None,
        timeline: timeline(scene, best),
        next_steps: next_steps(best, held, course),
        findings,
    }
}

fn opening(scene: &Scene<'_>) -> String {
    let unwell: Vec<&str> = scene
        .places
        .iter()
        .filter(|place| scene.trouble(&place.service) > Trouble::Calm)
        .map(|place| place.service.as_str())
        .collect();
    match unwell.as_slice() {
        [] => "No service logs more errors than before.".to_owned(),
        [one] => format!("{one} is not well."),
        [many @ .., last] => format!("{} and {last} are not well.", many.join(", ")),
    }
}

/// What users and neighbours notice: services whose errors or warnings grew.
fn symptoms(scene: &Scene<'_>) -> Vec<Finding> {
    scene
        .places
        .iter()
        .filter(|place| scene.trouble(&place.service) > Trouble::Calm)
        .filter_map(|place| {
            let (evidence, data) = scene.logs(&place.service)?;
            let what = ["errors", "warnings"]
                .into_iter()
                .find(|what| count(data, what, "now") > count(data, what, "before"))?;
            let (now, before) = (count(data, what, "now"), count(data, what, "before"));
            let claim =
                format!("{} logs {now} {what} in the window looked at, {before} in the window before.", place.service);
            let at = scene.onset(&place.service).map(rfc3339);
            let quotes = example(data).map(|text| Quote { evidence, text }).into_iter().collect();
            Some(Finding { kind: FindingKind::Symptom, claim, evidence: vec![evidence], quotes, at })
        })
        .collect()
}

fn count(data: &Value, what: &str, when: &str) -> u64 {
    data.pointer(&format!("/{what}/{when}")).and_then(Value::as_u64).unwrap_or(0)
}

/// The message of the pattern that matters most.
fn example(data: &Value) -> Option<String> {
    let text = data.pointer("/patterns/0/example")?.as_str()?;
    (text.chars().count() <= QUOTE_CHARS && !text.contains("[...")).then(|| text.to_owned())
}

#[derive(Clone, Copy)]
enum Standing {
    Best,
    Other,
}

/// What held of a runbook. Only the best explanation may name causes; what others hold is context.
fn findings_of(weighed: &Weighed<'_>, standing: Standing) -> Vec<Finding> {
    let service = &weighed.candidate.service;
    let mut findings: Vec<Finding> = weighed
        .held()
        .filter_map(|checked| {
            let kind = match (standing, checked.check.shows) {
                (Standing::Best, Shows::Cause) if weighed.change.is_none() => FindingKind::Cause,
                (Standing::Best, Shows::Symptom | Shows::Mechanism) => FindingKind::Symptom,
                (_, Shows::Cause) | (Standing::Other, Shows::Symptom | Shows::Mechanism) => FindingKind::Context,
            };
            let evidence = checked.evidence?;
            let claim = format!("{service}: {}{}", sentence(&checked.check.means), measured(checked));
            Some(Finding { kind, claim, evidence: vec![evidence], quotes: quote(evidence, checked), at: None })
        })
        .collect();
    if let (Standing::Best, Some(change)) = (&standing, &weighed.change) {
        findings.push(Finding {
            kind: FindingKind::Cause,
            claim: format!("{}.", changed(service, change)),
            evidence: vec![change.evidence],
            quotes: Vec::new(),
            at: change.text("at").map(str::to_owned),
        });
    }
    findings
}

/// A text without the full stop at its end.
fn bare(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

fn sentence(text: &str) -> String {
    format!("{}.", bare(text))
}

/// The value that was judged, as it stands in the evidence, and whose it is.
fn measured(checked: &Checked<'_>) -> String {
    let at = &checked.check.expect.at;
    let value = checked.data.and_then(|data| data.pointer(at)).filter(|value| value.is_number());
    let Some(value) = value else { return String::new() };
    let beside = at.rsplit_once('/').and_then(|(beside, _)| checked.data?.pointer(beside)?.get("name")?.as_str());
    let what: Vec<&str> =
        at.rsplit('/').take(2).filter(|part| part.parse::<usize>().is_err() && !part.is_empty()).collect();
    let what = what.into_iter().rev().collect::<Vec<_>>().join(" ");
    let towards = peer(checked).map(|peer| format!(" towards {peer}")).unwrap_or_default();
    match beside {
        Some(name) => format!(" Measured: {name}{towards} {value}."),
        None => format!(" Measured: {what} {value}."),
    }
}

/// The first line that a search brought, to the letter.
fn quote(evidence: EvidenceId, checked: &Checked<'_>) -> Vec<Quote> {
    let line = checked.data.and_then(|data| data.pointer("/lines/0")).and_then(Value::as_str);
    line.filter(|line| line.chars().count() <= QUOTE_CHARS)
        .map(|line| Quote { evidence, text: line.to_owned() })
        .into_iter()
        .collect()
}

/// What was changed, where and by whom.
fn changed(service: &ServiceName, change: &Change<'_>) -> String {
    let key = change.text("key").unwrap_or("a setting");
    let file = change.text("file").unwrap_or("a file");
    let line = change.line().map(|line| format!(" line {line}")).unwrap_or_default();
    let commit = match (change.text("commit"), change.text("author")) {
        (Some(commit), Some(author)) => format!(" (commit {commit} by {author})"),
        (Some(commit), None) => format!(" (commit {commit})"),
        (None, _) => " (not committed)".to_owned(),
    };
    format!(
        "{key} of {service} was changed in {file}{line} from `{}` to `{}` at {}{commit}",
        change.lines("before"),
        change.lines("after"),
        change.text("at").unwrap_or("an unknown time"),
    )
}

/// The cause in a sentence.
pub(super) fn root_cause(best: &Weighed<'_>) -> Option<String> {
    let service = &best.candidate.service;
    let mechanism = best.mechanism()?;
    let means = bare(&mechanism.check.means);
    Some(match &best.change {
        Some(change) => format!("{}: {means}.", changed(service, change)),
        None => format!("{service}: {means}.{}", measured(mechanism)),
    })
}

/// Runbooks whose checks failed, and changes that do not fit.
fn ruled_out(scene: &Scene<'_>, best: Option<&Weighed<'_>>, failed: &[Weighed<'_>]) -> Vec<RuledOut> {
    let runbooks = failed.iter().filter_map(|weighed| {
        let checked = weighed.failed().find(|checked| checked.check.rules_out.is_some())?;
        Some(RuledOut {
            what: format!("{} on {}", weighed.candidate.runbook.title, weighed.candidate.service),
            why: sentence(checked.check.rules_out.as_deref()?),
            evidence: checked.evidence.into_iter().collect(),
        })
    });
    let mut ruled_out: Vec<RuledOut> = runbooks.take(6).collect();
    let Some(cause) = best.and_then(|best| best.change.as_ref()) else { return ruled_out };
    let others = scene.changes().into_iter().filter(|(_, row)| !std::ptr::eq(*row, cause.row)).take(3);
    ruled_out.extend(others.filter_map(|(evidence, row)| {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        Some(RuledOut {
            what: format!("the change of {} in {}", text("key").unwrap_or("a file"), text("file")?),
            why: "It does not touch what the failing checks measure.".to_owned(),
            evidence: vec![evidence],
        })
    }));
    ruled_out
}

fn timeline(scene: &Scene<'_>, best: Option<&Weighed<'_>>) -> Vec<Moment> {
    let mut moments: Vec<Moment> = scene
        .places
        .iter()
        .filter(|place| scene.trouble(&place.service) > Trouble::Calm)
        .filter_map(|place| {
            let (evidence, _) = scene.logs(&place.service)?;
            let at = rfc3339(scene.onset(&place.service)?);
            Some(Moment { at, what: format!("The trouble of {} begins.", place.service), evidence: vec![evidence] })
        })
        .collect();
    if let Some((best, change)) = best.and_then(|best| Some((best, best.change.as_ref()?))) {
        let key = change.text("key").unwrap_or("a setting");
        moments.push(Moment {
            at: change.text("at").unwrap_or_default().to_owned(),
            what: format!("{key} of {} is changed.", best.candidate.service),
            evidence: vec![change.evidence],
        });
    }
    moments.sort_by(|left, right| left.at.cmp(&right.at));
    moments
}

fn next_steps(best: Option<&Weighed<'_>>, held: &[Weighed<'_>], course: &Course<'_>) -> Vec<String> {
    if !course.deeds.is_empty() {
        return after::next_steps(best, course);
    }
    let mut steps = Vec::new();
    if let Some(change) = best.and_then(|best| best.change.as_ref()) {
        let file = change.text("file").unwrap_or("the file");
        steps.push(format!("Take back the change in {file}: set `{}` again.", change.lines("before")));
    }
    let runbook = best.or(held.first()).map(|weighed| weighed.candidate.runbook);
    steps.extend(runbook.into_iter().flat_map(|runbook| &runbook.remedies).map(|remedy| remedy.text.clone()));
    steps.extend(runbook.map(|runbook| format!("Read the runbook `{}`: {}.", runbook.id, bare(&runbook.title))));
    if steps.is_empty() {
        steps.push("Name a service and a narrower time, or ask a model that can follow other leads.".to_owned());
    }
    steps
}
