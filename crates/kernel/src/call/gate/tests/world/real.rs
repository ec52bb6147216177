//! What is really there, who is who, what time it is, and what breaks next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::call::write::WriteError;
use crate::db::memory::Memory;
use crate::domain::decision::Tier;
use crate::domain::name::PersonId;
use crate::domain::plan::{ApprovalId, DiffLine};
use crate::people::directory::{Freshness, Standing};

pub(in crate::call::gate) fn at(seconds: i64) -> Timestamp {
    let began: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    began + SignedDuration::from_secs(seconds)
}

/// What a step of the world does instead of going well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::call::gate) enum Break {
    /// It fails, and nothing has changed.
    Fails,
    /// The process dies before it.
    KillBefore,
    /// The process dies after it.
    KillAfter,
}

impl Break {
    pub(in crate::call::gate) const ALL: [Self; 3] = [Self::Fails, Self::KillBefore, Self::KillAfter];
}

/// An effect on the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::call::gate) struct Effected {
    pub(in crate::call::gate) approval: ApprovalId,
    pub(in crate::call::gate) digest: String,
    pub(in crate::call::gate) at: Timestamp,
    /// How many records the ledger had then.
    pub(in crate::call::gate) records: u64,
}

/// What is really there.
#[derive(Debug)]
pub(in crate::call::gate) struct Real {
    pub(in crate::call::gate) versions: BTreeMap<String, u64>,
    pub(in crate::call::gate) effects: Vec<Effected>,
    pub(in crate::call::gate) wall: Timestamp,
    pub(in crate::call::gate) monotonic: Duration,
    pub(in crate::call::gate) people: BTreeMap<PersonId, Standing>,
    pub(in crate::call::gate) directory_down: bool,
    pub(in crate::call::gate) looked_up: Vec<(PersonId, Freshness)>,
    /// What a write does: its own way, or this once another.
    pub(in crate::call::gate) next_write: Option<WriteError>,
    pub(in crate::call::gate) hangs: bool,
    pub(in crate::call::gate) probe_fails: bool,
    pub(in crate::call::gate) floor: Option<Tier>,
    pub(in crate::call::gate) diff: Vec<DiffLine>,
    pub(in crate::call::gate) owner: Option<PersonId>,
    pub(in crate::call::gate) previews: u32,
    pub(in crate::call::gate) steps: u64,
    pub(in crate::call::gate) broken: Option<(u64, Break)>,
}

fn person(groups: &[&str], human: bool, active: bool) -> Standing {
    Standing { groups: groups.iter().map(|group| (*group).to_owned()).collect(), active, human }
}

impl Real {
    pub(in crate::call::gate) fn new() -> Self {
        let people = [
            ("ann", person(&["oncall"], true, true)),
            ("bob", person(&["oncall"], true, true)),
            ("cid", person(&["oncall", "breakglass"], true, true)),
            ("dan", person(&[], true, true)),
            ("gus", person(&["oncall"], true, false)),
            ("alertbot", person(&["oncall"], false, true)),
        ];
        Self {
            versions: BTreeMap::new(),
            effects: Vec::new(),
            wall: at(0),
            monotonic: Duration::ZERO,
            people: people.into_iter().map(|(name, standing)| (name.parse().unwrap(), standing)).collect(),
            directory_down: false,
            looked_up: Vec::new(),
            next_write: None,
            hangs: false,
            probe_fails: false,
            floor: None,
            diff: Vec::new(),
            owner: None,
            previews: 0,
            steps: 0,
            broken: None,
        }
    }
}

/// Shared by all doubles.
pub(in crate::call::gate) struct Shared {
    pub(in crate::call::gate) real: Mutex<Real>,
    pub(in crate::call::gate) killed: Mutex<CancellationToken>,
    pub(in crate::call::gate) disk: Mutex<Arc<Memory>>,
}

impl Shared {
    pub(in crate::call::gate) fn real(&self) -> MutexGuard<'_, Real> {
        self.real.lock().unwrap()
    }

    /// One step of the world; whether it fails.
    pub(in crate::call::gate) async fn step<T>(&self, does: impl FnOnce(&mut Real) -> T) -> Option<T> {
        // Whatever else is under way may go on here.
        tokio::task::yield_now().await;
        let broken = {
            let mut real = self.real();
            let now = real.steps;
            real.steps += 1;
            real.broken.filter(|(step, _)| *step == now).map(|(_, broken)| broken)
        };
        match broken {
            None => Some(does(&mut self.real())),
            Some(Break::Fails) => None,
            Some(Break::KillBefore) => self.die().await,
            Some(Break::KillAfter) => {
                does(&mut self.real());
                self.die().await
            }
        }
    }

    async fn die<T>(&self) -> T {
        let killed = self.killed.lock().unwrap().clone();
        killed.cancel();
        std::future::pending().await
    }
}
