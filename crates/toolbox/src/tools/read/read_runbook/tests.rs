//! The tool as a caller sees it.

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;
use warrant_kernel::domain::output::Rows;

use super::read_runbook;
use crate::tools::read::search_runbooks::tests::{call, library};

#[tokio::test]
async fn a_runbook_is_told_whole() {
    let output = call(read_runbook(library()).as_ref(), json!({"id": "pool"})).await.unwrap();
    assert_json_snapshot!(output.summary, @r#"
    {
      "id": "pool",
      "title": "Pool exhausted",
      "alerts": [
        "PoolExhausted"
      ],
      "symptoms": [
        "requests wait for a connection"
      ],
      "checks": 1
    }
    "#);
    let Rows::Lines(lines) = output.rows else { panic!("items") };
    assert_snapshot!(lines.join("\n"), @r#"
    # Pool exhausted

    ## Meaning

    Every connection of the pool is in use.

    ## Checks
    - waits (cause): scrape_metrics {"service":"{service}"}, expect `/highest/value` above 0: callers wait; else: nobody waits

    ## Remedies
    - Make it larger
      or: Restart
    "#);
}

#[tokio::test]
async fn an_unknown_id_is_answered_with_the_nearest() {
    let tool = read_runbook(library());
    assert_snapshot!(call(tool.as_ref(), json!({"id": "diskfull"})).await.unwrap_err(), @"/id: there is no runbook `diskfull`; did you mean `DiskFull`?");
    assert_snapshot!(call(tool.as_ref(), json!({"id": "../../etc/passwd"})).await.unwrap_err(), @"/id: there is no runbook `../../etc/passwd`; `search_runbooks` finds ids");
}
