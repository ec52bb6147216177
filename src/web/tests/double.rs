//! The parts above, doubled: four tokens, one service that nobody but Ann may read, one approval.
//!
//! It refuses what the real one could not have been asked: an empty question, a decision that no token proves.

use std::sync::Mutex;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value, json};
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::sequencer::shown::Listed;
use warrant_kernel::call::gate::sequencer::tokens::Scope;
use warrant_kernel::call::gate::vote::{Claimant, Proof};
use warrant_kernel::domain::name::{InvestigationId, PersonId, ServiceName};
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::run::Requester;

use crate::web::backend::{Backend, Deciding, Failure, Standing, Wanted};
use crate::web::health::{Check, Condition, Weight};

use super::{ANN, ASKS, BOB, LOOKS};

/// What was asked of it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::web) enum Asked {
    Begin(Wanted),
    Steer(String, String),
    Stop(String),
    Decide(String, Deciding),
}

pub(in crate::web) struct Double {
    /// Whether any token has been made.
    pub(in crate::web) tokens: bool,
    pub(in crate::web) asked: Mutex<Vec<Asked>>,
    /// What the next thing asked for ends in.
    pub(in crate::web) failure: Mutex<Option<Failure>>,
    pub(in crate::web) objection: Mutex<Option<Objection>>,
    pub(in crate::web) revoked: Mutex<bool>,
    pub(in crate::web) checks: Mutex<Vec<Check>>,
    pub(in crate::web) checked: Mutex<u32>,
}

impl Double {
    pub(in crate::web) fn new() -> Self {
        let up = |name: &str, weight| Check {
            name: name.to_owned(),
            state: Condition::Up,
            weight,
            detail: format!("{name} answers"),
        };
        Self {
            tokens: true,
            asked: Mutex::default(),
            failure: Mutex::default(),
            objection: Mutex::default(),
            revoked: Mutex::default(),
            checks: Mutex::new(vec![up("store", Weight::Decides), up("slack", Weight::Informs)]),
            checked: Mutex::default(),
        }
    }

    pub(in crate::web) fn without_tokens() -> Self {
        Self { tokens: false, ..Self::new() }
    }

    pub(in crate::web) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    fn note(&self, asked: Asked) -> Result<(), Failure> {
        self.asked.lock().unwrap().push(asked);
        self.failure.lock().unwrap().take().map_or(Ok(()), Err)
    }
}

/// The card of A1: a restart of `payments`, which only Ann may read.
pub(in crate::web) fn card() -> Card {
    let target = json!({
        "kind": "service", "name": "payments", "service": "payments", "environment": null, "owner": null,
        "source": "catalog",
    });
    let card = json!({
        "approval": "A1", "revision": 3, "digest_prefix": "00ff00ff00ff", "state": { "is": "open" }, "requester": "cid",
        "investigation": "i-payments", "tool": "restart_service", "target": target, "effect": "Restarts payments.",
        "arguments": [], "bound": { "unit": "payments.service" }, "shown": {}, "diff": [],
        "size": { "added": 0, "removed": 0, "sha256": "00" }, "notes": [], "tier": "high", "tier_reasons": ["production"],
        "policy_ids": ["default-deny"],
        "case": { "because": "it hangs", "evidence": ["E1"], "alternatives": null, "otherwise": null },
        "excerpts": [], "so_far": { "turns": 1, "reads": 1, "lines": [], "ruled_out": [] },
        "electorate": { "quorum": 1, "approved": [], "contributors": ["cid"], "who_may": "one person" },
        "requested_at": "2026-03-01T12:00:00Z", "expires_at": "2026-03-01T13:00:00Z", "needs_whole": true,
    });
    serde_json::from_value(card).unwrap()
}

fn listed(id: u64, service: Option<&str>) -> Listed {
    Listed {
        approval: ApprovalId::nth(id),
        state: State::Open,
        tier: warrant_kernel::domain::decision::Tier::High,
        tool: "restart_service".parse().unwrap(),
        target: service.unwrap_or("host:a").to_owned(),
        service: service.map(|service| service.parse().unwrap()),
        effect: "Restarts it.".to_owned(),
        requester: "cid".parse().unwrap(),
        investigation: "i-payments".parse().unwrap(),
        requested_at: "2026-03-01T12:00:00Z".parse().unwrap(),
        expires_at: "2026-03-01T13:00:00Z".parse().unwrap(),
        quorum: 1,
        approved: Vec::new(),
    }
}

