//! The rows of `recent_changes`, as far as remedies need them.

use serde_json::Value;
use warrant_toolbox::catalog::Catalog;

/// A text of the row.
#[must_use]
pub fn text<'a>(row: &'a Value, key: &str) -> Option<&'a str> {
    row.get(key).and_then(Value::as_str)
}

/// The line that was changed, counted from 1.
#[must_use]
pub fn line(row: &Value) -> Option<u64> {
    row.get("line").and_then(Value::as_u64)
}

/// The lines `before` or `after`, as they stand.
#[must_use]
pub fn lines<'a>(row: &'a Value, key: &str) -> Vec<&'a str> {
    let lines = row.get(key).and_then(Value::as_array);
    lines.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether the row holds all lines of the change, uncut.
#[must_use]
pub fn is_whole(row: &Value) -> bool {
    row.get("more_lines").is_none() && row.get("note").is_none()
}

/// The changed file as file tools name it: the root it lies beneath, and the path there.
#[must_use]
pub fn workspace_path(catalog: &Catalog, row: &Value) -> Option<String> {
    let file = text(row, "file")?;
    let Some(repository) = text(row, "repository") else { return Some(file.to_owned()) };
    let sources = catalog.sources();
    let whole = sources.repositories.iter().find(|(name, _)| name.as_str() == repository)?.1.dir.join(file);
    sources.workspaces.iter().find_map(|(name, root)| {
        let beneath = whole.strip_prefix(&root.dir).ok()?.to_str()?;
        Some(format!("{name}:{beneath}"))
    })
}

/// Whether the changed key or lines hold one of these words, in lower case.
#[must_use]
pub fn holds_one_of(row: &Value, words: &[String]) -> bool {
    let joined = |key: &str| lines(row, key).into_iter().map(str::trim).collect::<Vec<_>>().join(" / ");
    let key = text(row, "key").unwrap_or_default();
    let place = format!("{key} {} {}", joined("before"), joined("after")).to_lowercase();
    words.iter().any(|word| place.contains(word.as_str()))
}
