//! What people write, as it is taken.

/// The most of a question that is taken.
const LONGEST: usize = 3_900;

/// What people write, without whom they name.
pub(super) fn without_names(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !(word.starts_with("<@") && word.ends_with('>')));
    shortened(words.collect::<Vec<_>>().join(" "))
}

/// It was masked when it came in.
pub(super) fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// Whether it is the word that ends an investigation.
pub(super) fn is_stop(text: &str) -> bool {
    text.trim_matches(|c: char| c.is_ascii_punctuation() || c.is_whitespace()).eq_ignore_ascii_case("stop")
}

/// A key of Slack's as a part of an id of ours.
pub(in crate::app::serve::slack) fn key_of(key: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    key.chars()
        .map(clean)
        .collect::<String>()
        .split_at_checked(100)
        .map_or_else(|| key.chars().map(clean).collect(), |(head, _)| head.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_and_a_stop_is_a_stop_however_it_is_written() {
        assert_eq!(without_names("<@U0BOT> why is  checkout slow?"), "why is checkout slow?");
        assert_eq!(without_names("<@U0BOT>"), "");
        for stop in ["stop", "Stop!", " STOP. "] {
            assert!(is_stop(stop), "{stop}");
        }
        for other in ["stop looking at the pool", "do not stop", ""] {
            assert!(!is_stop(other), "{other}");
        }
        assert_eq!(key_of("Ev0123:abc"), "Ev0123-abc");
        assert_eq!(key_of(&"x".repeat(500)).len(), 100);
    }
}
