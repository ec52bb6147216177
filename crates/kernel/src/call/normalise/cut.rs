//! Cutting an output to its policy. Cuts fall between rows; a row that alone is too long is cut between characters.
//!
//! INVARIANT: `is_cut` is true exactly when something is missing from what is kept.
//! INVARIANT: what is kept, put together as `data`, has at most `max_chars` characters of JSON, unless `max_chars` is
//! below `LEAST`, which no definition may ask for.

#[cfg(test)]
mod tests;

use std::io;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::domain::name::EvidenceId;
use crate::domain::tool::{Keep, OutputPolicy};

/// What is left of an output.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) summary: Map<String, Value>,
    /// None where the policy keeps the summary only and rows were there.
    pub(super) rows: Option<Vec<Value>>,
    /// How many rows stand there, a part of one counted too.
    pub(super) returned: u64,
    pub(super) is_cut: bool,
}

/// Longest text within a summary: it should stand in full, so it must be small.
const SUMMARY_TEXT: usize = 2_000;

/// Room for the mark that stands where rows were left out.
const MARK: usize = 120;

/// Room that the summary leaves: for the mark and for the rows' key with its punctuation.
const BESIDE: usize = MARK + 40;

/// The size of a value as JSON.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: usize,
    pub(super) chars: usize,
}

impl io::Write for Size {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.bytes += part.len();
        // Every byte that does not go on with a character begins one.
        self.chars += part.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count();
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The size of a value, without writing it anywhere.
pub(super) fn size(value: &impl Serialize) -> Size {
    let mut size = Size::default();
    // Counting can't fail, and a JSON value can always be written; were it not so, it would count as too big.
    match serde_json::to_writer(&mut size, value) {
        Ok(()) => size,
        Err(_) => Size { bytes: usize::MAX / 2, chars: usize::MAX / 2 },
    }
}

/// Characters with the comma behind.
fn chars(value: &Value) -> usize {
    size(value).chars + 1
}

pub(super) fn cut(
    summary: &Map<String, Value>,
    key: &str,
    rows: &[Value],
    policy: OutputPolicy,
    evidence: EvidenceId,
) -> Kept {
    let (summary, summary_cut) = cut_summary(summary, policy.max_chars.saturating_sub(BESIDE));
    let taken = size(&summary).chars + key.len() + 6;
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

/// A summary with no text too long, that takes no more than `room`; and whether something of it is missing.
fn cut_summary(summary: &Map<String, Value>, room: usize) -> (Map<String, Value>, bool) {
    let mut is_cut = false;
    let short = shorten_fields(summary, Limits { text: SUMMARY_TEXT, items: usize::MAX }, &mut is_cut);
    if size(&short).chars < room {
        return (short, is_cut);
    }
    match to_fit(&Value::Object(short), room) {
        (Some(Value::Object(short)), _) => (short, true),
        _ => (Map::new(), true),
    }
}

/// Keeps whole rows from both ends, `head_percent` of the room for the first ones.
fn head_and_tail(
    rows: &[Value],
    room: usize,
    head_percent: usize,
    evidence: EvidenceId,
) -> (Option<Vec<Value>>, usize, bool) {
    let sizes: Vec<usize> = rows.iter().map(chars).collect();
    if sizes.iter().sum::<usize>() <= room {
        return (Some(rows.to_vec()), rows.len(), false);
    }
    let room = room.saturating_sub(MARK);
    let (head, used) = fitting(sizes.iter(), room * head_percent / 100);
    let tail_room = if head_percent == 100 { 0 } else { room - used };
    let (tail, _) = fitting(sizes.iter().skip(head).rev(), tail_room);
    if head + tail == 0 {
        let (kept, returned) = oversized(rows, room, evidence);
        return (Some(kept), returned, true);
    }
    let mut kept: Vec<Value> = rows.iter().take(head).cloned().collect();
    kept.push(mark(rows, head, rows.len() - head - tail, evidence));
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

/// Of rows of which not even one fits, a part of the first where that can be had; and how many that are.
fn oversized(rows: &[Value], room: usize, evidence: EvidenceId) -> (Vec<Value>, usize) {
    let mut kept: Vec<Value> = rows.first().and_then(|first| to_fit(first, room).0).into_iter().collect();
    let returned = kept.len();
    // Where the first is the only one, it says itself what it lacks.
    if rows.len() > returned {
        kept.push(mark(rows, returned, rows.len() - returned, evidence));
    }
    (kept, returned)
}

/// How long texts and arrays may be.
#[derive(Debug, Clone, Copy)]
struct Limits {
    text: usize,
    items: usize,
}

impl Limits {
    /// Fields tell more than items do: they have names.
    fn fields(self) -> usize {
        self.items.saturating_mul(4)
    }
}

/// A value with its longest texts, arrays and objects cut until it takes `room` characters of JSON, and whether it was
/// cut. None where even a few characters of each are too many.
#[must_use]
pub fn to_fit(value: &Value, room: usize) -> (Option<Value>, bool) {
    if chars(value) <= room {
        return (Some(value.clone()), false);
    }
    let limits = [(2_000, 200), (1_000, 60), (500, 30), (300, 15), (200, 8), (80, 4), (20, 1)];
    let short = limits.iter().find_map(|(text, items)| {
        let part = shorten(value, Limits { text: (*text).min(room), items: *items }, &mut false);
        (chars(&part) <= room).then_some(part)
    });
    (short, true)
}

/// Cuts texts, arrays and objects that are longer than they may be.
fn shorten(value: &Value, limits: Limits, is_cut: &mut bool) -> Value {
    match value {
        Value::String(whole) => {
            let more = whole.chars().count().saturating_sub(limits.text);
            if more == 0 {
                return value.clone();
            }
            *is_cut = true;
            let head: String = whole.chars().take(limits.text).collect();
            Value::String(format!("{head}[... {more} characters left out]"))
        }
        Value::Array(all) => {
            let mut part: Vec<Value> =
                all.iter().take(limits.items).map(|item| shorten(item, limits, is_cut)).collect();
            if all.len() > limits.items {
                *is_cut = true;
                part.push(json!({ "left_out": all.len() - limits.items }));
            }
            Value::Array(part)
        }
        Value::Object(map) => Value::Object(shorten_fields(map, limits, is_cut)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn shorten_fields(map: &Map<String, Value>, limits: Limits, is_cut: &mut bool) -> Map<String, Value> {
    let all = map.iter().take(limits.fields());
    let mut part: Map<String, Value> = all.map(|(key, inner)| (key.clone(), shorten(inner, limits, is_cut))).collect();
    let more = map.len() - part.len();
    if more > 0 {
        *is_cut = true;
        part.insert("fields_left_out".to_owned(), more.into());
    }
    part
}
