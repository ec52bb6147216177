//! The words with which a person answers a card.
//!
//! One grammar for people, for the demo's file of answers and for help. What decides is written out in full: a slip of a
//! finger on one key approves nothing.

use warrant_kernel::domain::name::EvidenceId;

/// What a person wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Vote for it.
    Approve,
    /// Vote against it, with a reason if one was given.
    Deny(Option<String>),
    /// See everything, in pages.
    Whole,
    /// See one piece of evidence.
    Evidence(Option<EvidenceId>),
    /// Do without the second person, with a reason if one was given.
    BreakGlass(Option<String>),
    /// Wait here for somebody else.
    Wait,
    /// Leave it open.
    Later,
    /// See the card again.
    Card,
    /// An empty line.
    Nothing,
    /// None of these.
    Unknown,
}

/// Reads a line.
#[must_use]
pub fn parse(line: &str) -> Answer {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    match (word.to_ascii_lowercase().as_str(), rest) {
        ("", _) => Answer::Nothing,
        ("approve", None) => Answer::Approve,
        ("deny", reason) => Answer::Deny(reason.map(str::to_owned)),
        ("w" | "whole", None) => Answer::Whole,
        ("e" | "evidence", None) => Answer::Evidence(None),
        ("e" | "evidence", Some(id)) => {
            id.to_ascii_uppercase().parse().map_or(Answer::Unknown, |id| Answer::Evidence(Some(id)))
        }
        ("break-glass", reason) => Answer::BreakGlass(reason.map(str::to_owned)),
        ("wait", None) => Answer::Wait,
        ("l" | "later", None) => Answer::Later,
        ("c" | "card", None) => Answer::Card,
        (id, None) => id.to_ascii_uppercase().parse().map_or(Answer::Unknown, |id| Answer::Evidence(Some(id))),
        _ => Answer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_what_decides_has_no_short_form() {
        assert_eq!(parse(" approve "), Answer::Approve);
        assert_eq!(parse("APPROVE"), Answer::Approve);
        for slip in ["a", "y", "yes", "approve it", "approved", "ok", "\u{202e}approve"] {
            assert_eq!(parse(slip), Answer::Unknown, "{slip}");
        }
        let reason = "no restart during checkout peak";
        assert_eq!(parse(&format!("deny {reason}")), Answer::Deny(Some(reason.to_owned())));
        assert_eq!(parse("deny"), Answer::Deny(None));
        assert_eq!(parse("break-glass shop is down"), Answer::BreakGlass(Some("shop is down".to_owned())));
        assert_eq!(parse("w"), Answer::Whole);
        assert_eq!(parse("e3"), parse("evidence E3"));
        assert_eq!(parse("e e3"), Answer::Evidence("E3".parse().ok()));
        assert_eq!(parse("evidence"), Answer::Evidence(None));
        assert_eq!(parse("evidence F3"), Answer::Unknown);
        assert_eq!(parse("later"), Answer::Later);
        assert_eq!(parse("  "), Answer::Nothing);
    }
}
