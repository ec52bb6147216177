//! A text in the making, for a terminal of so many columns.
//!
//! Whatever is put on it passes through [`visible`] here, so nothing foreign reaches a terminal as it is. Foreign text
//! stands behind a margin on every line: it can't pass for a line of ours.

use unicode_width::UnicodeWidthStr;
use warrant_kernel::domain::visible::visible;

use super::exact::{exact, line_of};
use super::style::{Paint, Role};
use super::text::{one_line, wrap};

/// Columns of the names of rows.
const NAMES: usize = 14;

/// Lines, made one after the other.
pub struct Sheet {
    lines: Vec<String>,
    paint: Paint,
    columns: usize,
    /// Lines that were left out, over the whole sheet.
    left_out: usize,
}

/// How much of a long text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Most {
    /// All of it.
    All,
    /// So many lines; then how many more there are.
    Lines(usize),
}

impl Sheet {
    /// An empty sheet.
    #[must_use]
    pub fn new(paint: Paint, columns: usize) -> Self {
        Self { lines: Vec::new(), paint, columns, left_out: 0 }
    }

    /// How many lines were left out so far.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The lines.
    #[must_use]
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// As one text.
    #[must_use]
    pub fn into_text(self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// A line across.
    pub fn rule(&mut self) {
        self.push(&self.paint.paint(Role::Faint, &"─".repeat(self.columns)));
    }

    /// Where the row above comes from.
    pub fn aside(&mut self, role: Role, text: &str) {
        let indent = NAMES + 3;
        for part in wrap(&format!("[{}]", visible(text)), self.columns.saturating_sub(indent)) {
            self.push(&format!("{}{}", " ".repeat(indent), self.paint.paint(role, &part)));
        }
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.push("");
    }

    /// A word in its colour, and text beside it.
    pub fn title(&mut self, role: Role, word: &str, text: &str) {
        let word = one_line(&visible(word), self.columns);
        let indent = word.width() + 2;
        for (index, part) in wrap(&visible(text), self.columns.saturating_sub(indent)).into_iter().enumerate() {
            let margin = if index == 0 { self.paint.paint(role, &word) } else { " ".repeat(word.width()) };
            self.push(&format!("{margin}  {}", self.paint.paint(Role::Heading, &part)));
        }
    }

    /// A heading, and in the background what it is about.
    pub fn heading(&mut self, text: &str, aside: &str) {
        self.gap();
        let (text, aside) = (visible(text), visible(aside));
        if text.width() + aside.width() + 2 <= self.columns {
            let aside = self.paint.paint(Role::Faint, &aside);
            self.push(&format!("{}  {aside}", self.paint.paint(Role::Heading, &text)));
            return;
        }
        for part in wrap(&text, self.columns) {
            self.push(&self.paint.paint(Role::Heading, &part));
        }
        for part in wrap(&aside, self.columns.saturating_sub(2)).into_iter().filter(|part| !part.is_empty()) {
            self.push(&format!("  {}", self.paint.paint(Role::Faint, &part)));
        }
    }

    /// A paragraph of ours.
    pub fn say(&mut self, role: Option<Role>, text: &str) {
        for part in wrap(&visible(text), self.columns.saturating_sub(2)) {
            let part = role.map_or_else(|| part.clone(), |role| self.paint.paint(role, &part));
            self.push(&format!("  {part}"));
        }
    }

    /// One of a list.
    pub fn item(&mut self, text: &str) {
        self.hanging("  - ", text);
    }

    /// A name, and text beside it.
    pub fn row(&mut self, name: &str, text: &str) {
        let name = one_line(&visible(name), NAMES);
        let pad = NAMES.saturating_sub(name.width());
        let margin = format!("  {}{} ", self.paint.paint(Role::Faint, &name), " ".repeat(pad));
        let indent = NAMES + 3;
        for (index, part) in exact(text, self.columns.saturating_sub(indent)).into_iter().enumerate() {
            let margin = if index == 0 { margin.clone() } else { " ".repeat(indent) };
            self.push(&format!("{margin}{part}"));
        }
    }

    /// Text beneath a first prefix, then beneath blanks of the same width.
    pub fn hanging(&mut self, first: &str, text: &str) {
        let indent = first.width();
        for (index, line) in wrap(&visible(text), self.columns.saturating_sub(indent)).into_iter().enumerate() {
            let prefix = if index == 0 { first.to_owned() } else { " ".repeat(indent) };
            self.push(&format!("{prefix}{line}"));
        }
    }

    /// Foreign text to the letter, behind a margin that stands on every line.
    pub fn foreign(&mut self, margin: &str, role: Option<Role>, text: &str, most: Most) {
        self.excerpt(margin, role, text, most, "see the whole");
    }

    /// The same, saying where the rest is to be seen.
    pub fn excerpt(&mut self, margin: &str, role: Option<Role>, text: &str, most: Most, rest: &str) {
        let lines = exact(text, self.columns.saturating_sub(margin.width()));
        self.some(lines, most, rest, |sheet, part| {
            let part = role.map_or_else(|| part.clone(), |role| sheet.paint.paint(role, &part));
            sheet.push(&format!("{margin}{part}"));
        });
    }

    /// Words of somebody behind a margin that stands on every line, wrapped as prose.
    pub fn words(&mut self, margin: &str, text: &str, most: Most) {
        let room = self.columns.saturating_sub(margin.width());
        let lines = text.lines().flat_map(|line| wrap(&visible(line), room)).filter(|line| !line.is_empty());
        self.some(lines.collect(), most, "see the whole", |sheet, part| sheet.push(&format!("{margin}{part}")));
    }

    /// One line of a change behind its mark, which stands on every part of it.
    pub fn change(&mut self, role: Option<Role>, mark: &str, line: &str) {
        let margin = format!("  {mark} ");
        for part in line_of(line, self.columns.saturating_sub(margin.width())) {
            let line = format!("{margin}{part}");
            self.push(&role.map_or_else(|| line.clone(), |role| self.paint.paint(role, &line)));
        }
    }

    /// Says that lines were left out.
    pub fn leave_out(&mut self, count: usize, what: &str, rest: &str) {
        if count > 0 {
            self.left_out += count;
            let text = format!("  … {count} more {what}: {rest}");
            self.push(&self.paint.paint(Role::Careful, &text));
        }
    }

    fn some(&mut self, lines: Vec<String>, most: Most, where_to: &str, mut each: impl FnMut(&mut Self, String)) {
        let shown = match most {
            Most::All => lines.len(),
            // A single line more costs no more room than saying so.
            Most::Lines(most) if lines.len() <= most + 1 => lines.len(),
            Most::Lines(most) => most,
        };
        let rest = lines.len() - shown;
        for line in lines.into_iter().take(shown) {
            each(self, line);
        }
        self.leave_out(rest, if rest == 1 { "line" } else { "lines" }, where_to);
    }

    fn push(&mut self, line: &str) {
        self.lines.push(line.trim_end().to_owned());
    }
}
