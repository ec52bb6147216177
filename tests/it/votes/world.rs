//! A process that decides on writes, in this one: a real store, ledger and socket, and one write tool on a number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use warrant::app::SystemClock;
use warrant::app::sequencer::office::{self, Office};
use warrant::app::sequencer::socket::{Socket, path_beside};
use warrant::chat::terminal::approver::Attended;
use warrant_kernel::call::definition::{Definition, DefinitionFile, Definitions, LoadContext, Standing};
use warrant_kernel::call::execute::AtOnce;
use warrant_kernel::call::gate::approver::Approver;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::exhibit::SoFar;
use warrant_kernel::call::gate::grounds::Grounds;
use warrant_kernel::call::gate::sequencer::rules::Rules;
use warrant_kernel::call::gate::sequencer::shown::Limits;
use warrant_kernel::call::gate::sequencer::{Parts, Sequencer};
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::gate::{Gate, Writes};
use warrant_kernel::call::record::NotKept;
use warrant_kernel::call::registry::{Code, Registry};
use warrant_kernel::call::tool::{Arguments, Clock, EvidencePage, EvidencePages, Problem, ReadError, Services};
use warrant_kernel::call::write::{Effect, Held, Looking, Probed, Verdict, WriteError, WriteTool};
use warrant_kernel::call::{Desk, carry_out};
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::domain::event::{Call, Caller};
use warrant_kernel::domain::name::{CallId, EvidenceId, PersonId, RoleName, ServiceName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::plan::{ApprovalId, Facts, Plan, Preview};
use warrant_kernel::domain::result::{Origin, ToolResult};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes as MayWrite};
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::ledger::{Ledger, Options};
use warrant_kernel::people::People;
use warrant_kernel::policy::{Policy, PolicyText};
use warrant_kernel::redact::{RedactionKey, Redactor};

const TOOL: &str = r#"
name = "NAME"
version = 1
description = "Changes a number."
risk = "write"
roles = ["general-purpose"]
parallel_safe = false
timeout = "5s"
output = { max_chars = 4000, keep = "full" }
target = { kind = "service", arg = "service" }
side_effects = ["the number is another"]
run = "builtin"

[args.service]
type = "service"
required = true
description = "Whose."
"#;

/// `edit` is medium, `restart` high; whatever is done to `vault` takes two persons.
const POLICIES: &str = r#"
@id("may-write")
permit (principal in Role::"general-purpose", action in Action::"write", resource);
@id("medium-for-edits")
permit (principal, action == Action::"medium_suffices", resource) when { context.tool == Tool::"edit" };
@id("one-is-enough")
permit (principal, action == Action::"one_suffices", resource) unless { resource in Service::"vault" };
"#;

const APPROVALS: &str = include_str!("../../../policies/approvals.cedar");

