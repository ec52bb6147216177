//! People at hand, what they say, and what the model asks for.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::json;

use crate::call::gate::approver::{Approver, Ballot};
use crate::call::gate::card::Card;
use crate::call::gate::objection::Objection;
use crate::call::gate::vote::{Claim, Claimant, Proof, Whole};
use crate::domain::name::EvidenceId;
use crate::domain::result::{Origin, ToolResult};
use crate::domain::run::{Channel, Requester, Run, Trigger, Writes as MayWrite};

use super::at;

/// What people at hand do when they see a card.
#[derive(Debug, Clone)]
pub(in crate::call::gate) enum Answer {
    Approve(&'static str),
    Deny(&'static str, &'static str),
    BreakGlass(&'static str, &'static str),
}

/// People at hand, and what came of their answers.
#[derive(Default)]
pub(in crate::call::gate) struct AtHand {
    pub(in crate::call::gate) answers: Vec<Answer>,
    pub(in crate::call::gate) cards: Mutex<Vec<Card>>,
    pub(in crate::call::gate) heard: Mutex<Vec<Result<(), Objection>>>,
}

impl AtHand {
    pub(in crate::call::gate) fn who(answers: impl Into<Vec<Answer>>) -> Self {
        Self { answers: answers.into(), ..Self::default() }
    }

    pub(in crate::call::gate) fn card(&self) -> Card {
        self.cards.lock().unwrap().last().unwrap().clone()
    }
}

#[async_trait]
impl Approver for AtHand {
    async fn attend(&self, card: &Card, ballot: &Ballot<'_>) {
        self.cards.lock().unwrap().push(card.clone());
        for answer in &self.answers {
            let ended = match answer {
                Answer::Approve(who) => ballot.vote(&claim(card, who)).await.map(drop),
                Answer::Deny(who, why) => ballot.deny(&claim(card, who), why).await,
                Answer::BreakGlass(who, why) => ballot.break_glass(&claim(card, who), why).await,
            };
            self.heard.lock().unwrap().push(ended);
        }
    }
}

/// A person, proved by a token of their own.
pub(in crate::call::gate) fn by(who: &str) -> Claimant {
    Claimant { person: who.parse().unwrap(), proof: Proof::Token(format!("t-{who}")) }
}

/// What a person says who looked at all of the card.
pub(in crate::call::gate) fn claim(card: &Card, who: &str) -> Claim {
    Claim { by: by(who), revision: card.revision, digest_prefix: card.digest_prefix.clone(), whole: Whole::Opened }
}

pub(in crate::call::gate) fn run(asked: &str) -> Run {
    Run {
        investigation: "i-0001".parse().unwrap(),
        trigger: Trigger::Question { text: asked.to_owned() },
        requester: Requester { person: "ann".parse().unwrap(), groups: vec!["oncall".to_owned()] },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Terminal,
        writes: MayWrite::Allowed,
        service: Some("checkout".parse().unwrap()),
        since: at(-900),
        opened_at: at(0),
    }
}

/// Arguments of a write on a service.
pub(in crate::call::gate) fn on(service: &str) -> String {
    json!({ "service": service, "because": "the pool is too small", "evidence": [] }).to_string()
}

/// Arguments of a write on a service, with a value.
pub(in crate::call::gate) fn set(service: &str, value: &str) -> String {
    json!({ "service": service, "value": value, "because": "the pool is too small", "evidence": [] }).to_string()
}

/// Status, code and reason.
pub(in crate::call::gate) fn told(result: &ToolResult) -> (String, String) {
    let status = serde_json::to_value(result.status).unwrap().as_str().unwrap().to_owned();
    let error = result.error.as_ref().map(|error| error.reason.clone().unwrap_or_default());
    (status, error.unwrap_or_default())
}

/// Evidence that strangers may have written.
pub(in crate::call::gate) fn evidence(n: u64, line: &str) -> ToolResult {
    ToolResult {
        call_id: crate::domain::name::CallId::nth(n),
        tool: "search_logs".to_owned(),
        status: crate::domain::result::Status::Ok,
        ok: true,
        evidence: Some(EvidenceId::nth(n)),
        data: json!({ "service": "checkout", "lines": [line] }),
        truncated: false,
        error: None,
        hint: None,
        meta: crate::domain::result::Meta {
            source: None,
            origin: Origin::Log,
            fields: BTreeMap::new(),
            lines_returned: 1,
            lines_matched: None,
            duration_ms: 1,
            output_chars: 40,
            redactions: 0,
            cached: false,
            captured: true,
            side_effects: Vec::new(),
            trace_reason: None,
        },
    }
}
