//! What the model is writing, for people to watch: whole lines, each masked before it is shown.
//!
//! Pieces come cut anywhere, and half a secret can't be found; so nothing is shown before its line is whole.

use warrant_kernel::redact::Redactor;

use super::trace::Watcher;

/// A line that is longer is shown in parts.
const LONGEST: usize = 8 << 10;

/// Gathers pieces into lines.
pub struct Lines<'a> {
    redactor: &'a Redactor,
    watcher: &'a dyn Watcher,
    pending: String,
}

impl<'a> Lines<'a> {
    /// Shows lines to `watcher`.
    #[must_use]
    pub fn new(redactor: &'a Redactor, watcher: &'a dyn Watcher) -> Self {
        Self { redactor, watcher, pending: String::new() }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        self.pending.push_str(piece);
        let end = self.pending.rfind('\n').map(|at| at + 1);
        let end = end.or_else(|| (self.pending.len() > LONGEST).then_some(self.pending.len()));
        if let Some(end) = end {
            let rest = self.pending.split_off(end);
            let whole = std::mem::replace(&mut self.pending, rest);
            self.show(&whole);
        }
    }

    /// Shows what is left: the answer is over.
    pub fn finish(&mut self) {
        let rest = std::mem::take(&mut self.pending);
        if !rest.is_empty() {
            self.show(&rest);
        }
    }

    fn show(&self, text: &str) {
        match self.redactor.redact_text(text) {
            Ok(masked) => self.watcher.delta(&masked.text),
            Err(_) => self.watcher.delta("(text that could not be checked for secrets)\n"),
        }
    }
}
