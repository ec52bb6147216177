//! One question, one answer. Fails closed: what can't be built or evaluated is a "no" that names what failed.

use cedar_policy::{Decision, Request};
use serde_json::{Value, json};

use crate::domain::decision::{Action, Tier};

use super::entities::{self, Scene};
use super::request;
use super::schema::Suffices;
use super::standing::{Quorum, StandingQuestion};
use super::{Answered, Basis, DEFAULT_DENY, Explanation, Policy, Question, Ruling};

/// What policies say to one request.
enum Answer {
    /// These permit it.
    Yes(Vec<String>),
    /// These forbid it.
    Forbidden(Vec<String>),
    /// None says anything, and that is a no.
    Unstated,
}

/// Why there is no answer.
struct Failure {
    reason: String,
    policy_ids: Vec<String>,
    errors: Vec<String>,
}

impl Failure {
    fn unasked(error: String) -> Self {
        Self {
            reason: format!("policy could not be asked, so the answer is no: {error}"),
            policy_ids: vec![DEFAULT_DENY.to_owned()],
            errors: vec![error],
        }
    }

    fn into_ruling(self) -> Ruling {
        let (reason, policy_ids) = (self.reason, self.policy_ids);
        Ruling { action: Action::Deny, reason, policy_ids, tier_ids: Vec::new(), basis: Basis::Failed }
    }
}

/// A ruling with what it was made from.
pub(super) struct Decided {
    pub(super) ruling: Ruling,
    asking: Asking,
}

/// What is asked of one scene, one question after the other.
#[derive(Default)]
struct Asking {
    scene: Option<Scene>,
    first: Option<Request>,
    answers: Vec<Answered>,
    errors: Vec<String>,
}

impl Asking {
    fn ask(
        &mut self,
        policy: &Policy,
        build: impl FnOnce(&Scene) -> Result<Request, String>,
    ) -> Result<Answer, Failure> {
        let Some(scene) = &self.scene else { return Err(Failure::unasked("there is nothing to ask about".to_owned())) };
        let request = build(scene).map_err(Failure::unasked)?;
        let response = policy.authorizer.is_authorized(&request, &policy.set, &scene.entities);
        let question = request.action().map(|action| action.id().unescaped().to_owned()).unwrap_or_default();
        self.first.get_or_insert(request);
        let errors: Vec<String> = response.diagnostics().errors().map(ToString::to_string).collect();
        if !errors.is_empty() {
            let mut failing: Vec<String> = response
                .diagnostics()
                .errors()
                .map(|error| {
                    let cedar_policy::AuthorizationError::PolicyEvaluationError(error) = error;
                    error.policy_id().to_string()
                })
                .collect();
            failing.sort();
            // What a policy would have said is not known, so what the others said does not count.
            let reason = format!("policy `{}` could not be evaluated, so the answer is no", failing.join("`, `"));
            return Err(Failure { reason, policy_ids: failing, errors });
        }
        let mut policy_ids: Vec<String> = response.diagnostics().reason().map(ToString::to_string).collect();
        policy_ids.sort();
        let yes = response.decision() == Decision::Allow && !policy_ids.is_empty();
        self.answers.push(Answered { question, yes, policy_ids: policy_ids.clone() });
        Ok(match response.decision() {
            // An allow without a policy behind it can't be; were it to, it would not be ours to give.
            _ if policy_ids.is_empty() => Answer::Unstated,
            Decision::Allow => Answer::Yes(policy_ids),
            Decision::Deny => Answer::Forbidden(policy_ids),
        })
    }
}

/// Decides on a call.
pub(super) fn decide(policy: &Policy, question: &Question<'_>) -> Decided {
    Decided::by(|asking| rule(policy, question, asking))
}

fn scene(policy: &Policy, question: &Question<'_>) -> Result<Scene, Failure> {
    if !policy.roles.contains(&question.run.role) {
        return Err(Failure::unasked(format!("there is no role `{}`", question.run.role)));
    }
    entities::of_call(question).map_err(Failure::unasked)
}

fn rule(policy: &Policy, question: &Question<'_>, asking: &mut Asking) -> Result<Ruling, Failure> {
    asking.scene = Some(scene(policy, question)?);
    let permitted = asking.ask(policy, |scene| request::permitted(policy, question, scene))?;
    let permits = match permitted {
        Answer::Yes(ids) => ids,
        Answer::Forbidden(ids) => return Ok(decided(policy, Action::Deny, ids, Vec::new())),
        Answer::Unstated => {
            let (run, tool) = (question.run, question.tool);
            return Ok(unstated(format!(
                "no policy permits `{}` ({}) for role `{}`",
                tool.name,
                tool.risk.as_str(),
                run.role
            )));
        }
    };
    if question.tool.risk.only_looks() {
        return Ok(decided(policy, Action::Allow, permits, Vec::new()));
    }
    let mut suffices = |tier| asking.ask(policy, |scene| request::suffices(policy, question, tier, scene));
    // Both are asked whatever the first one says: an error in either is a no.
    let (medium, low) = (suffices(Suffices::Medium)?, suffices(Suffices::Low)?);
    let (tier, tier_ids) = tier(medium, low);
    Ok(decided(policy, Action::Ask(tier), permits, tier_ids))
}

