//! Cutting an output to its policy. Cuts fall between rows; a row that alone is too long is cut between characters.
//!
//! INVARIANT: `is_cut` is true exactly when a row, or a part of one, is missing from what is kept.

use serde_json::{Map, Value, json};

use crate::domain::name::EvidenceId;
use crate::domain::tool::{Keep, OutputPolicy};

/// What is left of an output.
pub(super) struct Kept {
    pub(super) summary: Map<String, Value>,
    /// None where the policy keeps the summary only and rows were there.
    pub(super) rows: Option<Vec<Value>>,
    pub(super) returned: u64,
    pub(super) is_cut: bool,
}

/// Longest text within a summary: it stands in full, so it must be small.
const SUMMARY_TEXT: usize = 2_000;

/// Room for the mark that stands where rows were left out.
const MARK: usize = 120;

pub(super) fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn size(value: &Value) -> usize {
    json(value).chars().count() + 1
}

pub(super) fn cut(
    summary: &Map<String, Value>,
    key: &str,
    rows: &[Value],
    policy: OutputPolicy,
    evidence: EvidenceId,
) -> Kept {
    let mut summary_cut = false;
    let summary = Value::Object(summary.clone());
    let summary = match shorten(&summary, SUMMARY_TEXT, usize::MAX, &mut summary_cut) {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    let taken = size(&Value::Object(summary.clone())) + key.len() + 6;
    let room = policy.max_chars.saturating_sub(taken);
    let (rows, returned, rows_cut) = match policy.keep {
        Keep::SummaryOnly if rows.is_empty() => (Some(Vec::new()), 0, false),
        Keep::SummaryOnly => (None, 0, true),
        Keep::Full => head_and_tail(rows, room, 100, evidence),
        Keep::HeadTail => head_and_tail(rows, room, 50, evidence),
    };
    let returned = u64::try_from(returned).unwrap_or(u64::MAX);
    Kept { summary, rows, returned, is_cut: rows_cut || summary_cut }
}

/// Keeps whole rows from both ends, `head_percent` of the room for the first ones.
fn head_and_tail(
    rows: &[Value],
    room: usize,
    head_percent: usize,
    evidence: EvidenceId,
) -> (Option<Vec<Value>>, usize, bool) {
    let sizes: Vec<usize> = rows.iter().map(size).collect();
    if sizes.iter().sum::<usize>() <= room {
        return (Some(rows.to_vec()), rows.len(), false);
    }
    let room = room.saturating_sub(MARK);
    let (head, used) = fitting(sizes.iter(), room * head_percent / 100);
    let tail_room = if head_percent == 100 { 0 } else { room - used };
    let (tail, _) = fitting(sizes.iter().skip(head).rev(), tail_room);
    if head + tail == 0 {
        return (Some(oversized(rows, room, evidence)), usize::from(!rows.is_empty()), true);
    }
    let missing = rows.len() - head - tail;
    if missing == 0 {
        return (Some(rows.to_vec()), rows.len(), false);
    }
    let mut kept: Vec<Value> = rows.iter().take(head).cloned().collect();
    kept.push(mark(rows, head, missing, evidence));
    kept.extend(rows.iter().skip(rows.len() - tail).cloned());
    (Some(kept), head + tail, true)
}

/// How many rows from the start of `sizes` fit into `room`, and what they take.
fn fitting<'a>(sizes: impl Iterator<Item = &'a usize>, room: usize) -> (usize, usize) {
    let (mut count, mut used) = (0, 0);
    for size in sizes {
        if used + size > room {
            break;
        }
        used += size;
        count += 1;
    }
    (count, used)
}

/// Stands where rows were left out, in the rows' own form.
fn mark(rows: &[Value], from: usize, missing: usize, evidence: EvidenceId) -> Value {
    if rows.first().is_some_and(Value::is_string) {
        return Value::String(format!("[... {missing} rows left out here: {evidence} from row {from} ...]"));
    }
    json!({ "left_out": missing, "evidence": evidence, "from": from })
}

/// Of rows of which not even one fits, a part of the first.
fn oversized(rows: &[Value], room: usize, evidence: EvidenceId) -> Vec<Value> {
    let Some(first) = rows.first() else { return Vec::new() };
    let mut kept = Vec::new();
    kept.extend(to_fit(first, room).0);
    kept.push(mark(rows, kept.len(), rows.len() - kept.len(), evidence));
    kept
}

/// A value with its longest texts and arrays cut until it takes `room` characters of JSON, and whether it was cut.
/// None where even a few characters of each are too many.
#[must_use]
pub fn to_fit(value: &Value, room: usize) -> (Option<Value>, bool) {
    if size(value) <= room {
        return (Some(value.clone()), false);
    }
    let limits = [(2_000, 200), (1_000, 60), (500, 30), (300, 15), (200, 8), (80, 4), (20, 1)];
    let short = limits.iter().find_map(|(text, items)| {
        let part = shorten(value, (*text).min(room), *items, &mut false);
        (size(&part) <= room).then_some(part)
    });
    (short, true)
}

/// Cuts texts longer than `text` characters and arrays longer than `items`.
fn shorten(value: &Value, text: usize, items: usize, is_cut: &mut bool) -> Value {
    match value {
        Value::String(whole) => {
            let more = whole.chars().count().saturating_sub(text);
            if more == 0 {
                return value.clone();
            }
            *is_cut = true;
            let head: String = whole.chars().take(text).collect();
            Value::String(format!("{head}[... {more} characters left out]"))
        }
        Value::Array(all) => {
            let mut part: Vec<Value> = all.iter().take(items).map(|item| shorten(item, text, items, is_cut)).collect();
            if all.len() > items {
                *is_cut = true;
                part.push(json!({ "left_out": all.len() - items }));
            }
            Value::Array(part)
        }
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, inner)| (key.clone(), shorten(inner, text, items, is_cut))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
