//! The remedy of the runbook that explains the trouble: proposes its writes one at a time, follows what came of each, and
//! looks again at the checks that had held.
//!
//! A write that people refuse is not asked for again: the lesser step is. Nothing here decides whether a write may
//! happen; a proposal is a call like any other.

use jiff::Timestamp;
use serde_json::json;
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::result::ErrorCode;
use warrant_toolbox::runbook::document::{Deed, Remedy};

use super::cause::Weighed;
use super::looks::{self, Looked};
use super::scene::Scene;
use crate::agent::model::{Seen, ToolSpec};
use crate::agent::remedies::calls::Wanted;
use crate::agent::remedies::filling::{Filled, Fillings};

/// What came of the remedy so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Course<'a> {
    /// The writes that were called, in order, and how each ended.
    pub(super) deeds: Vec<(&'a Deed, Fate<'a>)>,
    /// Why no further write could be called, where one would have been.
    pub(super) stuck: Option<String>,
    /// What the last look at the checks showed.
    pub(super) looked: Option<Looked<'a>>,
    /// When the last write took effect.
    pub(super) took_at: Option<Timestamp>,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// Calls to make, and what to say beside them.
    Calls(String, Vec<Wanted>),
    /// Nothing: it is time to report.
    Report(Course<'a>),
}

/// How the call of a write ended.
#[derive(Debug, Clone)]
pub(super) enum Fate<'a> {
    /// It took effect.
    Took(Seen<'a>),
    /// People, policy or the time refused it; a lesser step may do.
    Refused,
    /// It waits for people.
    Pending,
    /// It did not happen, or nobody knows whether it did.
    Failed,
}

/// Goes on with the remedy of the explanation that is best.
pub(super) fn next<'a>(scene: &Scene<'a>, best: &Weighed<'a>, tools: &[ToolSpec]) -> Next<'a> {
    let mut course = Course::default();
    let offered = |deed: &Deed| tools.iter().any(|tool| tool.name == deed.tool.as_str());
    let Some((remedy, first)) = remedy_of(best).filter(|(_, first)| offered(first)) else {
        return Next::Report(course);
    };
    let walk = Walk { scene, best, remedy };
    let mut then = remedy.then.iter().filter(|deed| offered(deed)).peekable();
    let mut deed = first;
    loop {
        match walk.step(deed, &mut course) {
            Stepped::Calls(text, calls) => return Next::Calls(text, calls),
            Stepped::Refused => break,
            Stepped::Ended => return Next::Report(course),
            Stepped::Took(took) => {
                let most = if then.peek().is_some() { looks::FEW } else { looks::MANY };
                match looks::look(scene, best, took, most) {
                    Ok(looked) => course.looked = Some(looked),
                    Err(calls) => {
                        return Next::Calls(format!("Looking whether that helped: {}", sentence(deed)), calls);
                    }
                }
            }
        }
        let over = course.looked.as_ref().is_some_and(Looked::is_over);
        match then.next() {
            Some(following) if !over => deed = following,
            Some(_) | None => return Next::Report(course),
        }
    }
    for deed in remedy.lesser.iter().filter(|deed| offered(deed)) {
        match walk.step(deed, &mut course) {
            Stepped::Calls(text, calls) => return Next::Calls(text, calls),
            Stepped::Refused => {}
            Stepped::Ended => break,
            Stepped::Took(took) => {
                match looks::look(scene, best, took, looks::MANY) {
                    Ok(looked) => course.looked = Some(looked),
                    Err(calls) => {
                        return Next::Calls(format!("Looking whether that helped: {}", sentence(deed)), calls);
                    }
                }
                break;
            }
        }
    }
    Next::Report(course)
}

/// The first remedy that names a write and whose check held.
fn remedy_of<'a>(best: &Weighed<'a>) -> Option<(&'a Remedy, &'a Deed)> {
    let holds =
        |remedy: &Remedy| remedy.when.as_ref().is_none_or(|when| best.held().any(|checked| checked.check.id == *when));
    let remedies = best.candidate.runbook.remedies.iter();
    remedies.filter(|remedy| holds(remedy)).find_map(|remedy| Some((remedy, remedy.write.as_ref()?)))
}

