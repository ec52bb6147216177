//! "Did you mean": the names closest to one that isn't there.
//!
//! Only for messages; nothing is ever corrected silently.

const CLOSE: f64 = 0.75;
const AT_MOST: usize = 3;

/// Up to three of `names` that `wanted` may have meant, the closest first.
pub(in crate::call) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: String = wanted.chars().take(128).collect::<String>().to_lowercase();
    let mut close: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (likeness(&wanted, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= CLOSE)
        .collect();
    close.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
    close.into_iter().take(AT_MOST).map(|(_, name)| name).collect()
}

fn likeness(wanted: &str, name: &str) -> f64 {
    let contained = wanted.len() >= 3 && (name.contains(wanted) || (name.len() >= 3 && wanted.contains(name)));
    let edits = strsim::jaro_winkler(wanted, name);
    if contained { edits.max(0.9) } else { edits }
}

/// The end of a message: `; did you mean ...?`, or nothing where no name is close.
pub(in crate::call) fn did_you_mean(near: &[&str]) -> String {
    if near.is_empty() {
        return String::new();
    }
    format!("; did you mean {}?", listed(near, " or "))
}

/// Names in backticks, the last two joined by `last`.
pub(in crate::call) fn listed(names: &[&str], last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, rest)) => format!("{}{last}{end}", rest.join(", ")),
        None => String::new(),
    }
}
