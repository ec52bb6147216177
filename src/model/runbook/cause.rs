//! Which candidate explains the trouble best, and which change brought it about.

use jiff::Timestamp;
use serde_json::Value;
use warrant_kernel::domain::name::{EvidenceId, ServiceName};
use warrant_toolbox::runbook::document::Shows;
use warrant_toolbox::runbook::expect::Verdict;

use super::checks::{self, Checked};
use super::choose::Candidate;
use super::scene::Scene;
use crate::agent::remedies::change;

/// A change may be recorded this many seconds after the first sign of what it did.
const SLACK_S: i64 = 5;

/// A changed place that fits a runbook's mechanism.
#[derive(Debug, Clone)]
pub(super) struct Change<'a> {
    pub(super) evidence: EvidenceId,
    pub(super) row: &'a Value,
    pub(super) at: Timestamp,
}

impl<'a> Change<'a> {
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        change::text(self.row, key)
    }

    pub(super) fn line(&self) -> Option<u64> {
        change::line(self.row)
    }

    /// The lines before or after, without their indentation.
    pub(super) fn lines(&self, key: &str) -> String {
        change::lines(self.row, key).into_iter().map(str::trim).collect::<Vec<_>>().join(" / ")
    }
}

/// A candidate with how its checks came out.
#[derive(Debug, Clone)]
pub(super) struct Weighed<'a> {
    pub(super) candidate: Candidate<'a>,
    pub(super) checked: Vec<Checked<'a>>,
    pub(super) change: Option<Change<'a>>,
    /// Another service in scope that a held cause points at: that one has to be explained, not this one.
    pub(super) blamed: Option<ServiceName>,
}

impl<'a> Weighed<'a> {
    pub(super) fn held(&self) -> impl Iterator<Item = &Checked<'a>> {
        self.checked.iter().filter(|checked| checked.verdict == Verdict::Held)
    }

    pub(super) fn failed(&self) -> impl Iterator<Item = &Checked<'a>> {
        self.checked.iter().filter(|checked| checked.verdict == Verdict::Failed)
    }

    pub(super) fn cause(&self) -> Option<&Checked<'a>> {
        self.held().find(|checked| checked.check.shows == Shows::Cause)
    }

    /// What shows best how the trouble comes about.
    pub(super) fn mechanism(&self) -> Option<&Checked<'a>> {
        self.cause().or_else(|| self.held().find(|checked| checked.check.shows == Shows::Mechanism))
    }

    /// Whether it says why: a check that establishes the cause, or a change that fits the mechanism.
    pub(super) fn explains(&self) -> bool {
        self.blamed.is_none() && (self.cause().is_some() || self.change.is_some())
    }

    /// Better explanations are greater: those deeper down, with a change, with a cause, with more that held.
    fn rank(&self, scene: &Scene<'_>) -> (bool, usize, bool, bool, usize) {
        let depth = scene.depth(&self.candidate.service).unwrap_or(0);
        (self.explains(), depth, self.change.is_some(), self.cause().is_some(), self.held().count())
    }
}

/// All candidates of which something held, the best explanation first, and those of which nothing did.
pub(super) fn weigh<'a>(scene: &Scene<'a>, candidates: &[Candidate<'a>]) -> (Vec<Weighed<'a>>, Vec<Weighed<'a>>) {
    let (mut held, failed): (Vec<_>, Vec<_>) = candidates
        .iter()
        .map(|candidate| {
            let checked = checks::judged(scene, candidate);
            let held = |shows| checked.iter().any(|it| it.verdict == Verdict::Held && it.check.shows == shows);
            // A cause that was measured needs no change to explain it, and a symptom alone does not point at one: a
            // change nearby may be chance.
            let points = held(Shows::Mechanism) && !held(Shows::Cause);
            let change = if points { change(scene, candidate) } else { None };
            let blamed = checked.iter().find_map(|checked| blamed(scene, candidate, checked));
            Weighed { candidate: candidate.clone(), checked, change, blamed }
        })
        .partition(|weighed: &Weighed<'_>| weighed.held().next().is_some());
    held.sort_by_key(|weighed| std::cmp::Reverse(weighed.rank(scene)));
    (held, failed)
}

/// Candidates that the held ones lead to: what is slow because of another service is looked into there.
pub(super) fn trail<'a>(scene: &Scene<'a>, candidates: &[Candidate<'a>]) -> Vec<Candidate<'a>> {
    let (held, _) = weigh(scene, candidates);
    let tried = |service: &ServiceName, id: &str| {
        candidates.iter().any(|known| known.service == *service && known.runbook.id == id)
    };
    let mut trail: Vec<Candidate<'a>> = Vec::new();
    for weighed in held {
        let Some(service) = weighed.blamed else { continue };
        let runbook = weighed.candidate.runbook;
        let again = trail.iter().any(|known| known.service == service && known.runbook.id == runbook.id);
        if !tried(&service, &runbook.id) && !again {
            trail.push(Candidate { service, runbook });
        }
    }
    trail
}

/// Another service in scope that a held cause points at: the peer in the labels beside the value, or in the lines found.
fn blamed(scene: &Scene<'_>, candidate: &Candidate<'_>, checked: &Checked<'_>) -> Option<ServiceName> {
    if checked.verdict != Verdict::Held || checked.check.shows != Shows::Cause {
        return None;
    }
    let others = scene.places.iter().map(|place| &place.service).filter(|service| **service != candidate.service);
    if let Some(peer) = peer(checked) {
        return others.into_iter().find(|service| service.as_str() == peer).cloned();
    }
    let lines = checked.data?.pointer("/lines")?.as_array()?;
    let line = lines.first()?.as_str()?;
    let message = message_of(line);
    let words: Vec<&str> = message.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).collect();
    others.into_iter().find(|service| words.contains(&service.as_str())).cloned()
}

/// The peer that the labels beside the judged value name.
pub(super) fn peer<'a>(checked: &Checked<'a>) -> Option<&'a str> {
    let (beside, _) = checked.check.expect.at.rsplit_once('/')?;
    let labels = checked.data?.pointer(beside)?.get("labels")?;
    ["server_address", "peer_service", "upstream", "destination"]
        .into_iter()
        .find_map(|label| labels.get(label).and_then(Value::as_str))
}

/// The message of a log line, without fields that name the service itself.
fn message_of(line: &str) -> String {
    let json = line.find('{').and_then(|start| line.get(start..));
    let parsed: Option<Value> = json.and_then(|json| serde_json::from_str(json).ok());
    let message = parsed.as_ref().and_then(|fields| {
        ["msg", "message"].into_iter().find_map(|key| fields.get(key).and_then(Value::as_str)).map(str::to_owned)
    });
    message.unwrap_or_else(|| line.to_owned())
}

/// The latest change of the service, not later than the onset, that the runbook's mechanism could have come from.
fn change<'a>(scene: &Scene<'a>, candidate: &Candidate<'a>) -> Option<Change<'a>> {
    let words = &candidate.runbook.change_words;
    if words.is_empty() {
        return None;
    }
    let onset = scene.onset(&candidate.service).or_else(|| scene.first_onset());
    let in_time = |at: Timestamp| onset.is_none_or(|onset| at.duration_since(onset).as_secs() <= SLACK_S);
    scene
        .changes()
        .into_iter()
        .filter_map(|(evidence, row)| {
            let at = row.get("at")?.as_str()?.parse().ok()?;
            Some(Change { evidence, row, at })
        })
        .filter(|change| change.text("service") == Some(candidate.service.as_str()) && in_time(change.at))
        .filter(|change| change::holds_one_of(change.row, words))
        .max_by_key(|change| change.at)
}
