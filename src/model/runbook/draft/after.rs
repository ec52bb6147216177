//! What the report says of the writes: whether the trouble is over, and what is left to do. What was written, who approved
//! it and how it ended is added by code, not by a model.

use jiff::SignedDuration;
use warrant_kernel::domain::report::{Finding, FindingKind};
use warrant_toolbox::runbook::expect::Verdict;

use super::{bare, count, sentence};
use crate::agent::remedies::calls::Wanted;
use crate::model::runbook::cause::Weighed;
use crate::model::runbook::looks::Looked;
use crate::model::runbook::remedy::{Course, Fate};
use crate::model::runbook::scene::{Scene, compare_logs};

/// Lines that were being written when the write took effect.
const SETTLE: SignedDuration = SignedDuration::from_secs(1);

/// The calls that count errors since the last write: of the service in question, whose users notice.
pub(in crate::model::runbook) fn counts(scene: &Scene<'_>, course: &Course<'_>) -> Vec<Wanted> {
    wanted(scene, course).into_iter().collect()
}

fn wanted(scene: &Scene<'_>, course: &Course<'_>) -> Option<Wanted> {
    let service = scene.run.service.as_ref()?;
    let since = course.took_at?.checked_add(SETTLE).ok()?;
    scene.can_look(service, "compare_logs").then(|| compare_logs(service, since))
}

/// What the looks and counts after the last write show.
pub(super) fn findings(scene: &Scene<'_>, course: &Course<'_>) -> Vec<Finding> {
    let context = |claim, evidence| Finding {
        kind: FindingKind::Context,
        claim,
        evidence: vec![evidence],
        quotes: Vec::new(),
        at: None,
    };
    let looked = course.looked.iter().flat_map(|looked| &looked.checks).filter_map(|(check, verdict, evidence)| {
        let claim = match verdict {
            Verdict::Held => format!("After the write this still holds: {}", sentence(&check.means)),
            Verdict::Failed => format!("After the write this no longer holds: {}", sentence(&check.means)),
            Verdict::Unknown { .. } => return None,
        };
        Some(context(claim, (*evidence)?))
    });
    let counted = wanted(scene, course).and_then(|wanted| scene.result_of(&wanted)).and_then(|seen| {
        let service = scene.run.service.as_ref()?;
        let now = count(&seen.result.data, "errors", "now");
        let (first, then) = scene.logs(service)?;
        let then = count(then, "errors", "now");
        let claim =
            format!("Since the write {service} logs {now} errors; in the window looked at first it was {then}.");
        let mut finding = context(claim, first);
        finding.evidence.extend(seen.result.evidence);
        Some(finding)
    });
    looked.chain(counted).collect()
}

/// How it stands, in a sentence or two; nothing where nothing was written or proposed.
pub(super) fn told(course: &Course<'_>) -> String {
    let mut text = String::new();
    for (deed, fate) in &course.deeds {
        text.push_str(match fate {
            Fate::Took(_) => " Done: ",
            Fate::Refused => " Refused: ",
            Fate::Pending => " Waiting for approval: ",
            Fate::Failed => " Not done, as far as is known: ",
        });
        text.push_str(&sentence(&deed.text));
    }
    text.push_str(match &course.looked {
        Some(looked) if looked.is_over() => " What had shown the trouble no longer does.",
        Some(looked) if looked.holds_still() => " What had shown the trouble still does.",
        Some(_) => " Whether the trouble is over could not be told.",
        None => "",
    });
    text
}

/// What is left to do.
pub(super) fn next_steps(best: Option<&Weighed<'_>>, course: &Course<'_>) -> Vec<String> {
    let mut steps: Vec<String> = course
        .deeds
        .iter()
        .filter_map(|(deed, fate)| match fate {
            Fate::Took(_) => None,
            Fate::Refused => Some(format!("Still to be decided by people: {}", sentence(&deed.text))),
            Fate::Pending => Some(format!("Decide on what waits: {}", sentence(&deed.text))),
            Fate::Failed => Some(format!("Look at what became of it: {}", sentence(&deed.text))),
        })
        .collect();
    steps.extend(
        course.stuck.as_ref().map(|stuck| format!("By hand, for it could not be proposed: {}", sentence(stuck))),
    );
    let over = course.looked.as_ref().is_some_and(Looked::is_over);
    let wrote = course.took_at.is_some();
    if wrote && !over {
        steps.push("Watch the service: the trouble was not seen to end.".to_owned());
    }
    if wrote {
        steps.push("Bring what was changed here into what the files are deployed from, or it comes back.".to_owned());
    }
    let runbook = best.map(|best| best.candidate.runbook);
    steps.extend(runbook.map(|runbook| format!("Read the runbook `{}`: {}.", runbook.id, bare(&runbook.title))));
    steps
}
