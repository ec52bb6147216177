//! One message says where it stands, whatever came in.

use proptest::prelude::*;
use serde_json::{Value, json};
use warrant_kernel::domain::event::{Answered, Asked, Body, Budgets, Call, Caller, Event};
use warrant_kernel::domain::name::{CallId, EvidenceId};
use warrant_kernel::domain::result::{CallError, ErrorCode, Meta, Origin, ToolResult};
use warrant_kernel::domain::run::Run as Investigation;

use super::*;
use crate::chat::slack::blocks::refuse;
use crate::chat::slack::blocks::sketch::sketch;
use crate::chat::slack::escape::tests::hostile;
use crate::chat::slack::report::tests::run;

pub(in crate::chat::slack) fn opened(run: Investigation) -> Body {
    let budgets =
        Budgets { turns: 20, wall_s: 900, tokens: 200_000, cost: None, calls_per_turn: 8, context_chars: 1000 };
    Body::Opened { run: Box::new(run), budgets, models: vec!["m".to_owned()], version: "1".to_owned() }
}

pub(in crate::chat::slack) fn asked(n: u64, tool: &str, arguments: &str) -> Body {
    let call = Call {
        id: CallId::nth(n),
        number: n,
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        by: Caller::Sweep,
    };
    Body::Asked(Asked::Read { call })
}

/// A read that found this.
pub(in crate::chat::slack) fn found(n: u64, data: Value) -> Body {
    let mut body = answered(n, Status::Ok, 1);
    if let Body::Answered(Answered::Read { result }) = &mut body {
        result.data = data;
    }
    body
}

fn answered(n: u64, status: Status, rows: u64) -> Body {
    let ok = status == Status::Ok;
    let error = CallError { code: ErrorCode::BackendError, reason: None, message: "no".to_owned(), retryable: false };
    let result = ToolResult {
        call_id: CallId::nth(n),
        tool: "search_logs".to_owned(),
        status,
        ok,
        evidence: ok.then(|| EvidenceId::nth(n)),
        data: Value::Null,
        truncated: rows > 100,
        error: (!ok).then_some(error),
        hint: None,
        meta: Meta {
            source: None,
            origin: Origin::Log,
            fields: std::collections::BTreeMap::new(),
            lines_returned: rows,
            lines_matched: None,
            duration_ms: 3,
            output_chars: 10,
            redactions: 0,
            cached: false,
            captured: true,
            side_effects: Vec::new(),
            trace_reason: None,
        },
    };
    Body::Answered(Answered::Read { result: Box::new(result) })
}

pub(in crate::chat::slack) fn event(seq: u64, body: Body) -> Event {
    let at = format!("2026-01-31T12:00:{:02}Z", (seq - 1).min(59)).parse().unwrap();
    Event { seq, at, schema: 3, body }
}

pub(in crate::chat::slack) fn state(bodies: Vec<Body>) -> State {
    let events: Vec<Event> = (1..).zip(bodies).map(|(seq, body)| event(seq, body)).collect();
    State::fold(&events).unwrap()
}

fn shown(state: &State) -> String {
    let value = render(state).value();
    assert_eq!(refuse::message(&value), Vec::<String>::new());
    sketch(&value)
}

#[test]
fn an_investigation_under_way() {
    let mut bodies = vec![opened(run())];
    insta::assert_snapshot!(shown(&state(bodies.clone())), @r"
    notice: Investigating · checkout
    # Investigating · checkout
    *Asked*
    > why is checkout <slow>? ＠here
    *Now*  _the model thinks, turn 1_
    *Spent*  _0 of 20 turns · 0ms of 15m · 0 of 200000 tokens_
    *Evidence so far*  _0 pieces_
    (investigation 0190a1b2-c3d4 | answer in this thread to steer it; “stop” ends it)
    ");
    for n in 1..=11 {
        bodies.push(asked(n, "search_logs", r#"{"service":"checkout","pattern":"<!channel>"}"#));
        let status = if n == 5 { Status::Timeout } else { Status::Ok };
        bodies.push(answered(n, status, n * 20));
    }
    for n in 12..=17 {
        bodies.push(asked(n, "query_metrics", r#"{"query":"up"}"#));
    }
    insta::assert_snapshot!(shown(&state(bodies)), @r"
    notice: Investigating · checkout
    # Investigating · checkout
    *Asked*
    > why is checkout <slow>? ＠here
    *Now*  _looking_
    | query_metrics query up
    | query_metrics query up
    | query_metrics query up
    | query_metrics query up
    | and 2 more
    *Spent*  _0 of 20 turns · 28s of 15m · 0 of 200000 tokens_
    *Evidence so far*  _10 pieces, 1 without an answer_
    | 3 before these
    |   E4  80 rows: search_logs checkout, pattern <!channel>
    |    ✗  took too long: search_logs checkout, pattern <!channel>
    |   E6  120 rows, cut: search_logs checkout, pattern <!channel>
    |   E7  140 rows, cut: search_logs checkout, pattern <!channel>
    |   E8  160 rows, cut: search_logs checkout, pattern <!channel>
    |   E9  180 rows, cut: search_logs checkout, pattern <!channel>
    |  E10  200 rows, cut: search_logs checkout, pattern <!channel>
    |  E11  220 rows, cut: search_logs checkout, pattern <!channel>
    (investigation 0190a1b2-c3d4 | answer in this thread to steer it; “stop” ends it)
    ");
}

#[test]
fn one_that_ends_by_its_budget() {
    let bodies = vec![opened(run()), Body::Budget { text: "the time is up".to_owned(), spent: true }];
    insta::assert_snapshot!(shown(&state(bodies)), @r"
    notice: Investigating · checkout
    # Investigating · checkout
    *Asked*
    > why is checkout <slow>? ＠here
    *Ending*
    > the time is up
    *Spent*  _0 of 20 turns · 1s of 15m · 0 of 200000 tokens_
    *Evidence so far*  _0 pieces_
    (investigation 0190a1b2-c3d4 | answer in this thread to steer it; “stop” ends it)
    ");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sl_01_sl_02_no_state_is_refused_by_slack(text in hostile(), times in 1usize..200, calls in 0u64..30, open in 0u64..10) {
        let long = text.repeat(times);
        let mut run = run();
        run.trigger = Trigger::Alert { name: long.clone(), text: long.clone() };
        let mut bodies = vec![opened(run)];
        let arguments = json!({"service": long, "q": text}).to_string();
        for n in 1..=calls {
            bodies.push(asked(n, &long, &arguments));
            bodies.push(answered(n, Status::Ok, n));
        }
        for n in calls + 1..=calls + open {
            bodies.push(asked(n, &text, &long));
        }
        prop_assert!(shown(&state(bodies)).contains("*Spent*"));
    }
}
