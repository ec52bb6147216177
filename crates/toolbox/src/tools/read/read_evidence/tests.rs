//! Pages of evidence: together they are the whole, and each says where to go on.

use serde_json::json;

use super::*;
use crate::tools::read::calling::{items, lines, read, read_with, reason, refused};
use warrant_kernel::call::tool::EvidencePages;
use warrant_kernel::domain::result::Origin;

struct Kept(Vec<Value>);

#[async_trait]
impl EvidencePages for Kept {
    async fn page(&self, _: EvidenceId, from: u64, count: u64) -> Result<Option<EvidencePage>, ReadError> {
        let (from, count) = (usize::try_from(from).unwrap(), usize::try_from(count).unwrap());
        Ok(Some(EvidencePage {
            tool: "search_logs".to_owned(),
            origin: Origin::Log,
            summary: json!({ "matched": 25 }),
            rows: self.0.iter().skip(from).take(count).cloned().collect(),
            total: u64::try_from(self.0.len()).unwrap(),
        }))
    }
}

fn kept() -> Kept {
    Kept((0..25).map(|n| json!(format!("line {n}"))).collect())
}

#[tokio::test]
async fn pages_put_together_are_the_whole() {
    let (tool, mut all, mut from) = (read_evidence(), Vec::new(), 0);
    loop {
        let output = read_with(&*tool, json!({ "evidence": "E7", "from": from, "rows": 10 }), &kept()).await.unwrap();
        assert_eq!(output.origin, Origin::Log);
        all.extend(lines(&output).into_iter().map(str::to_owned));
        let Some(left_out) = output.left_out else { break };
        let Some((_, next)) = left_out.split_once("go on with `from` ") else { break };
        from = next.parse().unwrap();
    }
    assert_eq!(all, (0..25).map(|n| format!("line {n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn pieces_put_together_are_the_row() {
    let parts: Vec<String> = (0..4_000).map(|n| format!("é{n}\u{1}\n")).collect();
    let long = parts.concat();
    let kept = Kept(vec![json!("short"), json!(long)]);
    let (tool, mut all, mut at) = (read_evidence(), String::new(), 0);
    loop {
        let output = read_with(&*tool, json!({ "evidence": "E7", "from": 1, "at": at }), &kept).await.unwrap();
        all.extend(lines(&output));
        let left_out = output.left_out.unwrap();
        let Some((_, next)) = left_out.split_once("go on with `at` ") else { break };
        at = next.parse().unwrap();
    }
    assert_eq!(all, long);
}

#[tokio::test]
async fn a_page_as_the_model_sees_it() {
    let args = json!({ "evidence": "E7", "from": 10, "rows": 10, "pattern": "[13]$" });
    let output = read_with(&*read_evidence(), args, &kept()).await.unwrap();
    insta::assert_json_snapshot!(json!([output.summary, lines(&output), output.left_out]), @r#"
    [
      {
        "evidence": "E7",
        "tool": "search_logs",
        "total": 25,
        "from": 10,
        "returned": 2,
        "rows_looked_through": 10,
        "summary": {
          "matched": 25
        }
      },
      [
        "line 11",
        "line 13"
      ],
      "the rows before 10; 5 more rows; go on with `from` 20; 8 rows of this page that `pattern` does not match"
    ]
    "#);
    let items_kept = Kept(vec![json!({ "name": "a" }), json!({ "name": "b" })]);
    let output =
        read_with(&*read_evidence(), json!({ "evidence": "E1", "pattern": "\"b\"" }), &items_kept).await.unwrap();
    assert_eq!(items(&output), [json!({ "name": "b" })]);
}

#[tokio::test]
async fn evidence_that_is_not_there_is_said_so() {
    assert_eq!(reason(read(&*read_evidence(), json!({ "evidence": "E9" })).await), "NO_SUCH_EVIDENCE");
    assert_eq!(refused(&*read_evidence(), json!({ "evidence": "E9", "pattern": "(" }))[0].pointer, "/pattern");
}
