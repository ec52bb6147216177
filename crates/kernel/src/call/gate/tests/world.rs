//! A world that a test holds in its hand: what is really there, who is who, what time it is, and what breaks next.

mod real;

mod doubles;

mod hands;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use crate::call::definition::{Definition, DefinitionFile, Definitions, LoadContext, Standing as Source};
use crate::call::execute::AtOnce;
use crate::call::gate::approver::Approver;
use crate::call::gate::exhibit::SoFar;
use crate::call::gate::grounds::Grounds;
use crate::call::gate::objection::Objection;
use crate::call::gate::sequencer::rules::Rules;
use crate::call::gate::sequencer::shown::Limits;
use crate::call::gate::sequencer::{Order, Parts, Sequencer};
use crate::call::gate::{Gate, Writes};
use crate::call::record::Recorder;
use crate::call::registry::{Code, Registry};
use crate::call::tests::call;
use crate::call::tool::{EvidencePage, EvidencePages, ReadError, Services};
use crate::call::write::WriteTool;
use crate::call::{Desk, carry_out};
use crate::db::memory::Memory;
use crate::db::storage::{Log, Row};
use crate::domain::name::{EvidenceId, PersonId, RoleName, ServiceName, ToolName};
use crate::domain::result::ToolResult;
use crate::domain::run::Run;
use crate::ledger::{Ledger, Options};
use crate::policy::{Policy, PolicyText};
use crate::redact::{RedactionKey, Redactor};

pub(in crate::call::gate) use hands::{Answer, AtHand, by, claim, evidence, on, run, set, told};
pub(in crate::call::gate) use real::{Break, Effected, Real, Shared, at};

use doubles::Doubles;

const TOOL: &str = r#"
name = "NAME"
version = 1
description = "Changes a service."
risk = "write"
roles = ["general-purpose"]
parallel_safe = false
timeout = "5s"
output = { max_chars = 4000, keep = "full" }
target = { kind = "service", arg = "service" }
side_effects = ["the service is another"]
run = "builtin"

[args.service]
type = "service"
required = true
description = "Which."

[args.value]
type = "text"
max = 4000
description = "What it becomes."
"#;

/// Low, medium, high; `vault` takes two persons, `sealed` is denied.
pub(in crate::call::gate) const POLICIES: &str = r#"
@id("may-write")
permit (principal in Role::"general-purpose", action in Action::"write", resource);
@id("not-sealed")
@reason("nothing in `sealed` is changed")
forbid (principal, action in Action::"write", resource in Service::"sealed");
@id("medium-for-edits")
permit (principal, action == Action::"medium_suffices", resource)
when { context.tool == Tool::"edit" || context.tool == Tool::"nudge" };
@id("low-for-nudges")
permit (principal, action == Action::"low_suffices", resource) when { context.tool == Tool::"nudge" };
@id("one-is-enough")
permit (principal, action == Action::"one_suffices", resource) unless { resource in Service::"vault" };
"#;

const APPROVALS: &str = include_str!("../../../../../../policies/approvals.cedar");

struct Shop;

impl Services for Shop {
    fn names(&self) -> Vec<ServiceName> {
        ["checkout", "payments", "vault", "sealed", "ledgerd"].map(|name| name.parse().unwrap()).to_vec()
    }
}

#[async_trait]
impl EvidencePages for Shop {
    async fn page(&self, _evidence: EvidenceId, _from: u64, _count: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| Arc::new(policy(POLICIES)));

pub(super) fn policy(own: &str) -> Policy {
    let texts = [PolicyText { name: "p.cedar", text: own }, PolicyText { name: "approvals.cedar", text: APPROVALS }];
    Policy::load(&texts, definitions().iter().map(Definition::tool), &roles()).unwrap()
}

fn roles() -> BTreeSet<RoleName> {
    ["explore", "general-purpose"].map(|role| role.parse().unwrap()).into()
}

fn definitions() -> Definitions {
    let texts = ["nudge", "edit", "restart"].map(|name| (name, TOOL.replace("NAME", name)));
    let files = texts.iter().map(|(name, text)| DefinitionFile { name, text, standing: Source::BuiltIn });
    Definitions::load(files, &LoadContext { http_sources: &BTreeSet::new(), roles: &roles() }).unwrap()
}

/// The whole of it.
pub(in crate::call::gate) struct World {
    pub(in crate::call::gate) memory: Arc<Memory>,
    pub(in crate::call::gate) shared: Arc<Shared>,
    pub(in crate::call::gate) registry: Arc<Registry>,
    pub(in crate::call::gate) policy: Arc<Policy>,
    pub(in crate::call::gate) redactor: Redactor,
    pub(in crate::call::gate) limits: Limits,
    pub(in crate::call::gate) run: Run,
    pub(in crate::call::gate) log: crate::call::tests::Log,
    pub(in crate::call::gate) grounds: Grounds,
    pub(in crate::call::gate) contributors: Vec<PersonId>,
    pub(in crate::call::gate) seen: Vec<ToolResult>,
    pub(in crate::call::gate) cancel: CancellationToken,
    directory: Arc<tempfile::TempDir>,
}

impl World {
    pub(in crate::call::gate) fn new() -> Self {
        let memory: Arc<Memory> = Arc::default();
        let shared = Arc::new(Shared {
            real: Mutex::new(Real::new()),
            killed: Mutex::new(CancellationToken::new()),
            disk: Mutex::new(Arc::clone(&memory)),
        });
        let tool: Arc<dyn WriteTool> = Arc::new(Doubles(Arc::clone(&shared)));
        let names: [ToolName; 3] = ["nudge", "edit", "restart"].map(|name| name.parse().unwrap());
        let code: BTreeMap<ToolName, Code> =
            names.into_iter().map(|name| (name, Code::Write(Arc::clone(&tool)))).collect();
        Self {
            memory,
            shared,
            registry: Arc::new(Registry::new(definitions(), code).ok().unwrap()),
            policy: Arc::clone(&POLICY),
            redactor: Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap(),
            limits: Limits::standard(),
            run: run("why is checkout slow? payments and vault look odd, nudge ledgerd if need be"),
            log: crate::call::tests::Log::default(),
            grounds: Grounds::none(),
            contributors: Vec::new(),
            seen: Vec::new(),
            cancel: CancellationToken::new(),
            directory: Arc::new(tempfile::tempdir().unwrap()),
        }
    }

