//! The laws of cutting, on outputs made at random.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::domain::name::EvidenceId;
use crate::domain::tool::{Keep, OutputPolicy};

use super::{Kept, cut, shorten, size, to_fit};

fn evidence() -> EvidenceId {
    EvidenceId::nth(1)
}

fn text(most: usize) -> impl Strategy<Value = String> {
    vec(prop_oneof![4 => prop::char::range('a', 'z'), 1 => any::<char>()], 0..most).prop_map(String::from_iter)
}

/// A value of a few levels; a part of it may be long.
fn value(most: usize) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text(most).prop_map(Value::String),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 40, 12, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..12).prop_map(Value::Array),
            vec((text(12), inner), 0..12).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn summary() -> impl Strategy<Value = Map<String, Value>> {
    let usual = vec((text(10), value(30)), 0..4);
    let large = vec((text(40), text(2_600).prop_map(Value::String)), 0..20);
    prop_oneof![4 => usual, 1 => large].prop_map(|fields| fields.into_iter().collect())
}

fn rows() -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![
        vec(text(90).prop_map(Value::String), 0..60),
        vec(value(40), 0..40),
        vec(prop_oneof![3 => text(30), 1 => text(4_000)].prop_map(Value::String), 0..6),
    ]
}

fn policy() -> impl Strategy<Value = OutputPolicy> {
    let keep = prop_oneof![Just(Keep::Full), Just(Keep::HeadTail), Just(Keep::SummaryOnly)];
    (170usize..4_000, keep).prop_map(|(max_chars, keep)| OutputPolicy { max_chars, keep })
}

/// The row that stands where others were left out.
fn is_mark(row: &Value) -> bool {
    row.get("left_out").is_some_and(|_| row.get("from").is_some())
        || row.as_str().is_some_and(|text| text.starts_with("[... ") && text.ends_with(" ...]"))
}

/// Whole rows before the mark and behind it.
fn ends(kept: &[Value]) -> (&[Value], &[Value]) {
    let at = kept.iter().position(is_mark).unwrap_or(kept.len());
    (&kept[..at], kept.get(at + 1..).unwrap_or_default())
}

fn data(kept: &Kept, key: &str) -> Value {
    let mut data = kept.summary.clone();
    if let Some(rows) = &kept.rows {
        data.insert(key.to_owned(), Value::Array(rows.clone()));
    }
    Value::Object(data)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn it_is_cut_exactly_when_something_is_missing(summary in summary(), rows in rows(), policy in policy()) {
        let kept = cut(&summary, "rows_of_it", &rows, policy, evidence());
        let is_whole = kept.summary == summary && kept.rows.as_deref() == Some(rows.as_slice());
        prop_assert_eq!(kept.is_cut, !is_whole);
    }

    #[test]
    fn what_is_kept_never_exceeds_its_room(summary in summary(), rows in rows(), policy in policy()) {
        let kept = cut(&summary, "rows_of_it", &rows, policy, evidence());
        let text = data(&kept, "rows_of_it").to_string();
        prop_assert!(text.chars().count() <= policy.max_chars, "{} of {}: {text}", text.chars().count(), policy.max_chars);
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data(&kept, "rows_of_it"));
    }

    #[test]
    fn the_rows_kept_are_the_first_and_the_last(
        rows in vec(text(90).prop_map(|text| Value::String(format!("row {text}"))), 1..60),
        policy in policy(),
    ) {
        let kept = cut(&Map::new(), "rows", &rows, policy, evidence());
        let Some(shown) = &kept.rows else { return Ok(()) };
        let (head, tail) = ends(shown);
        let partial = head.len() == 1 && head[0] != rows[0];
        if !partial {
            prop_assert_eq!(head, &rows[..head.len()]);
        }
        prop_assert_eq!(tail, &rows[rows.len() - tail.len()..]);
        prop_assert_eq!(kept.returned, (head.len() + tail.len()) as u64);
        if policy.keep == Keep::Full {
            prop_assert!(tail.is_empty());
        }
        let left_out = rows.len() - head.len() - tail.len();
        if let Some(Value::String(mark)) = shown.iter().find(|row| is_mark(row)) {
            let said = format!("[... {left_out} rows left out here: E1 from row {} ...]", head.len());
            prop_assert_eq!(mark, &said);
        } else {
            prop_assert_eq!(left_out, 0);
        }
    }

    #[test]
    fn a_value_made_to_fit_fits_and_says_whether_it_was_cut(value in value(600), room in 0usize..900) {
        let (part, is_cut) = to_fit(&value, room);
        match part {
            Some(part) => {
                prop_assert!(size(&part).chars <= room);
                prop_assert_eq!(is_cut, part != value);
            }
            None => prop_assert!(is_cut && size(&value).chars >= room),
        }
    }

    #[test]
    fn the_size_is_that_of_the_text(value in value(60)) {
        let (size, text) = (size(&value), value.to_string());
        prop_assert_eq!((size.bytes, size.chars), (text.len(), text.chars().count()));
    }
}

