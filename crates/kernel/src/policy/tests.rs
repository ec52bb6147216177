//! What the shipped policies decide, what does not load, and the laws.

mod deciding;

mod loading;

mod standing;

mod writing;

mod laws;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::domain::decision::Risk;
use crate::domain::name::RoleName;
use crate::domain::run::{Channel, Requester, Run, Trigger, Writes};
use crate::domain::target::{Target, TargetKind};
use crate::domain::tool::{ArgSpec, ArgType, Keep, OutputPolicy, TargetSpec, ToolDefinition, ToolRun};

use super::{Policy, PolicyText, Question, Ruling};

const SHIPPED: [PolicyText<'static>; 3] = [
    PolicyText { name: "policies/approvals.cedar", text: include_str!("../../../../policies/approvals.cedar") },
    PolicyText { name: "policies/reads.cedar", text: include_str!("../../../../policies/reads.cedar") },
    PolicyText { name: "policies/writes.cedar", text: include_str!("../../../../policies/writes.cedar") },
];
const CASES: &str = include_str!("../../../../policies/tests.toml");

fn roles() -> BTreeSet<RoleName> {
    ["explore", "general-purpose", "intern"].into_iter().map(|role| role.parse().unwrap()).collect()
}

fn arg(kind: ArgType, required: bool, default: Option<Value>) -> ArgSpec {
    ArgSpec { kind, description: "x".to_owned(), required, default, min: None, max: None, values: Vec::new() }
}

fn tool(name: &str, risk: Risk, kind: TargetKind, args: &[(&str, ArgSpec)]) -> ToolDefinition {
    ToolDefinition {
        name: name.parse().unwrap(),
        version: 1,
        description: "x".to_owned(),
        args: args.iter().map(|(name, spec)| ((*name).to_owned(), spec.clone())).collect::<BTreeMap<_, _>>(),
        risk,
        tier_floor: None,
        roles: roles().into_iter().collect(),
        parallel_safe: true,
        timeout: Duration::from_secs(1),
        output: OutputPolicy { max_chars: 1_000, keep: Keep::Full },
        cache: Duration::ZERO,
        target: TargetSpec { kind, arg: None },
        side_effects: Vec::new(),
        run: ToolRun::Builtin,
        examples: Vec::new(),
    }
}

fn tools() -> Vec<ToolDefinition> {
    let search = [
        ("service", arg(ArgType::Service, true, None)),
        ("pattern", arg(ArgType::Regex, false, None)),
        ("since", arg(ArgType::Time, false, Some(json!("15m ago")))),
        ("window", arg(ArgType::Duration, false, None)),
        ("limit", arg(ArgType::Int, false, Some(json!(200)))),
    ];
    let edit = [("path", arg(ArgType::Path, true, None)), ("new_string", arg(ArgType::Text, true, None))];
    let silence = [("service", arg(ArgType::Service, true, None)), ("duration", arg(ArgType::Duration, true, None))];
    vec![
        tool("search_logs", Risk::Read, TargetKind::Service, &search),
        tool("read_file", Risk::Read, TargetKind::Path, &[("path", arg(ArgType::Path, true, None))]),
        tool("restart_service", Risk::Write, TargetKind::Service, &[("service", arg(ArgType::Service, true, None))]),
        tool("edit_config", Risk::Write, TargetKind::Path, &edit),
        tool("edit_temp_config", Risk::Write, TargetKind::Path, &edit),
        tool("restore_config", Risk::Write, TargetKind::Path, &edit[..1]),
        tool("create_silence", Risk::Write, TargetKind::Service, &silence),
        tool("drain_node", Risk::Write, TargetKind::Source, &[("node", arg(ArgType::Label, true, None))]),
        tool("run_shell", Risk::Shell, TargetKind::Source, &[]),
        tool("fetch", Risk::Network, TargetKind::Source, &[]),
        tool("unknown_power", Risk::Dangerous, TargetKind::Source, &[]),
    ]
}

fn policy(more: &[PolicyText<'_>]) -> Policy {
    let texts: Vec<PolicyText<'_>> = SHIPPED.iter().chain(more).copied().collect();
    Policy::load(&texts, &tools(), &roles()).unwrap()
}

fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn run(role: &str) -> Run {
    Run {
        investigation: "i1".parse().unwrap(),
        trigger: Trigger::Question { text: "why".to_owned() },
        requester: Requester { person: "ann@example.org".parse().unwrap(), groups: vec!["sre".to_owned()] },
        role: role.parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: Some("checkout".parse().unwrap()),
        since: now(),
        opened_at: now(),
    }
}

fn service(name: &str, environment: &str) -> Target {
    Target {
        kind: TargetKind::Service,
        name: name.to_owned(),
        service: Some(name.parse().unwrap()),
        environment: Some(environment.parse().unwrap()),
        owner: None,
        source: "files:shop".parse().unwrap(),
    }
}

fn path(name: &str) -> Target {
    Target {
        kind: TargetKind::Path,
        name: name.to_owned(),
        service: None,
        environment: None,
        owner: None,
        source: "shop".parse().unwrap(),
    }
}

fn args(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("not an object") };
    map
}

fn search_args() -> Map<String, Value> {
    args(json!({"service": "checkout", "since": "2026-03-01T11:45:00Z", "limit": 200}))
}

fn decide(policy: &Policy, run: &Run, tool: &str, target: &Target, args: &Map<String, Value>) -> Ruling {
    let tools = tools();
    let tool = tools.iter().find(|known| known.name.as_str() == tool).unwrap();
    policy.decide(&Question { run, tool, target, args, now: now() })
}