#[async_trait]
impl Backend for Double {
    async fn bearer(&self, token: &str, scope: Scope) -> Result<Claimant, Objection> {
        if *self.revoked.lock().unwrap() {
            return Err(Objection::NoToken);
        }
        let (person, scopes): (&str, &[Scope]) = match token {
            ANN => ("ann", &Scope::ALL),
            BOB => ("bob", &Scope::ALL),
            LOOKS => ("bob", &[Scope::Read]),
            ASKS => ("gone", &[Scope::Investigate]),
            _ => return Err(Objection::NoToken),
        };
        if !scopes.contains(&scope) {
            return Err(Objection::OutOfScope { token: "t1".to_owned(), scope });
        }
        Ok(Claimant { person: person.parse().unwrap(), proof: Proof::Token("t1".to_owned()) })
    }

    async fn has_tokens(&self) -> Result<bool, Objection> {
        Ok(self.tokens)
    }

    async fn requester(&self, person: &PersonId) -> Result<Option<Requester>, Objection> {
        let known = Requester { person: person.clone(), groups: vec!["on-call".to_owned()] };
        Ok((person.as_str() != "gone").then_some(known))
    }

    fn nobody(&self) -> Option<Requester> {
        Some(Requester { person: "nobody".parse().unwrap(), groups: Vec::new() })
    }

    fn may_read(&self, who: &Requester, service: &ServiceName) -> bool {
        match service.as_str() {
            "payments" => who.person.as_str() == "ann",
            "checkout" => true,
            _ => false,
        }
    }

    async fn begin(&self, wanted: Wanted) -> Result<InvestigationId, Failure> {
        assert!(!wanted.question.trim().is_empty(), "an empty question");
        assert!(wanted.service.as_ref().is_none_or(|service| self.may_read(&wanted.requester, service)));
        self.note(Asked::Begin(wanted))?;
        Ok("i-new".parse().unwrap())
    }

    async fn steer(&self, id: &InvestigationId, by: &Requester, text: &str) -> Result<(), Failure> {
        self.note(Asked::Steer(format!("{id} by {}", by.person), text.to_owned()))
    }

    async fn stop(&self, id: &InvestigationId, by: &Requester) -> Result<(), Failure> {
        self.note(Asked::Stop(format!("{id} by {}", by.person)))
    }

    async fn approvals(
        &self,
        before: Option<ApprovalId>,
        state: Option<&str>,
        most: usize,
    ) -> Result<Vec<Listed>, Objection> {
        let all = [listed(3, None), listed(2, Some("checkout")), listed(1, Some("payments"))];
        let asked = all.into_iter().filter(|it| before.is_none_or(|before| it.approval < before));
        Ok(asked.filter(|it| state.is_none_or(|state| it.state.as_str() == state)).take(most).collect())
    }

    async fn card(&self, id: ApprovalId) -> Result<Card, Objection> {
        if id.number() == 1 { Ok(card()) } else { Err(Objection::NoSuch(id)) }
    }

    async fn decide(&self, id: ApprovalId, by: Claimant, deciding: Deciding) -> Result<(), Objection> {
        assert!(matches!(by.proof, Proof::Token(_)), "a decision that no token proves");
        self.asked.lock().unwrap().push(Asked::Decide(format!("{id} by {}", by.person), deciding));
        self.objection.lock().unwrap().take().map_or(Ok(()), Err)
    }

    async fn checks(&self) -> Vec<Check> {
        *self.checked.lock().unwrap() += 1;
        self.checks.lock().unwrap().clone()
    }

    async fn standing(&self) -> Standing {
        Standing { queues: vec![("alerts", 2)], ..Standing::default() }
    }

    fn now(&self) -> Timestamp {
        "2026-03-01T12:00:00Z".parse().unwrap()
    }
}

/// Nothing of it was asked for.
pub(in crate::web) fn nothing(double: &Double) -> Value {
    assert_eq!(double.asked(), []);
    Value::Null
}
