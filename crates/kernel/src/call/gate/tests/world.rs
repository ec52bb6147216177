//! A world that a test holds in its hand: what is really there, who is who, what time it is, and what breaks next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

use crate::call::definition::{Definition, DefinitionFile, Definitions, LoadContext, Standing as Source};
use crate::call::execute::AtOnce;
use crate::call::gate::approver::{Approver, Ballot};
use crate::call::gate::card::Card;
use crate::call::gate::exhibit::SoFar;
use crate::call::gate::grounds::Grounds;
use crate::call::gate::objection::Objection;
use crate::call::gate::sequencer::shown::Limits;
use crate::call::gate::sequencer::{Order, Parts, Sequencer};
use crate::call::gate::vote::{Claim, Claimant, Proof, Whole};
use crate::call::gate::warrant::Warrant;
use crate::call::gate::{Gate, Writes};
use crate::call::record::Recorder;
use crate::call::registry::{Code, Registry};
use crate::call::tests::call;
use crate::call::tool::{Arguments, Clock, EvidencePage, EvidencePages, Problem, ReadError, Services};
use crate::call::write::{Effect, Held, Looking, Probed, Verdict, WriteError, WriteTool};
use crate::call::{Desk, carry_out};
use crate::db::memory::Memory;
use crate::db::storage::{Log, Row};
use crate::domain::decision::Tier;
use crate::domain::name::{EvidenceId, PersonId, RoleName, ServiceName, ToolName};
use crate::domain::output::Output;
use crate::domain::plan::{ApprovalId, DiffLine, Facts, Plan, Preview, Proposal};
use crate::domain::result::{Origin, ToolResult};
use crate::domain::run::{Channel, Requester, Run, Trigger, Writes as MayWrite};
use crate::domain::target::{Target, TargetKind};
use crate::ledger::{Ledger, Options};
use crate::people::directory::{Directory, DirectoryError, Freshness, Standing};
use crate::policy::{Policy, PolicyText};
use crate::redact::{RedactionKey, Redactor};

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
const POLICIES: &str = r#"
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

pub(super) fn at(seconds: i64) -> Timestamp {
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
    fn new() -> Self {
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
    real: Mutex<Real>,
    killed: Mutex<CancellationToken>,
    disk: Mutex<Arc<Memory>>,
}

impl Shared {
    pub(in crate::call::gate) fn real(&self) -> MutexGuard<'_, Real> {
        self.real.lock().unwrap()
    }

    /// One step of the world; whether it fails.
    async fn step<T>(&self, does: impl FnOnce(&mut Real) -> T) -> Option<T> {
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

/// The clock, the directory and the write tools.
#[derive(Clone)]
struct Doubles(Arc<Shared>);

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
            let undo = Proposal { tool: plan.tool.clone(), arguments: Map::new(), why: "takes it back".to_owned() };
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
            if now == plan.preview.bound {
                Probed::DidNot { because: "it is as it was".to_owned() }
            } else {
                Probed::Took { after: now, because: "it is another".to_owned() }
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

/// What people at hand do when they see a card.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Approve(&'static str),
    Deny(&'static str, &'static str),
    BreakGlass(&'static str, &'static str),
}

/// People at hand, and what came of their answers.
#[derive(Default)]
pub(super) struct AtHand {
    pub(super) answers: Vec<Answer>,
    pub(super) cards: Mutex<Vec<Card>>,
    pub(super) heard: Mutex<Vec<Result<(), Objection>>>,
}

impl AtHand {
    pub(super) fn who(answers: impl Into<Vec<Answer>>) -> Self {
        Self { answers: answers.into(), ..Self::default() }
    }

    pub(super) fn card(&self) -> Card {
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
            registry: Arc::clone(&self.registry),
            policy: Arc::clone(&self.policy),
            directory: Arc::new(doubles.clone()),
            redactor: self.redactor.clone(),
            clock: Arc::new(doubles),
            random,
            limits: self.limits,
        })
        .await
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
pub(super) fn told(result: &ToolResult) -> (String, String) {
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