    /// The same tools and people over this store, in a world as it was at first.
    pub(in crate::call::gate) fn renew(&mut self, memory: Memory) {
        self.on(Arc::new(memory));
        *self.shared.real() = Real::new();
        *self.shared.killed.lock().unwrap() = CancellationToken::new();
    }

    fn on(&mut self, memory: Arc<Memory>) {
        *self.shared.disk.lock().unwrap() = Arc::clone(&memory);
        self.memory = memory;
    }

    pub(in crate::call::gate) fn real(&self) -> MutexGuard<'_, Real> {
        self.shared.real()
    }

    /// Time goes on.
    pub(in crate::call::gate) fn wait(&self, seconds: u64) {
        let mut real = self.real();
        real.wall += SignedDuration::from_secs(i64::try_from(seconds).unwrap());
        real.monotonic += Duration::from_secs(seconds);
    }

    /// Ends when the process was killed.
    pub(in crate::call::gate) async fn killed(&self) {
        let killed = self.shared.killed.lock().unwrap().clone();
        tokio::select! {
            () = self.memory.killed() => {}
            () = killed.cancelled() => {}
        }
    }

    /// A process starts on what the last one left.
    pub(in crate::call::gate) fn restart(&mut self) {
        self.on(Arc::new(self.memory.restarted()));
        self.real().broken = None;
        *self.shared.killed.lock().unwrap() = CancellationToken::new();
    }

    /// With the order of steps of a program that has a fault.
    pub(in crate::call::gate) async fn try_open_planted(&self) -> Result<Sequencer, Objection> {
        let mut sequencer = self.try_open().await?;
        sequencer.order = Order::ConsumedBeforeIntent;
        Ok(sequencer)
    }

    pub(in crate::call::gate) async fn try_open(&self) -> Result<Sequencer, Objection> {
        let shared = Arc::clone(&self.shared);
        let options = Options::new(
            self.directory.path().join("ledger.key"),
            Arc::new(move || shared.real().wall),
            "test-host".to_owned(),
            "0.1.0".to_owned(),
        );
        let random = Arc::clone(&options.random);
        let doubles = Doubles(Arc::clone(&self.shared));
        let ledger = Ledger::over(self.memory.clone(), None, options)
            .await
            .map_err(|error| Objection::Ledger(error.to_string()))?;
        Sequencer::open(Parts {
            ledger,
            rules: self.rules(),
            directory: Arc::new(doubles.clone()),
            redactor: self.redactor.clone(),
            clock: Arc::new(doubles),
            random,
            limits: self.limits,
        })
        .await
    }

    /// The tools and policies of this world as it is now.
    pub(in crate::call::gate) fn rules(&self) -> Rules {
        Rules { registry: Arc::clone(&self.registry), policy: Arc::clone(&self.policy) }
    }

    pub(in crate::call::gate) async fn open(&self) -> Sequencer {
        self.try_open().await.unwrap()
    }

    /// Asks for a write as the model does, with these people at hand.
    pub(in crate::call::gate) async fn ask(
        &self,
        sequencer: &Sequencer,
        approver: &dyn Approver,
        tool: &str,
        arguments: &str,
    ) -> ToolResult {
        let seen: Vec<&ToolResult> = self.seen.iter().collect();
        let so_far = SoFar { turns: 3, reads: 7, lines: vec!["c1 search_logs".to_owned()], ruled_out: Vec::new() };
        let gate = Gate::Open(Writes {
            sequencer,
            approver,
            seen: &seen,
            grounds: &self.grounds,
            contributors: &self.contributors,
            so_far: &so_far,
        });
        let desk = Desk {
            registry: &self.registry,
            services: &Shop,
            policy: &self.policy,
            redactor: &self.redactor,
            run: &self.run,
            evidence: &Shop,
            conduct: &AtOnce,
            recorder: &self.log as &dyn Recorder,
            gate,
            now: self.real().wall,
            cancel: &self.cancel,
        };
        carry_out(desk, &call(tool, arguments)).await
    }

    /// All records, as the kind and the values of their fields.
    pub(in crate::call::gate) fn records(&self) -> Vec<(String, BTreeMap<String, serde_json::Value>)> {
        self.rows().into_iter().map(|row| (row.kind.clone(), fields(&row))).collect()
    }

    pub(in crate::call::gate) fn rows(&self) -> Vec<Row> {
        self.memory.rows(Log::Writes)
    }

    /// The kinds of all records but the one that begins the log.
    pub(in crate::call::gate) fn kinds(&self) -> Vec<String> {
        self.rows().into_iter().skip(1).map(|row| row.kind).collect()
    }

    pub(in crate::call::gate) fn effects(&self) -> usize {
        self.real().effects.len()
    }
}

pub(in crate::call::gate) fn fields(row: &Row) -> BTreeMap<String, serde_json::Value> {
    let openings = row.openings.iter();
    openings.map(|it| (it.field.clone(), serde_json::from_str(&it.value).unwrap())).collect()
}
