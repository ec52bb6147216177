//! Others' text as Slack may be given it: it pings nobody, links nowhere, hides nothing and closes nothing.
//!
//! No block takes a raw text. It takes a [`Shown`], for words, or an [`Exact`], for lines that stand in a preformatted part
//! and there only; both are made here alone. Two walls stand before what a stranger wrote: it is never put where Slack
//! reads marks (there is no `mrkdwn` text in any block), and it could do nothing there if it were.

mod link;

pub use link::{Hosts, Link};

#[cfg(test)]
pub(in crate::chat::slack) mod tests;

use warrant_kernel::domain::visible::visible;

/// Names that Slack has pinged whole channels by.
const CROWDS: [&str; 3] = ["here", "channel", "everyone"];

/// Words that may be shown: visible, without addresses that a client would make links of, and without pings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown(String);

/// One line that is shown to the letter, but for what could not be seen; for preformatted parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact(String);

impl Shown {
    /// Our own words, which stand in the program.
    #[must_use]
    pub fn own(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// One line of anybody's words; line ends in it are made visible.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self(defused(&visible(text)))
    }

    /// Anybody's words, line by line.
    #[must_use]
    pub fn lines(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(|line| defused(&visible(line))).collect();
        Self(lines.join("\n"))
    }

    /// The one and then the other.
    #[must_use]
    pub fn and(mut self, more: &Self) -> Self {
        self.0.push_str(&more.0);
        // Two harmless halves may make one address.
        Self(defused(&self.0))
    }

    /// The one and then our own words.
    #[must_use]
    pub fn then(self, more: &'static str) -> Self {
        self.and(&Self::own(more))
    }

    /// The one and then one line of anybody's words.
    #[must_use]
    pub fn then_line(self, more: &str) -> Self {
        let more = Self::line(more);
        self.and(&more)
    }

    /// Whether there is nothing to be read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// How much of Slack's limits it takes: UTF-16 units as they are sent, the largest way to count.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.chars().map(width).sum()
    }

    /// As it is sent.
    #[must_use]
    pub fn wire(&self) -> String {
        escaped(&self.0)
    }

    /// The beginning, as much as `most` holds, and the rest. A cut falls behind a blank or a line end where one is near.
    #[must_use]
    pub fn parted(self, most: usize) -> (Self, Self) {
        let (head, rest) = parted(&self.0, most);
        (Self(head.to_owned()), Self(rest.to_owned()))
    }

    /// How many characters it has, as people count them.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.0.chars().count()
    }
}

impl Exact {
    /// One line; line ends in it are made visible.
    #[must_use]
    pub fn of(line: &str) -> Self {
        Self(visible(line))
    }

    /// A mark of our own before the line, so that no line can pass for another kind of line.
    #[must_use]
    pub fn marked(mark: &'static str, line: &str) -> Self {
        Self(format!("{mark}{}", visible(line)))
    }

    /// How much of Slack's limits it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.chars().map(width).sum()
    }

    /// As it is sent.
    #[must_use]
    pub fn wire(&self) -> String {
        escaped(&self.0)
    }

    /// The line whole, in parts of at most `most`; all but the first begin with a mark that says so.
    #[must_use]
    pub fn parts(&self, most: usize) -> Vec<Self> {
        const ON: &str = "↪ ";
        let (head, mut rest) = parted(&self.0, most);
        let mut parts = vec![Self(head.to_owned())];
        while !rest.is_empty() {
            let (head, after) = parted(rest, most.saturating_sub(2));
            parts.push(Self(format!("{ON}{head}")));
            rest = after;
        }
        parts
    }

    /// The line as far as `most` characters, how many more it has, and where they are.
    #[must_use]
    pub fn short(&self, most: usize) -> Self {
        let over = self.0.chars().count().saturating_sub(most);
        if over == 0 {
            return self.clone();
        }
        let head: String = self.0.chars().take(most).collect();
        Self(format!("{head} … {over} more characters: see the whole"))
    }

    /// The line as far as there is room of `most`, as Slack counts, and how many characters more it has.
    #[must_use]
    pub fn cut(&self, most: usize) -> Self {
        let (head, rest) = parted(&self.0, most);
        match rest.chars().count() {
            0 => self.clone(),
            over => Self(format!("{head} … {over} more characters")),
        }
    }
}

/// Cuts a text where `most` is reached. At least one character goes ahead, so that whoever goes on comes to an end.
fn parted(text: &str, most: usize) -> (&str, &str) {
    let (mut used, mut end, mut blank) = (0, text.len(), None);
    for (at, c) in text.char_indices() {
        used += width(c);
        if used > most && at > 0 {
            end = at;
            break;
        }
        if c == ' ' || c == '\n' {
            blank = Some(at + 1);
        }
    }
    if end < text.len() {
        // A blank that stands far ahead would leave half of the room empty.
        end = blank.filter(|at| *at > end / 2).unwrap_or(end);
    }
    text.split_at(end)
}

/// What one character takes as it is sent.
fn width(c: char) -> usize {
    match c {
        '&' => 5,
        '<' | '>' => 4,
        _ => c.len_utf16(),
    }
}

/// Slack's three signs as entities, wherever the text stands.
fn escaped(text: &str) -> String {
    let mut sent = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => sent.push_str("&amp;"),
            '<' => sent.push_str("&lt;"),
            '>' => sent.push_str("&gt;"),
            _ => sent.push(c),
        }
    }
    sent
}

/// Addresses and pings in a form that people read and clients do not act upon.
fn defused(line: &str) -> String {
    let mut safe = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let (_, after) = rest.split_at(c.len_utf8());
        if rest.starts_with("://") {
            safe.push_str("[:]");
        } else if c == '.' && ends_with_www(&safe) {
            safe.push_str("[.]");
        } else if c == '@' && CROWDS.iter().any(|crowd| begins(after, crowd)) {
            safe.push('＠');
        } else {
            safe.push(c);
        }
        rest = after;
    }
    safe
}

fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn ends_with_www(text: &str) -> bool {
    let from = text.len().saturating_sub(3);
    text.get(from..).is_some_and(|tail| tail.eq_ignore_ascii_case("www"))
}
