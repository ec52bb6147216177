//! What the seven stages cost on a read of 12 kB, with the shipped tools and policies: no source, no store. Beside it the
//! store's write of the same call.
//!
//! `cargo bench --bench stages [-- CALLS]`. On a busy machine the tail is the machine's; compare minima and medians, and
//! take the best of the rounds.

#![expect(clippy::unwrap_used, reason = "a bench that fails should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use warrant::app::builtin;
use warrant::config::ROLES;
use warrant_kernel::call::definition::{Definition, DefinitionFile, Definitions, LoadContext, Standing};
use warrant_kernel::call::execute::AtOnce;
use warrant_kernel::call::gate::Gate;
use warrant_kernel::call::record::{NotKept, Recorder};
use warrant_kernel::call::registry::Registry;
use warrant_kernel::call::tool::{
    Arguments, EvidencePage, EvidencePages, Problem, ReadError, ReadTool, Reading, Services,
};
use warrant_kernel::call::{Desk, carry_out};
use warrant_kernel::db::Database;
use warrant_kernel::domain::decision::{Decision, Risk};
use warrant_kernel::domain::event::{Answered, Body, Call, Caller};
use warrant_kernel::domain::name::{CallId, EvidenceId, RoleName, ServiceName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::{Origin, ToolResult};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::policy::{Policy, PolicyText, Question};
use warrant_kernel::redact::{KnownSecret, RedactionKey, Redactor};
use warrant_kernel::store::capture::Captured;
use warrant_kernel::store::{Store, numbered};

const ROUNDS: usize = 5;

/// Brings the same output every time.
struct InMemory(Output);

#[async_trait]
impl ReadTool for InMemory {
    fn resolve(&self, _args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        Ok(target())
    }

    async fn read(&self, _args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        Ok(self.0.clone())
    }
}

struct OneService;

impl Services for OneService {
    fn names(&self) -> Vec<ServiceName> {
        vec!["checkout".parse().unwrap()]
    }
}

struct NoPages;

#[async_trait]
impl EvidencePages for NoPages {
    async fn page(&self, _evidence: EvidenceId, _from: u64, _count: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// Holds what one call hands to the store.
#[derive(Default)]
struct Held {
    bodies: Mutex<Vec<Body>>,
    whole: Mutex<Option<Captured>>,
}

#[async_trait]
impl Recorder for Held {
    async fn decided(&self, decision: &Decision) {
        self.bodies.lock().unwrap().push(Body::Decided { decision: decision.clone() });
    }

    async fn answered(&self, _call: &Call, result: &ToolResult, whole: Option<Captured>) {
        self.bodies.lock().unwrap().push(Body::Answered(Answered::Read { result: Box::new(result.clone()) }));
        *self.whole.lock().unwrap() = whole;
    }
}

fn target() -> Target {
    Target {
        kind: TargetKind::Service,
        name: "checkout".to_owned(),
        service: Some("checkout".parse().unwrap()),
        environment: Some("production".parse().unwrap()),
        owner: Some("ann".parse().unwrap()),
        source: "files:checkout".parse().unwrap(),
    }
}

/// Log lines of 12 kB in all, one of them with a password.
fn log_lines() -> Vec<String> {
    let mut lines = Vec::new();
    let mut size = 0;
    while size < 11_600 {
        let n = lines.len();
        let mut line = format!("2026-03-01T11:{:02}:{:02}.{:03}Z ", n / 60 % 60, n % 60, n * 37 % 1000);
        let _written = match n % 4 {
            0 => write!(line, "INFO GET /cart/{n} 200 in {} ms trace=4bf92f3577b34da6a3ce929d0e0e{n:04}", n * 7 % 90),
            1 => write!(line, "WARN pool wait {} ms, 10 of 10 connections in use, {n} waiting", n * 31 % 900),
            2 if n == 50 => write!(line, "ERROR can't connect to postgres://shop:hunter2-{n}@db:5432/shop: refused"),
            2 => write!(line, "ERROR timeout after 3000 ms: payments answered nothing (attempt {})", n % 3),
            _ => write!(line, "INFO order {n} placed by customer {}, total {}.99 EUR", n * 13, n % 80),
        };
        size += line.len() + 3;
        lines.push(line);
    }
    lines
}

fn output(rows: &str) -> Output {
    let lines = log_lines();
    let mut summary = Map::new();
    summary.insert("service".to_owned(), json!("checkout"));
    summary.insert("records".to_owned(), json!(lines.len()));
    if rows == "lines" {
        return Output::lines(Origin::Log, summary, lines);
    }
    let items = lines.iter().enumerate().map(|(n, line)| json!({ "at": n, "level": "info", "message": line, "n": 1 }));
    let mut items: Vec<Value> = items.collect();
    items.truncate(lines.len() * 2 / 3);
    Output::items(Origin::Log, summary, "records", items)
}

fn registry(output: &Output) -> (Registry, Policy) {
    let roles: BTreeSet<RoleName> = ROLES.iter().map(|role| role.parse().unwrap()).collect();
    let files = || builtin::TOOLS.iter().map(|(name, text)| DefinitionFile { name, text, standing: Standing::BuiltIn });
    let context = LoadContext { http_sources: &BTreeSet::new(), roles: &roles };
    let mut definitions = Definitions::load(files(), &context).unwrap();
    definitions.without(|tool| tool.risk != Risk::Read);
    let texts: Vec<PolicyText<'_>> = builtin::POLICIES.iter().map(|(name, text)| PolicyText { name, text }).collect();
    let policy = Policy::load(&texts, definitions.iter().map(Definition::tool), &roles).unwrap();
    let code: BTreeMap<_, Arc<dyn ReadTool>> = definitions
        .iter()
        .map(|definition| (definition.tool().name.clone(), Arc::new(InMemory(output.clone())) as Arc<dyn ReadTool>))
        .collect();
    (Registry::new(definitions, code).unwrap_or_else(|_| std::process::abort()), policy)
}

/// Minimum, median and 99th percentile in microseconds of the best of the rounds.
fn report(what: &str, mut rounds: Vec<Vec<Duration>>) {
    let figures = rounds.iter_mut().map(|times| {
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).unwrap().as_secs_f64() * 1e6;
        (at(0), at(50), at(99))
    });
    let (least, median, tail) = figures.min_by(|a, b| a.2.total_cmp(&b.2)).unwrap();
    println!("{what:<44} min {least:>8.1} µs   p50 {median:>8.1} µs   p99 {tail:>8.1} µs");
}

fn measure(what: &str, calls: usize, mut one: impl FnMut()) {
    (0..calls / 10).for_each(|_| one());
    let round = |one: &mut dyn FnMut()| {
        let time = |()| {
            let began = Instant::now();
            one();
            began.elapsed()
        };
        std::iter::repeat_n((), calls / ROUNDS).map(time).collect()
    };
    report(what, (0..ROUNDS).map(|_| round(&mut one)).collect());
}

fn main() {
    let calls: usize = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(20_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let known = [KnownSecret::new("api_key", "our-own-key-for-the-model-1")];
    let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), known).unwrap();
    let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let run = Run {
        investigation: "0195500000007000800000000000cafe".parse().unwrap(),
        trigger: Trigger::Question { text: "why is checkout slow".to_owned() },
        requester: Requester { person: "ann".parse().unwrap(), groups: vec!["sre".to_owned()] },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: Some("checkout".parse().unwrap()),
        since: now,
        opened_at: now,
    };
    let call = Call {
        id: CallId::nth(1),
        number: 1,
        tool: "search_logs".to_owned(),
        arguments: r#"{"service": "checkout", "pattern": "timeout|refused", "since": "15m ago", "limit": 200}"#
            .to_owned(),
        by: Caller::Person,
    };
    let cancel = CancellationToken::new();
    for rows in ["lines", "records"] {
        let output = output(rows);
        let (registry, policy) = registry(&output);
        let desk = |recorder| Desk {
            registry: &registry,
            services: &OneService,
            policy: &policy,
            redactor: &redactor,
            run: &run,
            evidence: &NoPages,
            conduct: &AtOnce,
            recorder,
            gate: Gate::ReadsOnly,
            now,
            cancel: &cancel,
        };
        let held = Held::default();
        let first = runtime.block_on(carry_out(desk(&held), &call));
        assert!(first.ok, "{first:?}");
        println!("{} of {rows}: {} characters of data", output.rows.len(), first.meta.output_chars);
        measure("  all seven stages", calls, || {
            black_box(runtime.block_on(carry_out(desk(&NotKept), &call)));
        });
        measure("  of which: handing over the output", calls, || drop(black_box(output.clone())));
        parts(calls, &redactor, &policy, &registry, &run, &output, now);
        runtime.block_on(store(calls.min(5_000), &run, &held));
    }
}

/// The two costly stages by themselves.
fn parts(
    calls: usize,
    redactor: &Redactor,
    policy: &Policy,
    registry: &Registry,
    run: &Run,
    output: &Output,
    now: Timestamp,
) {
    use warrant_kernel::domain::output::Rows;

    let args = json!({
        "service": "checkout", "pattern": "timeout|refused", "since": "2026-03-01T11:45:00Z", "limit": 200,
        "ignore_case": false, "level": "any", "order": "newest",
    });
    let args = args.as_object().unwrap();
    let (tool, target) = (registry.get("search_logs").unwrap().about(), target());
    measure("  of which: policy", calls, || {
        black_box(policy.decide(&Question { run, tool, target: &target, args, now }));
    });
    measure("  of which: masking the rows", calls, || match &output.rows {
        Rows::Lines(lines) => drop(black_box(redactor.redact_lines(lines).unwrap())),
        Rows::Items(items) => drop(black_box(redactor.redact_rows(items).unwrap())),
    });
}

/// The store's write of one call: its decision, its result and the whole output, in one transaction.
async fn store(calls: usize, run: &Run, held: &Held) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Database::open(&directory.path().join("warrant.db")).await.unwrap());
    store.open_investigation(run, &[7; 32]).await.unwrap();
    let bodies = held.bodies.lock().unwrap().clone();
    let whole = held.whole.lock().unwrap().clone().unwrap();
    let mut last = 0;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let mut times = Vec::new();
        for _ in 0..calls / ROUNDS {
            let events = numbered(last, run.opened_at, bodies.clone());
            last += events.len() as u64;
            let whole = Captured { evidence: EvidenceId::nth(last), ..whole.clone() };
            let began = Instant::now();
            store.append(&run.investigation, &events, Some(&whole)).await.unwrap();
            times.push(began.elapsed());
        }
        rounds.push(times);
    }
    report("beside it: the store's write", rounds);
    store.close().await;
}
