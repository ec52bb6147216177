//! The card: what people are shown before they answer, made by trusted code from the frozen plan.
//!
//! Every text in it has gone through [`visible`]: a renderer puts it where it belongs and adds nothing. What the model says
//! stands in [`Card::case`] alone. Whoever shows a card offers approval where [`Card::offers_approval`] says so; the gate
//! holds to the same rule and takes no other vote.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::domain::decision::Tier;
use crate::domain::hex::hex;
use crate::domain::name::{InvestigationId, PersonId, ToolName};
use crate::domain::plan::{ApprovalId, Case, DiffLine, Facts, Ground, Plan};
use crate::domain::target::Target;
use crate::domain::visible::visible;

use super::approval::{Approval, State};
use super::exhibit::{Excerpt, SoFar};
use super::plan::text_of;
use super::vote::Whole;

mod pages;

pub use pages::Page;

#[cfg(test)]
mod tests;

/// Most lines of a change that stand on the face of a card.
pub const FACE_LINES: usize = 24;

/// Most characters of one line or one argument on the face of a card.
pub const FACE_WIDTH: usize = 200;

/// One argument of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its value, line by line.
    pub value: Vec<String>,
    /// Who named it.
    pub ground: Ground,
}

/// The size of the change and a digest over it, so that two people can tell that they look at the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Lines that come.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// SHA-256 over all lines as they are shown, in hex.
    pub sha256: String,
}

/// Who decides, and who has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Electorate {
    /// How many persons it takes.
    pub quorum: u32,
    /// Who approved so far.
    pub approved: Vec<PersonId>,
    /// Who had a part in it; none of them counts at the high tier.
    pub contributors: Vec<PersonId>,
    /// Who may, in a sentence.
    pub who_may: String,
}

/// What people are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Which approval.
    pub approval: ApprovalId,
    /// The revision of the card; an answer names it.
    pub revision: u32,
    /// The beginning of the plan's digest; an answer names it.
    pub digest_prefix: String,
    /// Where it stands.
    pub state: State,
    /// For whom the write is.
    pub requester: PersonId,
    /// Which investigation asks.
    pub investigation: InvestigationId,
    /// The tool.
    pub tool: ToolName,
    /// What it changes.
    pub target: Target,
    /// What exactly will happen, in one sentence; from the plan.
    pub effect: String,
    /// The arguments, each with who named it.
    pub arguments: Vec<Argument>,
    /// The facts that the plan is bound to.
    pub bound: Facts,
    /// Facts that may change without harm.
    pub shown: Facts,
    /// The change; whole.
    pub diff: Vec<DiffLine>,
    /// Its size.
    pub size: Size,
    /// What people should know.
    pub notes: Vec<String>,
    /// What is asked of people.
    pub tier: Tier,
    /// Why this tier.
    pub tier_reasons: Vec<String>,
    /// The policies that decided.
    pub policy_ids: Vec<String>,
    /// Why, in the model's words: to be marked as the model's.
    pub case: Case,
    /// The evidence that it rests on.
    pub excerpts: Vec<Excerpt>,
    /// The investigation up to here.
    pub so_far: SoFar,
    /// Who decides.
    pub electorate: Electorate,
    /// Since when.
    pub requested_at: Timestamp,
    /// Until when.
    pub expires_at: Timestamp,
    /// Whether approval is offered after the last page of the whole only.
    pub needs_whole: bool,
}

/// Whether the face of a card can't show all that will happen, or the tier wants the whole looked at.
pub(crate) fn needs_whole(plan: &Plan) -> bool {
    let long = |text: &str| visible(text).chars().count() > FACE_WIDTH;
    plan.tier == Tier::High
        || plan.preview.diff.len() > FACE_LINES
        || plan.preview.diff.iter().any(|line| long(text_of(line)))
        || plan.preview.bound.values().any(|value| long(value))
        || long(&plan.preview.effect)
        || plan.arguments.values().any(|value| value_lines(value).iter().any(|line| long(line)))
        || plan.arguments.values().any(|value| value_lines(value).len() > FACE_LINES)
}

impl Card {
    /// The card of an approval.
    pub(crate) fn of(approval: &Approval) -> Self {
        let plan = &approval.plan;
        let diff: Vec<DiffLine> = plan.preview.diff.iter().map(shown_line).collect();
        let arguments = plan.arguments.iter().map(|(name, value)| Argument {
            name: name.clone(),
            value: value_lines(value).iter().map(|line| visible(line)).collect(),
            ground: plan.grounds.get(name).cloned().unwrap_or(Ground::Model),
        });
        Self {
            approval: plan.id,
            revision: approval.revision,
            digest_prefix: plan.digest.prefix().to_owned(),
            state: shown_state(&approval.state),
            requester: plan.run.requester.person.clone(),
            investigation: plan.run.investigation.clone(),
            tool: plan.tool.clone(),
            target: Target { name: visible(&plan.target.name), ..plan.target.clone() },
            effect: visible(&plan.preview.effect),
            arguments: arguments.collect(),
            bound: shown_facts(&plan.preview.bound),
            shown: shown_facts(&plan.preview.shown),
            size: Size::of(&diff),
            diff,
            notes: all_visible(&plan.preview.notes),
            tier: plan.tier,
            tier_reasons: all_visible(&plan.tier_reasons),
            policy_ids: all_visible(&plan.policy_ids),
            case: shown_case(&plan.case),
            excerpts: approval.exhibit.excerpts.iter().map(shown_excerpt).collect(),
            so_far: SoFar {
                turns: approval.exhibit.so_far.turns,
                reads: approval.exhibit.so_far.reads,
                lines: all_visible(&approval.exhibit.so_far.lines),
                ruled_out: all_visible(&approval.exhibit.so_far.ruled_out),
            },
            electorate: electorate(approval),
            requested_at: approval.requested_at,
            expires_at: approval.expires_at,
            needs_whole: approval.needs_whole,
        }
    }

