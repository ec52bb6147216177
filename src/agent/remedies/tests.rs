//! What remedies of matched runbooks name, from evidence alone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};
use warrant_kernel::domain::event::{Answered, Asked, Body, Budgets, Call, Caller, Event};
use warrant_kernel::domain::name::{CallId, EvidenceId};
use warrant_kernel::domain::result::{Meta, Origin, Status, ToolResult};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::store::numbered;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;

use super::matched;
use crate::agent::report::established::ruled_out;
use crate::agent::state::State;

const RUNBOOK: &str = r#"+++
title = "Pool"
[changes]
keys = ["pool"]

[[checks]]
id = "waits"
tool = "scrape_metrics"
args = { service = "{service}", match = "waiting" }
expect = { at = "/highest/value", is = "gt", value = 0 }
means = "callers wait"
rules_out = "nobody waits"
mechanism = true

[[remedies]]
do = "Take the change back"
when = "waits"
tool = "edit_config"
args = { path = "{change.path}", old_string = "{change.line_now}", new_string = "{change.line_before}" }
then = [{ do = "Restart it", tool = "restart_service", args = { service = "{service}" } }]
lesser = [{ do = "Override it", tool = "edit_temp_config", args = { path = "{override.path}", old_string = "{override.line_now}", new_string = "{override.line_wanted}" } }]
+++
"#;

fn catalog() -> Catalog {
    let service = r#"{ files = [{ workspace = "etc", path = "orders.toml" }], temp_files = [{ workspace = "run", path = "orders.toml" }] }"#;
    let services = toml::from_str(&format!("orders = {service}\nbilling = {service}")).unwrap();
    let sources = "[workspaces]\netc = { dir = \"/srv/etc\" }\nrun = { dir = \"/run/x\" }\n[repositories]\nconfig = { dir = \"/srv/etc\" }";
    Catalog::new(services, toml::from_str(sources).unwrap()).unwrap()
}

/// A state in which these calls brought these data.
pub fn state(calls: &[(&str, Value, Value)]) -> State {
    let at: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let run = Run {
        investigation: "i".parse().unwrap(),
        trigger: Trigger::Alert { name: "A".to_owned(), text: "billing fails".to_owned() },
        requester: Requester { person: "ann".parse().unwrap(), groups: Vec::new() },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Allowed,
        service: Some("orders".parse().unwrap()),
        since: at,
        opened_at: at,
    };
    let budgets = Budgets { turns: 9, wall_s: 99, tokens: 9, cost: None, calls_per_turn: 9, context_chars: 99_999 };
    let opened = Body::Opened { run: Box::new(run), budgets, models: Vec::new(), version: String::new() };
    let mut bodies = vec![opened];
    for (number, (tool, args, data)) in (1..).zip(calls) {
        let id = CallId::nth(number);
        let call =
            Call { id: id.clone(), number, tool: (*tool).to_owned(), arguments: args.to_string(), by: Caller::Sweep };
        let meta = Meta {
            source: None,
            origin: Origin::Metric,
            fields: BTreeMap::new(),
            lines_returned: 0,
            lines_matched: None,
            duration_ms: 0,
            output_chars: 0,
            redactions: 0,
            cached: false,
            captured: true,
            side_effects: Vec::new(),
            trace_reason: None,
        };
        let result = ToolResult {
            call_id: id,
            tool: (*tool).to_owned(),
            status: Status::Ok,
            ok: true,
            evidence: Some(EvidenceId::nth(number)),
            data: data.clone(),
            truncated: false,
            error: None,
            hint: None,
            meta,
        };
        bodies.push(Body::Asked(Asked::Read { call }));
        bodies.push(Body::Answered(Answered::Read { result: Box::new(result) }));
    }
    let events: Vec<Event> = numbered(0, at, bodies);
    State::fold(&events).unwrap()
}

fn scraped(service: &str, waiting: u32) -> (&'static str, Value, Value) {
    ("scrape_metrics", json!({ "service": service, "match": "waiting" }), json!({ "highest": { "value": waiting } }))
}

fn changed() -> (&'static str, Value, Value) {
    let row = json!({ "kind": "commit", "at": "2026-03-01T11:59:00Z", "service": "orders", "repository": "config",
        "file": "orders.toml", "line": 2, "key": "pool.max", "before": ["max = 20"], "after": ["max = 2"] });
    ("recent_changes", json!({}), json!({ "changes": [row] }))
}

fn read(path: &str, rows: &[&str]) -> (&'static str, Value, Value) {
    ("read_file", json!({ "path": path }), json!({ "lines": rows }))
}

fn told(calls: &[(&str, Value, Value)]) -> Vec<String> {
    let library = Library::load(&[("pool.md", RUNBOOK)], &[]);
    assert!(library.problems().is_empty(), "{:?}", library.problems());
    let remedies = matched(&state(calls), &catalog(), &library);
    remedies.iter().map(|it| format!("{}: {} {}", it.runbook, it.tool, Value::Object(it.arguments.clone()))).collect()
}

#[test]
fn a_runbook_matches_where_its_mechanism_held_and_its_remedy_is_filled_from_what_was_read() {
    let calls = [
        scraped("orders", 3),
        scraped("billing", 0),
        changed(),
        read("etc:orders.toml", &["1| [pool]", "2| max = 2", "3| idle_max = 2"]),
        read("run:orders.toml", &["1| # overrides"]),
    ];
    assert_eq!(
        told(&calls),
        [
            r#"pool: edit_config {"new_string":"[pool]\nmax = 20","old_string":"[pool]\nmax = 2","path":"etc:orders.toml"}"#,
            r#"pool: restart_service {"service":"orders"}"#,
            "pool: edit_temp_config {\"new_string\":\"# overrides\\npool.max = 20\",\"old_string\":\"# overrides\",\"path\":\"run:orders.toml\"}",
        ]
    );
}

#[test]
fn a_remedy_is_no_ground_where_nothing_held_or_nothing_was_read() {
    assert_eq!(told(&[scraped("orders", 0), changed()]), Vec::<String>::new());
    // What an alert's text names is nobody's word.
    assert_eq!(told(&[scraped("billing", 0)]), Vec::<String>::new());
    assert_eq!(told(&[scraped("orders", 3), changed()]), [r#"pool: restart_service {"service":"orders"}"#]);
}

#[test]
fn what_checks_rule_out_stands_with_its_evidence() {
    let library = Library::load(&[("pool.md", RUNBOOK)], &[]);
    let lines = ruled_out(&state(&[scraped("billing", 0), scraped("orders", 7)]), &library);
    assert_eq!(lines, ["E1 billing: nobody waits"]);
}
