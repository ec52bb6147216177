//! Find, mask, cut: the laws of the whole stage, through [`carry_out`](crate::call::carry_out).

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::call::tests::{Says, Scene, lines, run};
use crate::db::Database;
use crate::domain::output::{Output, Rows};
use crate::domain::result::{Origin, ToolResult};
use crate::redact::Redactor;
use crate::store::Store;
use crate::store::capture::Captured;

fn look(scene: &Scene) -> ToolResult {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(scene.look())
}

const KEEPS: [&str; 3] = ["full", "head_tail", "summary_only"];

fn scene(output: Output, keep: &str, max_chars: usize) -> Scene {
    let policy = format!("max_chars = {max_chars}, keep = \"{keep}\"");
    Scene::with(Says(move || Ok(output.clone())), &policy, include_str!("../../../../../policies/reads.cedar"))
}

/// Words without a secret.
fn words(most: usize) -> impl Strategy<Value = String> {
    vec(prop_oneof![8 => prop::char::range('f', 'p'), 2 => Just(' '), 1 => prop::char::range('α', 'ω')], 0..most)
        .prop_map(String::from_iter)
}

fn output() -> impl Strategy<Value = Output> {
    let rows = prop_oneof![
        vec(words(80), 0..50).prop_map(Rows::Lines),
        vec(words(80).prop_map(|text| json!({ "text": text, "n": 1 })), 0..30).prop_map(Rows::Items),
    ];
    let summary = vec((prop::char::range('a', 'z'), prop_oneof![9 => words(40), 1 => words(2_500)]), 0..4);
    let more = prop::option::of(0u64..3);
    (summary, rows, more, prop::option::of(words(20))).prop_map(|(summary, rows, more, left_out)| {
        let summary: Map<String, Value> =
            summary.into_iter().map(|(key, text)| (format!("about_{key}"), Value::String(text))).collect();
        let matched = more.map(|more| rows.len() as u64 + more);
        Output { summary, rows_key: "rows", rows, origin: Origin::Log, fields: &[], matched, around: None, left_out }
    })
}

fn whole(output: &Output) -> Value {
    let mut whole = output.summary.clone();
    let rows = match &output.rows {
        Rows::Lines(lines) => lines.iter().cloned().map(Value::String).collect(),
        Rows::Items(items) => items.clone(),
    };
    whole.insert("rows".to_owned(), Value::Array(rows));
    Value::Object(whole)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn truncated_is_true_exactly_when_something_is_missing(
        output in output(), keep in prop::sample::select(&KEEPS[..]), max_chars in 500usize..3_000,
    ) {
        let result = look(&scene(output.clone(), keep, max_chars));
        let all_seen = result.data == whole(&output);
        let all_found = output.left_out.is_none() && output.matched.is_none_or(|n| n == output.rows.len() as u64);
        prop_assert_eq!(result.truncated, !(all_seen && all_found));
        prop_assert!(!result.truncated || result.hint.is_some());
        prop_assert!(result.truncated || result.hint.is_none());
        let chars = result.data.to_string().chars().count();
        prop_assert!(chars <= max_chars);
        prop_assert_eq!(result.meta.output_chars, chars as u64);
    }

    #[test]
    fn rd_06_no_part_of_a_secret_stands_at_a_cut(
        before in 0usize..700, after in 0usize..700, keep in prop::sample::select(&KEEPS[..]), in_rows in 1usize..4,
    ) {
        let secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
        let long = format!("{} token={secret} {}", "y ".repeat(before / 2), "z ".repeat(after / 2));
        let mut output = lines(vec![long.clone(); in_rows]);
        output.summary.insert("first".to_owned(), Value::String(format!("{}{long}", "y ".repeat(700))));
        let result = look(&scene(output, keep, 500));
        let shown = result.for_model().to_string();
        let leaked = (0..secret.len() - 8).filter_map(|at| secret.get(at..at + 8)).find(|part| shown.contains(*part));
        prop_assert_eq!(leaked, None, "{}", shown);
    }
}

#[test]
fn rd_05_a_key_over_the_lines_of_several_rows_is_masked_before_the_cut() {
    let key: Vec<String> = std::iter::once("-----BEGIN RSA PRIVATE KEY-----".to_owned())
        .chain((0..20).map(|n| format!("{n:02}{}", "MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo")))
        .chain(["-----END RSA PRIVATE KEY-----".to_owned()])
        .collect();
    let items = key.iter().map(|line| json!({ "message": line })).collect();
    let rows = [lines(&key), Output::items(Origin::Log, Map::new(), "records", items)];
    for output in rows {
        for keep in KEEPS {
            let scene = scene(output.clone(), keep, 500);
            let result = look(&scene);
            let kept = format!("{:?}", scene.log.wholes.lock().unwrap());
            let all = format!("{}{kept}", result.for_model());
            assert!(!all.contains("MIIEow") && result.meta.redactions > 0, "{all}");
        }
    }
}

#[test]
fn the_same_secret_has_the_same_placeholder_in_data_and_hint() {
    let mut output = lines(["password=hunter2x"]);
    output.left_out = Some("older lines with password=hunter2x".to_owned());
    let result = look(&scene(output, "full", 500));
    let line = result.data["lines"][0].as_str().unwrap().to_owned();
    assert!(line.starts_with("password=[secret:") && result.hint.unwrap().ends_with(&line), "{line}");
}

#[test]
fn a_redactor_out_of_order_keeps_nothing_whole() {
    let mut scene = scene(lines(["x"]), "full", 500);
    scene.redactor = Redactor::out_of_order();
    let result = look(&scene);
    assert_eq!(result.error.unwrap().reason.as_deref(), Some("REDACTION_FAILED"));
    assert!(scene.log.wholes.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_was_kept_is_paged_as_the_whole_masked_output() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Database::open(&directory.path().join("w.db")).await.unwrap());
    let run = run();
    store.open_investigation(&run, &[7; 32]).await.unwrap();
    let all: Vec<String> = (0..500).map(|n| format!("line {n} for user {n} password=hunter{n}")).collect();
    let scene = scene(lines(&all), "head_tail", 2_000);
    let result = scene.look().await;
    let kept: Captured = scene.log.wholes.lock().unwrap()[0].clone();
    store.append(&run.investigation, &[], Some(&kept)).await.unwrap();
    let masked = scene.redactor.redact_lines(&all).unwrap().lines;
    let mut paged = Vec::new();
    while let Some(page) = store
        .page(&run.investigation, kept.evidence, paged.len() as u64, 77)
        .await
        .unwrap()
        .filter(|page| !page.part.rows.is_empty())
    {
        assert_eq!((page.total, page.part.summary), (500, json!({ "service": "checkout" })));
        paged.extend(page.part.rows);
    }
    assert_eq!(paged, masked.iter().cloned().map(Value::String).collect::<Vec<_>>());
    assert!(result.truncated && result.meta.captured);
    // What the model saw stands in the whole, word for word.
    let shown = result.data["lines"].as_array().unwrap();
    assert_eq!((&shown[0], &shown[shown.len() - 1]), (&paged[0], &paged[499]));
}