struct Walk<'s, 'a> {
    scene: &'s Scene<'a>,
    best: &'s Weighed<'a>,
    remedy: &'a Remedy,
}

enum Stepped<'a> {
    /// These calls come first, or are the write's own.
    Calls(String, Vec<Wanted>),
    Took(Seen<'a>),
    Refused,
    /// Neither done nor refused: there is nothing further to do.
    Ended,
}

impl<'a> Walk<'_, 'a> {
    fn fillings(&self) -> Fillings<'_, 'a> {
        Fillings {
            catalog: self.scene.catalog,
            calls: &self.scene.calls,
            service: &self.best.candidate.service,
            change: self.best.change.as_ref().map(|change| change.row),
        }
    }

    /// Calls the write, or says what came of it.
    fn step(&self, deed: &'a Deed, course: &mut Course<'a>) -> Stepped<'a> {
        let wanted = match self.fillings().fill(deed) {
            Filled::Reads(reads) => return Stepped::Calls("Reading what would be changed.".to_owned(), reads),
            Filled::Cant(why) => {
                course.stuck = Some(format!("{}: {why}", bare(&deed.text)));
                return Stepped::Ended;
            }
            Filled::Call(wanted) => wanted,
        };
        let Some(seen) = self.scene.calls.of_write(&wanted) else {
            let text = format!("Proposing: {}", sentence(deed));
            return Stepped::Calls(text, vec![self.argued(wanted, deed)]);
        };
        let fate = fate(seen);
        course.deeds.push((deed, fate.clone()));
        match fate {
            Fate::Took(seen) => {
                course.took_at = Some(seen.ended_at);
                Stepped::Took(seen)
            }
            Fate::Refused => Stepped::Refused,
            Fate::Pending | Fate::Failed => Stepped::Ended,
        }
    }

    /// The call with what speaks for it.
    fn argued(&self, wanted: Wanted, deed: &Deed) -> Wanted {
        let best = self.best;
        let mechanism = best.mechanism().map(|checked| bare(&checked.check.means));
        let mut evidence: Vec<EvidenceId> = best.change.iter().map(|change| change.evidence).collect();
        evidence.extend(best.held().filter_map(|checked| checked.evidence));
        evidence.extend(self.fillings().evidence(deed));
        evidence.sort_unstable();
        evidence.dedup();
        let others = self.remedy.lesser.iter().map(|deed| bare(&deed.text));
        let others: Vec<&str> = others.chain(self.remedy.alternatives.iter().map(|text| bare(text))).collect();
        let mut args = wanted.args;
        if let Some(args) = args.as_object_mut() {
            let because = super::draft::root_cause(best).unwrap_or_default();
            args.insert("because".to_owned(), because.into());
            args.insert("evidence".to_owned(), json!(evidence));
            if !others.is_empty() {
                args.insert("alternatives".to_owned(), others.join("; ").into());
            }
            if let Some(mechanism) = mechanism {
                args.insert("otherwise".to_owned(), format!("It goes on: {mechanism}.").into());
            }
        }
        Wanted { args, ..wanted }
    }
}

fn fate(seen: Seen<'_>) -> Fate<'_> {
    let Some(error) = &seen.result.error else { return Fate::Took(seen) };
    match error.code {
        ErrorCode::ApprovalPending => Fate::Pending,
        ErrorCode::PolicyDenied
        | ErrorCode::ApprovalDenied
        | ErrorCode::ApprovalExpired
        | ErrorCode::ApprovalRevoked => Fate::Refused,
        ErrorCode::UnknownTool
        | ErrorCode::InvalidArguments
        | ErrorCode::PlanChanged
        | ErrorCode::LedgerUnavailable
        | ErrorCode::OutcomeUnknown
        | ErrorCode::Cancelled
        | ErrorCode::Timeout
        | ErrorCode::BackendError => Fate::Failed,
    }
}

fn sentence(deed: &Deed) -> String {
    format!("{}.", bare(&deed.text))
}

/// A text without the full stop at its end.
fn bare(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}
