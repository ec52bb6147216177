//! One question, one answer. Fails closed: what can't be built or evaluated is a "no" that names what failed.

use cedar_policy::{Decision, Response};
use serde_json::{Value, json};

use crate::domain::decision::{Action, Risk, Tier};

use super::entities::{self, Asked};
use super::{Basis, DEFAULT_DENY, Explanation, Policy, Question, Ruling};

/// An answer with what it was made from.
pub(super) struct Decided {
    pub(super) ruling: Ruling,
    errors: Vec<String>,
    asked: Option<Asked>,
}

pub(super) fn decide(policy: &Policy, question: &Question<'_>) -> Decided {
    let asked = match entities::build(question, policy) {
        Ok(asked) => asked,
        Err(error) => {
            let reason = format!("policy could not be asked, so the answer is no: {error}");
            return Decided { ruling: failed(reason, Vec::new()), errors: vec![error], asked: None };
        }
    };
    let response = policy.authorizer.is_authorized(&asked.request, &policy.set, &asked.entities);
    let errors: Vec<String> = response.diagnostics().errors().map(ToString::to_string).collect();
    let ruling = rule(policy, question, &response);
    Decided { ruling, errors, asked: Some(asked) }
}

fn rule(policy: &Policy, question: &Question<'_>, response: &Response) -> Ruling {
    let mut failing: Vec<String> = response
        .diagnostics()
        .errors()
        .map(|error| {
            let cedar_policy::AuthorizationError::PolicyEvaluationError(error) = error;
            error.policy_id().to_string()
        })
        .collect();
    if !failing.is_empty() {
        failing.sort();
        // What a policy would have said is not known, so what the others said does not count.
        let reason = format!("policy `{}` could not be evaluated, so the answer is no", failing.join("`, `"));
        return failed(reason, failing);
    }
    let mut policy_ids: Vec<String> = response.diagnostics().reason().map(ToString::to_string).collect();
    policy_ids.sort();
    let action = match response.decision() {
        Decision::Allow => permitted(question.tool.risk),
        Decision::Deny => Action::Deny,
    };
    if policy_ids.is_empty() {
        let (run, tool) = (question.run, question.tool);
        let reason = format!("no policy permits `{}` ({}) for role `{}`", tool.name, tool.risk.as_str(), run.role);
        return Ruling {
            // An allow without a policy behind it can't be; were it to, it would not be ours to give.
            action: Action::Deny,
            reason,
            policy_ids: vec![DEFAULT_DENY.to_owned()],
            basis: Basis::NoPolicy,
        };
    }
    let mut reasons: Vec<String> = policy_ids.iter().map(|id| reason(policy, id, action)).collect();
    reasons.dedup();
    Ruling { action, reason: reasons.join("; "), policy_ids, basis: Basis::Policies }
}

/// A permitted read runs. Anything else asks people, at the high tier as long as nothing says that less suffices.
fn permitted(risk: Risk) -> Action {
    match risk {
        Risk::Read => Action::Allow,
        Risk::Write | Risk::Shell | Risk::Network | Risk::Dangerous => Action::Ask(Tier::High),
    }
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

fn failed(reason: String, policy_ids: Vec<String>) -> Ruling {
    let policy_ids = if policy_ids.is_empty() { vec![DEFAULT_DENY.to_owned()] } else { policy_ids };
    Ruling { action: Action::Deny, reason, policy_ids, basis: Basis::Failed }
}

impl Decided {
    pub(super) fn explain(self, policy: &Policy) -> Explanation {
        let policies = self.ruling.policy_ids.iter().filter_map(|id| policy.sources.get(id).cloned()).collect();
        let (request, entities) = match &self.asked {
            Some(asked) => (request(asked), asked.entities.to_json_value().unwrap_or(Value::Null)),
            None => (Value::Null, Value::Null),
        };
        Explanation { ruling: self.ruling, policies, errors: self.errors, request, entities }
    }
}

fn request(asked: &Asked) -> Value {
    let shown = |uid: Option<&cedar_policy::EntityUid>| uid.map(ToString::to_string);
    json!({
        "principal": shown(asked.request.principal()),
        "action": shown(asked.request.action()),
        "resource": shown(asked.request.resource()),
        "context": asked.request.context().and_then(|context| context.to_json_value().ok()),
    })
}
