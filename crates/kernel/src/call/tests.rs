//! One call from end to end: what each way to fail is told as, that ended work ends, and what stands in the envelope.
//!
//! A [`Scene`] is a desk with one tool, `look`, in three definitions.

mod refusals;

mod work;

mod envelope;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::call::definition::{Definition, DefinitionFile, Definitions, LoadContext, Standing};
use crate::call::execute::AtOnce;
use crate::call::gate::Gate;
use crate::call::record::Recorder;
use crate::call::registry::{Code, Registry};
use crate::call::tool::{Arguments, EvidencePage, EvidencePages, Problem, ReadError, ReadTool, Reading, Services};
use crate::call::{Desk, carry_out};
use crate::domain::decision::Decision;
use crate::domain::event::{Call, Caller};
use crate::domain::name::{CallId, EvidenceId, RoleName, ServiceName};
use crate::domain::output::Output;
use crate::domain::result::{Origin, ToolResult};
use crate::domain::run::{Channel, Requester, Run, Trigger, Writes};
use crate::domain::target::{Target, TargetKind};
use crate::policy::{Policy, PolicyText};
use crate::redact::{RedactionKey, Redactor};
use crate::store::capture::Captured;

const SHIPPED: &str = include_str!("../../../../policies/reads.cedar");

const LOOK: &str = r#"
name = "look"
version = 1
description = "Looks."
risk = "read"
roles = ["explore", "general-purpose"]
parallel_safe = true
timeout = "20s"
output = { max_chars = 600, keep = "head_tail" }
target = { kind = "service", arg = "service" }
run = "builtin"

[args.service]
type = "service"
required = true
description = "Which."

[args.since]
type = "time"
default = "15m ago"
description = "Begin."

[args.limit]
type = "int"
min = 1
max = 1000
default = 200
description = "Most rows."

[args.level]
type = "enum"
values = ["error", "warn"]
description = "Level."
"#;

pub(in crate::call) fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// A tool that answers at once, with a function.
pub(in crate::call) struct Says<F>(pub(in crate::call) F);

#[async_trait]
impl<F: Fn() -> Result<Output, ReadError> + Send + Sync> ReadTool for Says<F> {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        Ok(target(args))
    }

    async fn read(&self, _args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        (self.0)()
    }
}

fn target(args: &Arguments) -> Target {
    Target {
        kind: TargetKind::Service,
        name: args.text("service").unwrap().to_owned(),
        service: args.service("service"),
        environment: Some("production".parse().unwrap()),
        owner: None,
        source: "files:shop".parse().unwrap(),
    }
}

/// Output of these lines.
pub(in crate::call) fn lines<T: ToString>(lines: impl IntoIterator<Item = T>) -> Output {
    let summary = Map::from_iter([("service".to_owned(), json!("checkout"))]);
    Output::lines(Origin::Log, summary, lines.into_iter().map(|line| line.to_string()).collect())
}

/// What was recorded, in order.
#[derive(Default)]
pub(in crate::call) struct Log {
    pub(in crate::call) decisions: Mutex<Vec<Decision>>,
    pub(in crate::call) results: Mutex<Vec<ToolResult>>,
    pub(in crate::call) wholes: Mutex<Vec<Captured>>,
}

#[async_trait]
impl Recorder for Log {
    async fn decided(&self, decision: &Decision) {
        self.decisions.lock().unwrap().push(decision.clone());
    }

    async fn answered(&self, _call: &Call, result: &ToolResult, whole: Option<Captured>) {
        self.results.lock().unwrap().push(result.clone());
        self.wholes.lock().unwrap().extend(whole);
    }
}

struct Shop;

impl Services for Shop {
    fn names(&self) -> Vec<ServiceName> {
        ["checkout", "payments"].map(|name| name.parse().unwrap()).to_vec()
    }
}

struct NoPages;