    /// Whether a person may be offered to approve it now.
    #[must_use]
    pub fn offers_approval(&self, whole: Whole) -> bool {
        self.state == State::Open && (!self.needs_whole || whole == Whole::Opened)
    }

    /// The lines of the change that stand on the face, and how many do not.
    #[must_use]
    pub fn face_of_diff(&self) -> (&[DiffLine], usize) {
        let shown = self.diff.get(..FACE_LINES).unwrap_or(&self.diff);
        (shown, self.diff.len() - shown.len())
    }

    /// The whole, page by page, in the order in which it is read. Approval is offered after the last one.
    #[must_use]
    pub fn pages(&self) -> Vec<Page> {
        pages::pages(self)
    }
}

impl Size {
    fn of(diff: &[DiffLine]) -> Self {
        let (mut added, mut removed, mut hasher) = (0, 0, Sha256::new());
        for line in diff {
            let mark = match line {
                DiffLine::Hunk(_) => "@",
                DiffLine::Context(_) => " ",
                DiffLine::Removed(_) => {
                    removed += 1;
                    "-"
                }
                DiffLine::Added(_) => {
                    added += 1;
                    "+"
                }
            };
            hasher.update(format!("{mark}{}\n", text_of(line)));
        }
        Self { added, removed, sha256: hex(&hasher.finalize()) }
    }
}

fn electorate(approval: &Approval) -> Electorate {
    let mut contributors = approval.plan.contributors.clone();
    contributors.push(approval.plan.run.requester.person.clone());
    contributors.sort();
    contributors.dedup();
    let persons = match approval.quorum {
        0 | 1 => "one person".to_owned(),
        more => format!("{more} persons"),
    };
    let who_may = match approval.plan.tier {
        Tier::Low => "nobody is asked; policy says that a record suffices".to_owned(),
        Tier::Medium => format!("{persons} whom policy lets approve"),
        Tier::High => {
            let names: Vec<&str> = contributors.iter().map(PersonId::as_str).collect();
            format!("{persons} whom policy lets approve and who had no part in it (not {})", names.join(", "))
        }
    };
    let approved = approval.votes.iter().map(|vote| vote.by.person.clone()).collect();
    Electorate { quorum: approval.quorum, approved, contributors, who_may }
}

fn all_visible(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| visible(text)).collect()
}

fn shown_facts(facts: &Facts) -> Facts {
    facts.iter().map(|(name, value)| (visible(name), visible(value))).collect()
}

fn shown_line(line: &DiffLine) -> DiffLine {
    match line {
        DiffLine::Hunk(text) => DiffLine::Hunk(visible(text)),
        DiffLine::Context(text) => DiffLine::Context(visible(text)),
        DiffLine::Removed(text) => DiffLine::Removed(visible(text)),
        DiffLine::Added(text) => DiffLine::Added(visible(text)),
    }
}

fn shown_excerpt(excerpt: &Excerpt) -> Excerpt {
    Excerpt { tool: visible(&excerpt.tool), lines: all_visible(&excerpt.lines), ..excerpt.clone() }
}

/// Lines stay lines: the model may write several, and each is made visible by itself.
fn shown_case(case: &Case) -> Case {
    let text = |text: &str| text.lines().map(visible).collect::<Vec<_>>().join("\n");
    Case {
        because: text(&case.because),
        evidence: case.evidence.clone(),
        alternatives: case.alternatives.as_deref().map(text),
        otherwise: case.otherwise.as_deref().map(text),
    }
}

fn shown_state(state: &State) -> State {
    let mut shown = state.clone();
    match &mut shown {
        State::Denied { reason, .. } | State::Revoked { reason, .. } => *reason = visible(reason),
        State::NotExecuted { because, .. } | State::Unknown { because, .. } => *because = visible(because),
        State::Open
        | State::Approved { .. }
        | State::Expired { .. }
        | State::Superseded { .. }
        | State::Consumed { .. }
        | State::Executed { .. } => {}
    }
    shown
}

/// A value line by line. A line end that is not one stays within its line, where it is made visible; the end of the last
/// line is told, since two values that differ in it are not the same.
fn value_lines(value: &Value) -> Vec<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.split('\n').map(str::to_owned).collect()
}
