//! What the model is writing, for people to watch: whole lines, each masked before it is shown.
//!
//! Pieces come cut anywhere, and half a secret can't be found; so a line is shown once it is whole and the next one is
//! too, and is looked at with those around it: a secret may lie over several.

use std::collections::VecDeque;

use warrant_kernel::redact::Redactor;

use super::trace::Watcher;

/// A line that is longer is shown in parts.
const LONGEST: usize = 8 << 10;

/// How much of what was shown is looked at with what comes; a private key is shorter.
const BEFORE: usize = 16 << 10;

/// Gathers pieces into lines.
pub struct Lines<'a> {
    redactor: &'a Redactor,
    watcher: &'a dyn Watcher,
    /// Shown already.
    before: VecDeque<String>,
    /// Whole, and waiting for the next one.
    held: Option<String>,
    pending: String,
}

impl<'a> Lines<'a> {
    /// Shows lines to `watcher`.
    #[must_use]
    pub fn new(redactor: &'a Redactor, watcher: &'a dyn Watcher) -> Self {
        Self { redactor, watcher, before: VecDeque::new(), held: None, pending: String::new() }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        self.pending.push_str(piece);
        while let Some(line) = self.next_line() {
            if let Some(whole) = self.held.replace(line) {
                let beside: Vec<String> = self.held.iter().chain([&self.pending]).cloned().collect();
                self.show(whole, &beside, "\n");
            }
        }
    }

    /// Shows what is left: the answer is over.
    pub fn finish(&mut self) {
        let rest = std::mem::take(&mut self.pending);
        if let Some(whole) = self.held.take() {
            self.show(whole, std::slice::from_ref(&rest), "\n");
        }
        if !rest.is_empty() {
            self.show(rest, &[], "");
        }
    }

    /// The first line of what is pending, without its end, or a part of it where it is too long.
    fn next_line(&mut self) -> Option<String> {
        let end = self.pending.find('\n').filter(|end| *end <= LONGEST);
        if let Some(end) = end {
            let rest = self.pending.split_off(end + 1);
            self.pending.pop();
            return Some(std::mem::replace(&mut self.pending, rest));
        }
        (self.pending.len() > LONGEST).then(|| {
            let rest = self.pending.split_off(self.pending.floor_char_boundary(LONGEST));
            std::mem::replace(&mut self.pending, rest)
        })
    }

    fn show(&mut self, line: String, after: &[String], end: &str) {
        let lines = [line];
        match self.redactor.redact_window(self.before.make_contiguous(), &lines, after) {
            Ok(masked) => masked.lines.iter().for_each(|line| self.watcher.delta(&format!("{line}{end}"))),
            Err(_) => self.watcher.delta("(text that could not be checked for secrets)\n"),
        }
        self.before.extend(lines);
        let mut kept: usize = self.before.iter().map(String::len).sum();
        while kept > BEFORE
            && let Some(first) = self.before.pop_front()
        {
            kept -= first.len();
        }
    }
}

#[cfg(test)]
mod tests;