#[async_trait]
impl EvidencePages for NoPages {
    async fn page(&self, _evidence: EvidenceId, _from: u64, _count: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// All that a call needs.
pub(in crate::call) struct Scene {
    registry: Registry,
    policy: Policy,
    pub(in crate::call) redactor: Redactor,
    pub(in crate::call) run: Run,
    pub(in crate::call) log: Arc<Log>,
    pub(in crate::call) cancel: CancellationToken,
}

impl Scene {
    /// `look`; `wide`, which only general-purpose sees; `brief`, which is ended after 50 ms.
    pub(in crate::call) fn new(tool: impl ReadTool + 'static) -> Self {
        Self::with(tool, "max_chars = 600, keep = \"head_tail\"", SHIPPED)
    }

    pub(in crate::call) fn with(tool: impl ReadTool + 'static, output: &str, policies: &str) -> Self {
        let look = LOOK.replace("max_chars = 600, keep = \"head_tail\"", output);
        let wide = look.replace("\"look\"", "\"wide\"").replace("\"explore\", ", "");
        let brief = look.replace("\"look\"", "\"brief\"").replace("20s", "50ms");
        let texts = [("look.toml", look), ("wide.toml", wide), ("brief.toml", brief)];
        let files = texts.iter().map(|(name, text)| DefinitionFile { name, text, standing: Standing::BuiltIn });
        let roles: BTreeSet<RoleName> = ["explore", "general-purpose"].map(|role| role.parse().unwrap()).into();
        let context = LoadContext { http_sources: &BTreeSet::new(), roles: &roles };
        let definitions = Definitions::load(files, &context).unwrap();
        let policies = [PolicyText { name: "p.cedar", text: policies }];
        let policy = Policy::load(&policies, definitions.iter().map(Definition::tool), &roles).unwrap();
        let tool: Arc<dyn ReadTool> = Arc::new(tool);
        let code = definitions.iter().map(|found| (found.tool().name.clone(), Code::Read(Arc::clone(&tool))));
        let code: BTreeMap<_, _> = code.collect();
        Self {
            registry: Registry::new(definitions, code).ok().unwrap(),
            policy,
            redactor: Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap(),
            run: run(),
            log: Arc::default(),
            cancel: CancellationToken::new(),
        }
    }

    pub(in crate::call) fn desk(&self) -> Desk<'_> {
        Desk {
            registry: &self.registry,
            services: &Shop,
            policy: &self.policy,
            redactor: &self.redactor,
            run: &self.run,
            evidence: &NoPages,
            conduct: &AtOnce,
            recorder: self.log.as_ref(),
            gate: Gate::ReadsOnly,
            now: now(),
            cancel: &self.cancel,
        }
    }

    pub(in crate::call) async fn call(&self, tool: &str, arguments: &str) -> ToolResult {
        carry_out(self.desk(), &call(tool, arguments)).await
    }

    /// Calls `look` on a service that is there.
    pub(in crate::call) async fn look(&self) -> ToolResult {
        self.call("look", GOOD).await
    }

    pub(in crate::call) fn decisions(&self) -> Vec<Decision> {
        self.log.decisions.lock().unwrap().clone()
    }
}

pub(in crate::call) const GOOD: &str = r#"{"service": "checkout"}"#;

pub(in crate::call) fn call(tool: &str, arguments: &str) -> Call {
    let by = Caller::Model { turn: 1, provider_id: "p1".to_owned() };
    Call { id: CallId::nth(7), number: 7, tool: tool.to_owned(), arguments: arguments.to_owned(), by }
}

pub(in crate::call) fn run() -> Run {
    Run {
        investigation: "i-0001".parse().unwrap(),
        trigger: Trigger::Question { text: "why".to_owned() },
        requester: Requester { person: "ann".parse().unwrap(), groups: Vec::new() },
        role: "explore".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: None,
        since: now(),
        opened_at: now(),
    }
}

/// Status, code, reason and message, as JSON.
fn told(result: &ToolResult) -> Value {
    json!({ "status": result.status, "error": result.error })
}
