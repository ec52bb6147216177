//! The handover of a shift in ten lines: what was investigated, what changed, what waits.

use jiff::Timestamp;

use super::clock;
use crate::chat::slack::blocks::{Message, Page, Run, Text};
use crate::chat::slack::escape::Shown;

/// Most characters of an entry.
const ENTRY: usize = 240;

/// What a shift leaves, the most important of each first; one sentence an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handover {
    /// From when.
    pub since: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// What was investigated, and what came of it.
    pub investigated: Vec<String>,
    /// What was changed.
    pub changed: Vec<String>,
    /// What waits for people.
    pub waiting: Vec<String>,
}

/// Ten lines at most; what has no room is counted.
#[must_use]
pub fn handover(shift: &Handover) -> Message {
    let mut page = Page::empty();
    let span = format!("Handover {} to {}", clock(shift.since), clock(shift.until));
    page.header(Text::fit(Shown::line(&span)));
    for (title, entries, most) in [
        ("Waits for people", &shift.waiting, 3),
        ("Changed", &shift.changed, 3),
        ("Investigated", &shift.investigated, 4),
    ] {
        let count = if entries.is_empty() { "nothing".to_owned() } else { entries.len().to_string() };
        page.title(title, Shown::line(&count));
        // The last line of a part that is too long counts what is left.
        let shown = if entries.len() > most { most - 1 } else { entries.len() };
        for entry in entries.iter().take(shown) {
            let all = Shown::line(entry);
            let (head, rest) = all.parted(ENTRY);
            let entry = if rest.is_empty() { head } else { head.then("…") };
            page.bullet(vec![Run::plain(entry)]);
        }
        let left = entries.len() - shown;
        if left > 0 {
            page.bullet(vec![Run::plain(Shown::line(&format!("and {left} more")))]);
        }
    }
    let blocks = page.into_blocks();
    // Ten short lines always fit.
    Message::one(blocks, Shown::line(&span)).unwrap_or_else(|| Message::words(Text::fit(Shown::line(&span))))
}
