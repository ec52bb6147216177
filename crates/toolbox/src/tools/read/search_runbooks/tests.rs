//! The tool as a caller sees it.

use std::sync::Arc;

use async_trait::async_trait;
use insta::{assert_json_snapshot, assert_snapshot};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, EvidencePage, EvidencePages, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};

use super::search_runbooks;
use crate::runbook::library::Library;

struct NoPages;

#[async_trait]
impl EvidencePages for NoPages {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// Calls a tool as the executor does.
pub(in crate::tools::read) async fn call(tool: &dyn ReadTool, args: Value) -> Result<Output, String> {
    let args = Arguments::checked(args.as_object().unwrap().clone());
    let now = Timestamp::UNIX_EPOCH;
    if let Err(problems) = tool.resolve(&args, now) {
        let told: Vec<String> = problems.into_iter().map(|problem| problem.pointer + ": " + &problem.message).collect();
        return Err(told.join("; "));
    }
    let run = Run {
        investigation: "i1".parse().unwrap(),
        trigger: Trigger::Question { text: String::new() },
        requester: Requester { person: "ann".parse().unwrap(), groups: Vec::new() },
        role: "explore".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    };
    let cancel = CancellationToken::new();
    let reading = Reading { now, run: &run, cancel: &cancel, evidence: &NoPages };
    tool.read(&args, reading).await.map_err(|error| error.to_string())
}

pub(in crate::tools::read) fn library() -> Arc<Library> {
    let pool = "+++
title = \"Pool exhausted\"
alerts = [\"PoolExhausted\"]
symptoms = [\"requests wait for a connection\"]

[[checks]]
id = \"waits\"
tool = \"scrape_metrics\"
args = { service = \"{service}\" }
expect = { at = \"/highest/value\", is = \"gt\", value = 0 }
means = \"callers wait\"
rules_out = \"nobody waits\"
cause = true

[[remedies]]
do = \"Make it larger\"
alternatives = [\"Restart\"]
+++
# Pool exhausted

## Meaning

Every connection of the pool is in use.
";
    let disk = "# DiskFull\n\n## Meaning\n\nThe filesystem has no space left.\n\n## Mitigation\n\nRemove old logs.\n";
    Arc::new(Library::load(&[("pool.md", pool), ("DiskFull.md", disk)], &[]))
}

fn rows(output: &Output) -> &[Value] {
    match &output.rows {
        Rows::Items(items) => items,
        Rows::Lines(lines) => panic!("lines: {lines:?}"),
    }
}

#[tokio::test]
async fn a_row_says_why_it_was_found() {
    let tool = search_runbooks(library());
    let output =
        call(tool.as_ref(), json!({"query": "no connection from the pool", "alert": "disk_full"})).await.unwrap();
    assert_json_snapshot!(output.summary, @r#"
    {
      "query": "no connection from the pool",
      "found": 2,
      "none": false
    }
    "#);
    assert_json_snapshot!(rows(&output), @r#"
    [
      {
        "id": "DiskFull",
        "title": "DiskFull",
        "score": 1.892,
        "why": "exact alert name",
        "section": "Meaning",
        "excerpt": "The filesystem has no space left.",
        "checks": 0
      },
      {
        "id": "pool",
        "title": "Pool exhausted",
        "score": 2.716,
        "why": "its words",
        "section": "Meaning",
        "excerpt": "Every connection of the pool is in use.",
        "checks": 1
      }
    ]
    "#);
    assert_eq!(output.left_out, None);
}

#[tokio::test]
async fn none_is_an_answer() {
    let output = call(search_runbooks(library()).as_ref(), json!({"query": "invoices lack a column"})).await.unwrap();
    assert_json_snapshot!(output.summary, @r#"
    {
      "query": "invoices lack a column",
      "found": 0,
      "none": true
    }
    "#);
    assert!(rows(&output).is_empty());
}

#[tokio::test]
async fn what_the_limit_leaves_out_is_told() {
    let args =
        json!({"query": "connection pool in use, filesystem without space left", "alert": "PoolExhausted", "limit": 1});
    let output = call(search_runbooks(library()).as_ref(), args).await.unwrap();
    assert_eq!((rows(&output).len(), output.matched), (1, Some(2)));
    assert_snapshot!(output.left_out.unwrap(), @"1 runbooks that fit less; raise `limit` to see them");
}

#[tokio::test]
async fn an_empty_query_is_refused_and_a_long_one_is_shown_short() {
    let tool = search_runbooks(library());
    assert_snapshot!(call(tool.as_ref(), json!({"query": " "})).await.unwrap_err(), @"/query: is empty; give the alert's name or words of what goes wrong");
    let long = call(tool.as_ref(), json!({"query": "pool ".repeat(1000)})).await.unwrap();
    assert_eq!(long.summary["query"].as_str().unwrap().chars().count(), 201);
}