const PEOPLE: &str = "
[ann]
groups = [\"oncall\"]
[ben]
groups = [\"oncall\"]
[cid]
groups = [\"oncall\", \"breakglass\"]
";

/// The number, which is all there is to change.
#[derive(Clone, Default)]
struct Number(Arc<AtomicU64>, Arc<AtomicBool>);

impl Number {
    fn facts(&self) -> Facts {
        Facts::from([("number".to_owned(), self.0.load(Ordering::SeqCst).to_string())])
    }
}

#[async_trait]
impl WriteTool for Number {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        Ok(Target {
            kind: TargetKind::Service,
            name: args.text("service").unwrap().to_owned(),
            service: args.service("service"),
            environment: None,
            owner: None,
            source: "numbers".parse().unwrap(),
        })
    }

    async fn preview(&self, _args: &Arguments, target: &Target, _looking: Looking<'_>) -> Result<Preview, WriteError> {
        Ok(Preview {
            effect: format!("counts {} up", target.name),
            bound: self.facts(),
            shown: Facts::new(),
            diff: Vec::new(),
            notes: Vec::new(),
            floor: None,
        })
    }

    async fn write(&self, warrant: Warrant, _looking: Looking<'_>) -> Result<Effect, WriteError> {
        let plan = warrant.spend();
        if plan.preview.bound != self.facts() {
            return Err(WriteError::Refused { reason: "CHANGED", message: "it is another by now".to_owned() });
        }
        self.0.fetch_add(1, Ordering::SeqCst);
        let output = Output::lines(Origin::Warrant, Map::new(), vec!["done".to_owned()]);
        Ok(Effect { after: self.facts(), side_effects: vec!["counted up".to_owned()], output, undo: None })
    }

    async fn probe(&self, _plan: &Plan, _looking: Looking<'_>) -> Probed {
        Probed::CantTell { because: "a number does not tell who counted".to_owned() }
    }

    async fn verify(&self, _plan: &Plan, effect: &Effect, _looking: Looking<'_>) -> Verdict {
        let backwards = self.1.load(Ordering::SeqCst);
        let (held, because) = if backwards { (Held::Failed, "it counts backwards") } else { (Held::Held, "it counts") };
        Verdict { held, because: because.to_owned(), facts: effect.after.clone() }
    }
}

struct Shop;

impl Services for Shop {
    fn names(&self) -> Vec<ServiceName> {
        ["checkout", "vault"].map(|name| name.parse().unwrap()).to_vec()
    }
}

#[async_trait]
impl EvidencePages for Shop {
    async fn page(&self, _evidence: EvidenceId, _from: u64, _count: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// The process, and what it decides on.
pub struct World {
    dir: TempDir,
    pub office: Arc<Office>,
    /// Whom the users of this machine are taken for.
    pub me: Arc<Mutex<Option<PersonId>>>,
    number: Number,
    registry: Arc<Registry>,
    policy: Arc<Policy>,
    redactor: Redactor,
    ledger: Ledger,
    cancel: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
    calls: AtomicU64,
}

impl World {
    /// Takes the lease and answers. No call waits for anything.
    pub async fn begin() -> Self {
        Self::with(Attended::default()).await
    }

    /// Takes the lease and answers, while calls wait for these.
    pub async fn with(attended: Attended) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store.db");
        std::fs::write(dir.path().join("warrant.toml"), format!("[store]\npath = \"{}\"\n", store.display())).unwrap();
        let database = Database::open(&store).await.unwrap();
        let now = Arc::new(|| SystemClock.now());
        let key = dir.path().join("store.db.key");
        let options = Options::new(key, now, "test".to_owned(), "0".to_owned());
        let random = Arc::clone(&options.random);
        let ledger = Ledger::open(&database, Lease::take(&store).unwrap(), options).await.unwrap();
        let number = Number::default();
        let definitions = definitions();
        let texts =
            [PolicyText { name: "own.cedar", text: POLICIES }, PolicyText { name: "approvals.cedar", text: APPROVALS }];
        let policy = Arc::new(Policy::load(&texts, definitions.iter().map(Definition::tool), &roles()).unwrap());
        let tool: Arc<dyn WriteTool> = Arc::new(number.clone());
        let code = ["edit", "restart"].map(|name| (name.parse().unwrap(), Code::Write(Arc::clone(&tool))));
        let registry = Arc::new(Registry::new(definitions, BTreeMap::from(code)).ok().unwrap());
        let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap();
        let sequencer = Sequencer::open(Parts {
            ledger: ledger.clone(),
            rules: Rules { registry: Arc::clone(&registry), policy: Arc::clone(&policy) },
            directory: Arc::new(People::new(toml::from_str(PEOPLE).unwrap()).unwrap()),
            redactor: redactor.clone(),
            clock: Arc::new(SystemClock),
            random,
            limits: Limits::standard(),
        });
        let me: Arc<Mutex<Option<PersonId>>> = Arc::default();
        let users = Arc::clone(&me);
        let office = Office::new(office::Parts {
            sequencer: Arc::new(sequencer.await.unwrap()),
            users: Arc::new(move |_uid| {
                let person = users.lock().unwrap().clone();
                Box::pin(async move { person })
            }),
            owner: rustix::process::geteuid().as_raw(),
            attended,
        });
        let cancel = CancellationToken::new();
        let answering = Arc::clone(&office);
        let answer = move |peer, token, ask| Arc::clone(&answering).answer(peer, token, ask);
        let serving = tokio::spawn(Socket::bind(&path_beside(&store)).unwrap().serve(answer, cancel.clone()));
        let calls = AtomicU64::new(0);
        Self { dir, office, me, number, registry, policy, redactor, ledger, cancel, serving, calls }
    }

    /// From here on the users of this machine are this person.
    pub fn i_am(&self, person: &str) {
        *self.me.lock().unwrap() = Some(person.parse().unwrap());
    }

    /// From here on they are nobody.
    pub fn i_am_nobody(&self) {
        *self.me.lock().unwrap() = None;
    }

    pub fn store(&self) -> PathBuf {
        self.dir.path().join("store.db")
    }

    /// How often the number was counted up.
    pub fn effects(&self) -> u64 {
        self.number.0.load(Ordering::SeqCst)
    }

    /// From here on nothing that is done brings about what it is for.
    pub fn fail(&self) {
        self.number.1.store(true, Ordering::SeqCst);
    }

    /// Asks for a write as a model does, on behalf of ann, with these people at hand.
    pub async fn ask(&self, tool: &str, service: &str, approver: &dyn Approver) -> ToolResult {
        let n = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let call = Call {
            id: CallId::nth(n),
            number: n,
            tool: tool.to_owned(),
            arguments: json!({ "service": service, "because": "it is too small", "evidence": [] }).to_string(),
            by: Caller::Model { turn: 1, provider_id: format!("p{n}") },
        };
        let run = run();
        let desk = Desk {
            registry: &self.registry,
            services: &Shop,
            policy: &self.policy,
            redactor: &self.redactor,
            run: &run,
            evidence: &Shop,
            conduct: &AtOnce,
            recorder: &NotKept,
            gate: Gate::Open(Writes {
                sequencer: self.office.sequencer(),
                approver,
                seen: &[],
                grounds: &Grounds::none(),
                contributors: &[],
                so_far: &SoFar::nothing(),
            }),
            now: SystemClock.now(),
            cancel: &CancellationToken::new(),
        };
        carry_out(desk, &call).await
    }

    pub async fn card(&self, n: u64) -> Card {
        self.office.sequencer().card(ApprovalId::nth(n)).await.unwrap()
    }

    /// The program, as another process of the same user.
    pub async fn warrant(&self, args: &[&str]) -> Ran {
        self.warrant_with(args, None).await
    }

    /// The program with a token.
    pub async fn warrant_with(&self, args: &[&str], token: Option<&str>) -> Ran {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_warrant"));
        command.args(args).env("WARRANT_CONFIG", self.dir.path().join("warrant.toml")).env("NO_COLOR", "1");
        command.env_remove("WARRANT_LOG").env_remove("WARRANT_TOKEN").stdin(Stdio::null()).kill_on_drop(true);
        command.envs(token.map(|token| ("WARRANT_TOKEN", token)));
        let output = command.output().await.unwrap();
        Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Lets go of the lease; what was begun ends first.
    pub async fn end(self) -> TempDir {
        self.cancel.cancel();
        self.serving.await.unwrap();
        self.office.close().await;
        self.ledger.shut().await;
        drop(self.office);
        self.dir
    }
}

/// How a process ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn roles() -> BTreeSet<RoleName> {
    ["explore", "general-purpose"].map(|role| role.parse().unwrap()).into()
}

fn definitions() -> Definitions {
    let texts = ["edit", "restart"].map(|name| (name, TOOL.replace("NAME", name)));
    let files = texts.iter().map(|(name, text)| DefinitionFile { name, text, standing: Standing::BuiltIn });
    Definitions::load(files, &LoadContext { http_sources: &BTreeSet::new(), roles: &roles() }).unwrap()
}

fn run() -> Run {
    let now = SystemClock.now();
    Run {
        investigation: "i-0001".parse().unwrap(),
        trigger: Trigger::Question { text: "count checkout and vault up".to_owned() },
        requester: Requester { person: "ann".parse().unwrap(), groups: vec!["oncall".to_owned()] },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Terminal,
        writes: MayWrite::Allowed,
        service: Some("checkout".parse().unwrap()),
        since: now - SignedDuration::from_mins(15),
        opened_at: now,
    }
}
