//! The laws of a history, whatever happened: read from the ledger's records, the kept approvals and the world itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use jiff::Timestamp;
use serde_json::Value;

use crate::call::gate::approval::{Approval, State};
use crate::db::storage::{DocumentKind, Row, Storage};
use crate::domain::plan::ApprovalId;
use crate::ledger::chain::Chain;

use super::world::{Effected, World, fields};

/// What a process was told that it had done: the record of each must be there for ever.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<Vec<(&'static str, ApprovalId)>>);

impl Told {
    pub(super) fn note<T, E>(&self, kind: &'static str, id: ApprovalId, ended: Result<T, E>) -> Option<T> {
        ended.ok().inspect(|_| self.0.lock().unwrap().push((kind, id)))
    }
}

fn prove(rows: &[Row], broken: &mut Vec<String>) {
    let Some(first) = rows.first() else { return };
    let mut chain = Chain::begin(fields(first)["origin"].as_str().unwrap());
    for row in rows {
        if let Err(what) = chain.step(row) {
            broken.push(format!("record {} does not prove itself: {what}", row.seq));
        }
    }
}

struct Record {
    seq: u64,
    kind: String,
    fields: BTreeMap<String, Value>,
}

impl Record {
    fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn is(&self, kind: &str, status: &str) -> bool {
        self.kind == kind && (status.is_empty() || self.text("status") == status)
    }
}

struct History {
    records: Vec<Record>,
    approvals: Vec<Approval>,
    effects: Vec<Effected>,
}

/// Whether the records have to prove themselves too; the ledger's own tests see to that everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chained {
    Yes,
    No,
}

/// Checks all laws; what is broken, in words.
pub(super) async fn check(world: &World, told: &Told, chained: Chained) -> Vec<String> {
    let mut broken = Vec::new();
    let rows = world.rows();
    if chained == Chained::Yes {
        prove(&rows, &mut broken);
    }
    let records = rows.iter().map(|row| Record { seq: row.seq, kind: row.kind.clone(), fields: fields(row) });
    let documents = world.memory.documents(DocumentKind::Approval, "", u32::MAX).await.unwrap();
    let history = History {
        records: records.collect(),
        approvals: documents.into_iter().map(|document| serde_json::from_value(document.body).unwrap()).collect(),
        effects: world.real().effects.clone(),
    };
    for (kind, id) in told.0.lock().unwrap().iter() {
        if !history.of(*id).any(|record| record.kind == *kind) {
            broken.push(format!("{id}: an acknowledged `{kind}` is lost"));
        }
    }
    for effect in &history.effects {
        history.lawful(effect, &mut broken);
    }
    for approval in &history.approvals {
        history.agrees(approval, &mut broken);
    }
    history.closed(&mut broken);
    broken
}

impl History {
    fn of(&self, id: ApprovalId) -> impl DoubleEndedIterator<Item = &Record> {
        let id = id.to_string();
        self.records.iter().filter(move |record| record.text("approval") == id)
    }

    /// An effect has its intent before it, the intent its decision, the decision its people; nothing after a no.
    fn lawful(&self, effect: &Effected, broken: &mut Vec<String>) {
        let id = effect.approval;
        let mut say = |what: &str| broken.push(format!("{id}: {what}"));
        if self.effects.iter().filter(|other| other.approval == id || other.digest == effect.digest).count() > 1 {
            say("more than one effect");
        }
        let before = || self.of(id).filter(|record| record.seq < effect.records);
        let intents: Vec<&Record> =
            before().filter(|record| record.kind == "intent" && record.text("plan_digest") == effect.digest).collect();
        let [intent] = intents.as_slice() else {
            say(&format!("{} intents before the effect", intents.len()));
            return;
        };
        let decision = before().find(|record| {
            record.is("decision", "allowed") && record.seq < intent.seq && record.text("plan_digest") == effect.digest
        });
        let Some(decision) = decision else {
            say("no decision before the intent");
            return;
        };
        let last = before().filter(|record| record.seq < intent.seq).rfind(|record| {
            record.kind == "revoked"
                || record.kind == "expired"
                || record.kind == "reopened"
                || record.kind == "decision"
        });
        if last.is_none_or(|last| last.seq != decision.seq) {
            say("an effect after a no");
        }
        let until: Timestamp = decision.text("expires_at").parse().unwrap();
        if effect.at >= until {
            say("an effect after the end of its time");
        }
        let people: Vec<&str> = decision.fields["approvers"].as_array().unwrap().iter().map(person).collect();
        let distinct: BTreeSet<&str> = people.iter().copied().collect();
        let needed = usize::try_from(decision.fields["quorum"].as_u64().unwrap()).unwrap();
        let glass = decision.fields.contains_key("break_glass");
        if distinct.len() != people.len() || (distinct.len() < needed && !glass) {
            say("too few persons approved it");
        }
        if decision.text("tier") == "high" && people.contains(&decision.text("requester")) {
            say("its own requester approved it");
        }
    }

    /// What is kept agrees with what happened.
    fn agrees(&self, approval: &Approval, broken: &mut Vec<String>) {
        let id = approval.id();
        let effects = self.effects.iter().filter(|effect| effect.approval == id).count();
        let resolved = self.of(id).any(|record| record.kind == "resolved");
        let used = match approval.state {
            State::Consumed { .. } | State::Executed { .. } | State::Unknown { .. } => true,
            State::NotExecuted { .. } => {
                self.of(id).any(|record| record.is("decision", "allowed") || record.is("decision", "not_executed"))
            }
            State::Open
            | State::Approved { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Revoked { .. }
            | State::Superseded { .. } => false,
        };
        if used && !self.of(id).any(|record| record.kind == "intent") {
            broken.push(format!("{id} was used up without an intent"));
        }
        let wrong = match approval.state {
            State::Executed { .. } => effects != 1 && !resolved,
            State::Unknown { .. } => false,
            State::Consumed { .. } => true,
            State::NotExecuted { .. } => effects != 0 && !resolved,
            State::Open
            | State::Approved { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Revoked { .. }
            | State::Superseded { .. } => effects != 0,
        };
        if wrong {
            broken.push(format!("{id} is kept as {} with {effects} effects", approval.state.as_str()));
        }
    }

    /// Every intent has its outcome, or is shown to people as what nobody knows; and there is one for an approval.
    fn closed(&self, broken: &mut Vec<String>) {
        let mut seen = BTreeSet::new();
        for intent in self.records.iter().filter(|record| record.kind == "intent") {
            let id = intent.text("approval");
            if !seen.insert(id) {
                broken.push(format!("{id}: a second intent"));
            }
            let about = |kind: &str| {
                let mut records = self.records.iter().filter(|record| record.kind == kind);
                records.any(|record| record.fields.get("about").and_then(Value::as_u64) == Some(intent.seq))
            };
            let shown = self
                .approvals
                .iter()
                .any(|approval| approval.id().to_string() == id && matches!(approval.state, State::Unknown { .. }));
            if !(about("outcome") || about("resolved") || (about("unknown") && shown)) {
                broken.push(format!("{id}: an intent without an outcome is shown to nobody"));
            }
        }
    }
}

fn person(vote: &Value) -> &str {
    vote["person"].as_str().unwrap()
}
