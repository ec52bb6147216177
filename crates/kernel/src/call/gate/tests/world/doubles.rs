//! Doubles of the clock, the directory and the write tools, over what is really there.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Map;

use crate::call::gate::warrant::Warrant;
use crate::call::tool::{Arguments, Clock, Problem};
use crate::call::write::{Effect, Held, Looking, Probed, Verdict, WriteError, WriteTool};
use crate::db::storage::Log;
use crate::domain::name::PersonId;
use crate::domain::output::Output;
use crate::domain::plan::{Facts, Plan, Preview, Proposal};
use crate::domain::result::Origin;
use crate::domain::target::{Target, TargetKind};
use crate::people::directory::{Directory, DirectoryError, Freshness, Standing};

use super::real::{Effected, Real, Shared};

/// The clock, the directory and the write tools.
#[derive(Clone)]
pub(in crate::call::gate) struct Doubles(pub(in crate::call::gate) Arc<Shared>);

impl Clock for Doubles {
    fn now(&self) -> Timestamp {
        self.0.real().wall
    }

    fn monotonic(&self) -> Duration {
        self.0.real().monotonic
    }
}

#[async_trait]
impl Directory for Doubles {
    async fn standing(&self, person: &PersonId, freshness: Freshness) -> Result<Standing, DirectoryError> {
        let unavailable = || DirectoryError::Unavailable("it does not answer".to_owned());
        let looked = self.0.step(|real| {
            real.looked_up.push((person.clone(), freshness));
            if real.directory_down {
                return Err(unavailable());
            }
            real.people.get(person).cloned().ok_or_else(|| DirectoryError::Nobody(person.clone()))
        });
        looked.await.unwrap_or_else(|| Err(unavailable()))
    }
}

fn backend() -> WriteError {
    WriteError::Backend { reason: "UNREACHABLE", message: "it does not answer".to_owned() }
}

fn bound(real: &Real, target: &Target) -> Facts {
    Facts::from([("version".to_owned(), real.versions.get(&target.name).copied().unwrap_or(1).to_string())])
}

#[async_trait]
impl WriteTool for Doubles {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        Ok(Target {
            kind: TargetKind::Service,
            name: args.text("service").unwrap().to_owned(),
            service: args.service("service"),
            environment: Some("staging".parse().unwrap()),
            owner: self.0.real().owner.clone(),
            source: "units".parse().unwrap(),
        })
    }

    async fn preview(&self, args: &Arguments, target: &Target, _looking: Looking<'_>) -> Result<Preview, WriteError> {
        let value = args.text("value").unwrap_or("another").to_owned();
        let preview = self.0.step(|real| {
            real.previews += 1;
            Preview {
                effect: format!("sets {} to {value}", target.name),
                bound: bound(real, target),
                shown: Facts::from([("load".to_owned(), "0.3".to_owned())]),
                diff: real.diff.clone(),
                notes: vec!["checkout depends on it".to_owned()],
                floor: real.floor,
            }
        });
        preview.await.ok_or_else(backend)
    }

    async fn bound(&self, plan: &Plan, _looking: Looking<'_>) -> Result<Facts, WriteError> {
        self.0.step(|real| bound(real, &plan.target)).await.ok_or_else(backend)
    }

    async fn write(&self, warrant: Warrant, _looking: Looking<'_>) -> Result<Effect, WriteError> {
        let plan = warrant.spend();
        let hangs = self.0.real().hangs;
        if hangs {
            return std::future::pending().await;
        }
        let records = u64::try_from(self.0.disk.lock().unwrap().rows(Log::Writes).len()).unwrap();
        let written = self.0.step(|real| {
            if let Some(error) = real.next_write.take() {
                if let WriteError::Unknown { .. } = error {
                    effect(real, &plan, records);
                }
                return Err(error);
            }
            if bound(real, &plan.target) != plan.preview.bound {
                let message = "it is not as it was".to_owned();
                return Err(WriteError::Refused { reason: "CHANGED", message });
            }
            effect(real, &plan, records);
            let mut arguments = Map::new();
            if plan.tool.as_str() == "edit" {
                arguments.insert("service".to_owned(), plan.target.name.as_str().into());
                arguments.insert("value".to_owned(), "as before".into());
            }
            let undo = Proposal { tool: plan.tool.clone(), arguments, why: "takes it back".to_owned() };
            Ok(Effect {
                after: bound(real, &plan.target),
                side_effects: vec![format!("{} is another", plan.target.name)],
                output: Output::lines(Origin::Warrant, Map::new(), vec!["done".to_owned()]),
                undo: Some(undo),
            })
        });
        written.await.unwrap_or_else(|| Err(backend()))
    }

    async fn probe(&self, plan: &Plan, _looking: Looking<'_>) -> Probed {
        let probed = self.0.step(|real| {
            if real.probe_fails {
                return Probed::CantTell { because: "it does not answer".to_owned() };
            }
            let now = bound(real, &plan.target);
            let version = |facts: &Facts| facts["version"].parse::<u64>().unwrap();
            match version(&now).checked_sub(version(&plan.preview.bound)) {
                Some(0) => Probed::DidNot { because: "it is as it was".to_owned() },
                Some(1) => Probed::Took { after: now, because: "it is the next one".to_owned() },
                // Somebody else had their hands in it meanwhile.
                Some(_) | None => Probed::CantTell { because: "it is neither as it was nor as it would be".to_owned() },
            }
        });
        probed.await.unwrap_or_else(|| Probed::CantTell { because: "it does not answer".to_owned() })
    }

    async fn verify(&self, _plan: &Plan, effect: &Effect, _looking: Looking<'_>) -> Verdict {
        let held = self.0.step(|_| Held::Held).await.unwrap_or(Held::Unknown);
        Verdict { held, because: "it answers".to_owned(), facts: effect.after.clone() }
    }
}

fn effect(real: &mut Real, plan: &Plan, records: u64) {
    let at = real.wall;
    *real.versions.entry(plan.target.name.clone()).or_insert(1) += 1;
    real.effects.push(Effected { approval: plan.id, digest: plan.digest.as_str().to_owned(), at, records });
}
