//! Whether the model has seen what it wants to replace: the file, as it still is, and the lines, whole and unmasked.
//!
//! A result that was shortened since, a line that was cut, that holds a mask or characters that can't be seen counts as not seen. What is compared
//! is the line as it stands in the file with the row as it stands in the result, so no mark of a cut or mask has to be known.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;
use warrant_kernel::call::write::WriteError;
use warrant_kernel::domain::result::{Status, ToolResult};

use crate::tools::workspace::held::Held;
use crate::tools::workspace::{Place, Workspaces};

const READ: &str = "read_file";

/// Refuses where the file was not read in this investigation, has changed since, or the lines were not seen.
///
/// # Errors
/// [`WriteError::Refused`]: `NOT_READ`, `STALE_READ`, `LINES_NOT_SEEN`.
pub fn check(
    seen: &[&ToolResult],
    workspaces: &Workspaces,
    place: &Place,
    held: &Held,
    lines: &Range<usize>,
) -> Result<(), WriteError> {
    let path = workspaces.shown(&place.root, place.path.as_str());
    let refused = |reason: &'static str, message: String| Err(WriteError::Refused { reason, message });
    let of_file: Vec<&Value> = seen.iter().filter_map(|result| read_of(result, workspaces, place)).collect();
    if of_file.is_empty() {
        let message = format!(
            "`{path}` was not read in this investigation, or that is no longer in view; call `read_file` first"
        );
        return refused("NOT_READ", message);
    }
    let sha256 = held.sha256();
    // Of a result that was shortened the digest may be gone, and then nothing tells whether the file is still the same.
    let is_short = of_file.iter().any(|data| text(data, "sha256").is_none());
    let current: Vec<&Value> = of_file.into_iter().filter(|data| text(data, "sha256") == Some(&sha256)).collect();
    if current.is_empty() && is_short {
        let message = format!("what was read of `{path}` is no longer in view whole; call `read_file` again");
        return refused("LINES_NOT_SEEN", message);
    }
    if current.is_empty() {
        return refused("STALE_READ", format!("`{path}` has changed since it was read; call `read_file` again"));
    }
    let shown: BTreeSet<(usize, &str)> = current.iter().flat_map(|data| rows(data)).collect();
    let content = String::from_utf8_lossy(held.bytes());
    let unseen: Vec<usize> = content
        .split('\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line.strip_suffix('\r').unwrap_or(line)))
        .filter(|row| lines.contains(&row.0) && !shown.contains(row))
        .map(|(number, _)| number)
        .collect();
    match (unseen.first(), unseen.last()) {
        (Some(first), Some(last)) => {
            let count = last - first + 1;
            let message = format!(
                "line {first} of `{path}` was not seen as it stands (never shown, cut, masked, stripped of invisible \
                 characters, or no longer in view); call `read_file` with `from_line` {first} and `lines` {count}; a line \
                 that holds a masked secret or invisible characters can't be edited"
            );
            refused("LINES_NOT_SEEN", message)
        }
        _ => Ok(()),
    }
}

/// The data of a result that is a read of this file.
fn read_of<'a>(result: &'a ToolResult, workspaces: &Workspaces, place: &Place) -> Option<&'a Value> {
    if result.tool != READ || result.status != Status::Ok {
        return None;
    }
    let read = workspaces.place("path", text(&result.data, "path")?).ok()?;
    (read.root.name() == place.root.name() && read.path == place.path).then_some(&result.data)
}

fn text<'a>(data: &'a Value, name: &str) -> Option<&'a str> {
    data.get(name).and_then(Value::as_str)
}

/// The rows of a read: number and line.
fn rows(data: &Value) -> impl Iterator<Item = (usize, &str)> {
    let rows = data.get("lines").and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(Value::as_str).filter_map(|row| {
        let (number, line) = row.split_once("| ")?;
        Some((number.parse().ok()?, line))
    })
}