/// What is asked for, and the policies that set it. Whoever forbids that medium suffices keeps low out too: less than what
/// is refused can't do.
fn tier(medium: Answer, low: Answer) -> (Tier, Vec<String>) {
    match (medium, low) {
        (Answer::Yes(_) | Answer::Unstated, Answer::Yes(ids)) => (Tier::Low, ids),
        (Answer::Yes(mut ids), Answer::Forbidden(not_low)) => {
            ids.extend(not_low);
            (Tier::Medium, ids)
        }
        (Answer::Yes(ids), Answer::Unstated) => (Tier::Medium, ids),
        (Answer::Forbidden(ids), _) | (Answer::Unstated, Answer::Forbidden(ids)) => (Tier::High, ids),
        (Answer::Unstated, Answer::Unstated) => (Tier::High, Vec::new()),
    }
}

/// Decides whether a person may.
pub(super) fn may(policy: &Policy, question: &StandingQuestion<'_>) -> Decided {
    Decided::by(|asking| rule_standing(policy, question, asking))
}

fn rule_standing(policy: &Policy, question: &StandingQuestion<'_>, asking: &mut Asking) -> Result<Ruling, Failure> {
    asking.scene = Some(entities::of_person(question).map_err(Failure::unasked)?);
    Ok(match asking.ask(policy, |scene| request::standing(policy, question, scene))? {
        Answer::Yes(ids) => decided(policy, Action::Allow, ids, Vec::new()),
        Answer::Forbidden(ids) => decided(policy, Action::Deny, ids, Vec::new()),
        Answer::Unstated => {
            unstated(format!("no policy permits `{}` to `{}`", question.verb.as_str(), question.person))
        }
    })
}

/// How many persons must approve.
pub(super) fn quorum(policy: &Policy, question: &Question<'_>, tier: Tier) -> Result<Quorum, Ruling> {
    let mut asking = Asking::default();
    let mut ask = || {
        asking.scene = Some(scene(policy, question)?);
        asking.ask(policy, |scene| request::suffices(policy, question, Suffices::One(tier), scene))
    };
    match ask() {
        Ok(Answer::Yes(policy_ids)) => Ok(Quorum { persons: 1, policy_ids }),
        Ok(Answer::Forbidden(policy_ids)) => Ok(Quorum { persons: 2, policy_ids }),
        Ok(Answer::Unstated) => Ok(Quorum { persons: 2, policy_ids: vec![DEFAULT_DENY.to_owned()] }),
        Err(failure) => Err(failure.into_ruling()),
    }
}

fn unstated(reason: String) -> Ruling {
    Ruling {
        action: Action::Deny,
        reason,
        policy_ids: vec![DEFAULT_DENY.to_owned()],
        tier_ids: Vec::new(),
        basis: Basis::NoPolicy,
    }
}

fn decided(policy: &Policy, action: Action, ids: Vec<String>, mut tier_ids: Vec<String>) -> Ruling {
    let mut reasons: Vec<String> = ids.iter().map(|id| reason(policy, id, action)).collect();
    tier_ids.sort();
    tier_ids.dedup();
    reasons.extend(tier_ids.iter().filter_map(|id| policy.sources.get(id)?.reason.clone()));
    if let (Action::Ask(Tier::High), true) = (action, tier_ids.is_empty()) {
        reasons.push("no policy says that less than high suffices".to_owned());
    }
    reasons.dedup();
    let mut policy_ids = ids;
    policy_ids.extend(tier_ids.iter().cloned());
    policy_ids.sort();
    policy_ids.dedup();
    Ruling { action, reason: reasons.join("; "), policy_ids, tier_ids, basis: Basis::Policies }
}

fn reason(policy: &Policy, id: &str, action: Action) -> String {
    if let Some(reason) = policy.sources.get(id).and_then(|source| source.reason.clone()) {
        return reason;
    }
    let says = match action {
        Action::Deny => "forbids",
        Action::Allow | Action::Ask(_) => "permits",
    };
    format!("policy `{id}` {says} it")
}

impl Decided {
    fn by(rule: impl FnOnce(&mut Asking) -> Result<Ruling, Failure>) -> Self {
        let mut asking = Asking::default();
        let ruling = rule(&mut asking).unwrap_or_else(|mut failure| {
            asking.errors = std::mem::take(&mut failure.errors);
            failure.into_ruling()
        });
        Self { ruling, asking }
    }

    pub(super) fn explain(self, policy: &Policy) -> Explanation {
        let policies = self.ruling.policy_ids.iter().filter_map(|id| policy.sources.get(id).cloned()).collect();
        let Asking { scene, first, answers, errors } = self.asking;
        let entities = scene.map_or(Value::Null, |scene| scene.entities.to_json_value().unwrap_or(Value::Null));
        let request = first.as_ref().map_or(Value::Null, shown);
        Explanation { ruling: self.ruling, answers, policies, errors, request, entities }
    }
}

fn shown(request: &Request) -> Value {
    let shown = |uid: Option<&cedar_policy::EntityUid>| uid.map(ToString::to_string);
    json!({
        "principal": shown(request.principal()),
        "action": shown(request.action()),
        "resource": shown(request.resource()),
        "context": request.context().and_then(|context| context.to_json_value().ok()),
    })
}