#[test]
fn both_ends_are_kept_with_a_mark_between() {
    let rows: Vec<Value> = (0..40).map(|n| json!(format!("line {n:02}"))).collect();
    let policy = OutputPolicy { max_chars: 240, keep: Keep::HeadTail };
    let kept = cut(&Map::new(), "lines", &rows, policy, evidence());
    insta::assert_snapshot!(data(&kept, "lines"), @r#"{"lines":["line 00","line 01","line 02","line 03","line 04","[... 30 rows left out here: E1 from row 5 ...]","line 35","line 36","line 37","line 38","line 39"]}"#);
}

#[test]
fn a_row_that_is_too_long_alone_is_cut_between_characters() {
    let policy = OutputPolicy { max_chars: 500, keep: Keep::HeadTail };
    let kept = cut(&Map::new(), "lines", &[json!("ü".repeat(5_000))], policy, evidence());
    let rows = kept.rows.unwrap();
    assert_eq!((rows.len(), kept.returned, kept.is_cut), (1, 1, true));
    assert!(rows[0].as_str().unwrap().ends_with("ü[... 4700 characters left out]"), "{}", rows[0]);
    let kept =
        cut(&Map::new(), "rows", &[json!({"points": (0..900).collect::<Vec<_>>()}), json!(1)], policy, evidence());
    insta::assert_snapshot!(data(&kept, "rows"), @r#"{"rows":[{"left_out":1,"evidence":"E1","from":0},1]}"#);
}

#[test]
fn a_summary_that_is_too_large_is_cut_and_leaves_room_for_rows() {
    let summary: Map<String, Value> = (0..500).map(|n| (format!("field_{n}"), json!("x".repeat(100)))).collect();
    let policy = OutputPolicy { max_chars: 500, keep: Keep::Full };
    let kept = cut(&summary, "lines", &[json!("one")], policy, evidence());
    insta::assert_snapshot!(data(&kept, "lines"), @r#"{"field_0":"xxxxxxxxxxxxxxxxxxxx[... 80 characters left out]","field_1":"xxxxxxxxxxxxxxxxxxxx[... 80 characters left out]","field_2":"xxxxxxxxxxxxxxxxxxxx[... 80 characters left out]","field_3":"xxxxxxxxxxxxxxxxxxxx[... 80 characters left out]","fields_left_out":496,"lines":["one"]}"#);
    assert!(kept.is_cut);
}

#[test]
fn shortening_says_what_it_left_out() {
    let mut is_cut = false;
    let value = json!({ "a": "abcdef", "b": [1, 2, 3] });
    let limits = super::Limits { text: 4, items: 2 };
    insta::assert_snapshot!(shorten(&value, limits, &mut is_cut), @r#"{"a":"abcd[... 2 characters left out]","b":[1,2,{"left_out":1}]}"#);
    assert!(is_cut);
}
