//! Finds secrets and masks them: the one pipeline before the model, the terminal, the trace, spans and error texts.
//!
//! Find (decoding only to find), mask on the original, and only then cut. A [`RedactError`] means that nothing may pass:
//! whoever gets one sends a fixed sentence of their own instead of the text.
//!
//! ```
//! use warrant_kernel::redact::{KnownSecret, RedactionKey, Redactor};
//!
//! let known = [KnownSecret::new("slack_token", "a-secret-of-ours-17")];
//! let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), known)?;
//! let masked = redactor.redact_text("login with password=hunter2 failed")?;
//! assert!(masked.text.starts_with("login with password=[secret:password_kv:"));
//! # Ok::<(), warrant_kernel::redact::RedactError>(())
//! ```

pub mod guard;

pub mod own;

mod placeholder;

mod rules;

mod names;

mod extent;

mod value;

mod url;

mod pem;

mod manifest;

mod known;

mod prefilter;

mod decode;

mod seam;

mod fields;

mod search;

mod across;

mod edit;

mod json;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use edit::{Edit, Row, apply, edits};
use own::OwnRule;
use search::Searcher;

pub use known::KnownSecret;
pub use placeholder::RedactionKey;

/// Why a text could not be masked. It may not be sent then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactError {
    /// No key could be made.
    #[error("no randomness for the redaction key: {0}")]
    Randomness(String),
    /// The key does not fit the hash.
    #[error("the redaction key does not fit its hash")]
    Key,
    /// A rule does not compile.
    #[error("the redaction rule `{kind}` does not compile: {message}")]
    Rule {
        /// The kind of secret it finds.
        kind: String,
        /// What the compiler said.
        message: String,
    },
    /// The prefilter could not be built or run.
    #[error("the redaction prefilter failed: {0}")]
    Prefilter(String),
    /// The value is nested too deep to be walked.
    #[error("the value is nested too deep to be masked")]
    Depth,
    /// A redactor that was made to fail.
    #[error("the redactor is out of order")]
    OutOfOrder,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked<'t> {
    /// The text with placeholders; borrowed where nothing was found.
    pub text: Cow<'t, str>,
    /// How many placeholders were put in.
    pub count: u64,
}

/// Lines without their secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedLines {
    /// The lines; a private key over several of them is one placeholder in the first.
    pub lines: Vec<String>,
    /// Whether the first of them are a part of a secret that begins before them, and left out.
    pub begun_before: bool,
    /// How many placeholders were put in.
    pub count: u64,
}

/// Masks for one investigation. Cheap to clone; [`Redactor::with_key`] makes one for another investigation.
#[derive(Clone)]
pub struct Redactor {
    /// None is out of order: every call fails.
    searcher: Option<Arc<Searcher>>,
    key: RedactionKey,
}

/// After so many rounds a line that still changes is masked whole.
const ROUNDS: usize = 4;

impl Redactor {
    /// Builds the rules. `known` are the secrets of the config and the environment.
    ///
    /// # Errors
    /// [`RedactError::Prefilter`] where the known secrets are too many or too long for the automaton.
    pub fn new(key: RedactionKey, known: impl IntoIterator<Item = KnownSecret>) -> Result<Self, RedactError> {
        Self::with_rules(key, known, Vec::new())
    }

    /// As [`Self::new`], with rules of the operator's beside those that are built in.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_rules(
        key: RedactionKey,
        known: impl IntoIterator<Item = KnownSecret>,
        rules: Vec<OwnRule>,
    ) -> Result<Self, RedactError> {
        Ok(Self { searcher: Some(Arc::new(Searcher::new(known, rules)?)), key })
    }

    /// The same rules with the key of another investigation.
    #[must_use]
    pub fn with_key(&self, key: RedactionKey) -> Self {
        Self { searcher: self.searcher.clone(), key }
    }

    /// A redactor of which every call fails, so that callers can show that nothing passes it then.
    #[must_use]
    pub fn out_of_order() -> Self {
        Self { searcher: None, key: RedactionKey::from_bytes([0; 32]) }
    }

    /// Masks a text of any number of lines.
    ///
    /// # Errors
    /// Any; the text may not be sent then.
    pub fn redact_text<'t>(&self, text: &'t str) -> Result<Masked<'t>, RedactError> {
        self.mask(text, &mut [])
    }

    /// Masks lines as one text, so that what lies over several of them is found.
    ///
    /// # Errors
    /// Any; none of the lines may be sent then.
    pub fn redact_lines(&self, lines: &[String]) -> Result<MaskedLines, RedactError> {
        self.redact_window(&[], lines, &[])
    }

    /// As [`Self::redact_lines`], for lines that are a part of something: a secret that begins in the lines `before`, or
    /// ends in those `after`, is found. Gives the lines themselves only.
    ///
    /// # Errors
    /// Any; none of the lines may be sent then.
    pub fn redact_window(
        &self,
        before: &[String],
        lines: &[String],
        after: &[String],
    ) -> Result<MaskedLines, RedactError> {
        let all = before.iter().chain(lines).chain(after).map(String::as_str);
        let (text, mut rows) = join(all);
        let masked = self.mask(&text, &mut rows)?;
        let window: Vec<&Row> = rows.iter().skip(before.len()).take(lines.len()).collect();
        let begun_before = !before.is_empty() && window.first().is_some_and(|row| row.swallowed);
        let lines = window.iter().filter(|row| !row.swallowed).map(|row| row_of(&masked.text, row)).collect();
        Ok(MaskedLines { lines, begun_before, count: masked.count })
    }

    /// Masks JSON: strings, keys, and values whose key says that they are secret. Gives the number of placeholders too.
    ///
    /// # Errors
    /// Any; nothing of the value may be sent then.
    pub fn redact_json(&self, value: &Value) -> Result<(Value, u64), RedactError> {
        json::redact(self, value)
    }

    /// As [`Self::redact_json`], for rows: a secret may lie over the same field of several of them, as the lines of a key
    /// do.
    ///
    /// # Errors
    /// Any; none of the rows may be sent then.
    pub fn redact_rows(&self, rows: &[Value]) -> Result<(Vec<Value>, u64), RedactError> {
        json::redact_all(self, rows)
    }

    #[cfg(test)]
    fn compile_all(&self) -> Result<(), RedactError> {
        self.searcher.as_ref().ok_or(RedactError::OutOfOrder)?.compile_all()
    }

    /// As [`Self::redact_lines`], each text keeping its place; nothing where all of them stay as they are.
    fn redact_each(&self, texts: &[&str]) -> Result<Option<(Vec<String>, u64)>, RedactError> {
        let (text, mut rows) = join(texts.iter().copied());
        let masked = self.mask(&text, &mut rows)?;
        let lines = || rows.iter().map(|row| row_of(&masked.text, row)).collect();
        Ok((masked.count > 0).then(|| (lines(), masked.count)))
    }

    fn placeholder(&self, kind: &str, secret: &str) -> Result<String, RedactError> {
        self.key.placeholder(kind, &edit::canonical(secret.as_bytes()))
    }

    /// Masks until nothing more is found, looking again only at the lines that changed, so that masking a masked text
    /// changes nothing.
    fn mask<'t>(&self, text: &'t str, rows: &mut [Row]) -> Result<Masked<'t>, RedactError> {
        let searcher = self.searcher.as_ref().ok_or(RedactError::OutOfOrder)?;
        let mut masked = Masked { text: Cow::Borrowed(text), count: 0 };
        let whole = 0..text.len();
        let mut regions = vec![whole];
        for round in 0..=ROUNDS {
            let mut found = Vec::new();
            for region in &regions {
                self.look(searcher, &masked.text, region, round == ROUNDS, &mut found)?;
            }
            if found.is_empty() {
                break;
            }
            masked.count += found.len() as u64;
            let (next, written) = apply(&masked.text, &found, rows);
            regions = lines_around(&next, &written);
            masked.text = Cow::Owned(next);
        }
        Ok(masked)
    }

    /// The edits of one region; in the last round the region itself.
    fn look(
        &self,
        searcher: &Searcher,
        text: &str,
        region: &Range<usize>,
        last: bool,
        found: &mut Vec<Edit>,
    ) -> Result<(), RedactError> {
        let part = text.get(region.clone()).unwrap_or_default();
        let marks = placeholder::marks(part.as_bytes())?;
        let mut bytes = Cow::Borrowed(part.as_bytes());
        if !marks.is_empty() {
            placeholder::blank(bytes.to_mut(), &marks);
        }
        let mut findings = Vec::new();
        searcher.find(&bytes, &mut findings)?;
        let mut edits = edits(part, findings, &marks, &self.key)?;
        if last && !edits.is_empty() {
            edits = self.whole_lines(part, &edits)?;
        }
        found.extend(edits.into_iter().map(|edit| edit.behind(region.start)));
        Ok(())
    }
}

impl Redactor {
    /// Masks the lines of `edits` whole.
    fn whole_lines(&self, part: &str, edits: &[Edit]) -> Result<Vec<Edit>, RedactError> {
        let mut lines: Vec<Edit> = Vec::new();
        for edit in edits {
            let span = line_at(part, &edit.span, 0);
            if lines.last().is_none_or(|last| last.span.end < span.start) {
                let line = part.as_bytes().get(span.clone()).unwrap_or_default();
                lines.push(Edit { text: self.key.placeholder("line", line)?, span });
            }
        }
        Ok(lines)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(..)")
    }
}

/// Whether the text is a placeholder and nothing else.
fn is_masked(text: &str) -> bool {
    placeholder::marks(text.as_bytes()).is_ok_and(|marks| marks.first() == Some(&(0..text.len())))
}

fn join<'t>(texts: impl Iterator<Item = &'t str>) -> (String, Vec<Row>) {
    let mut joined = String::new();
    let mut rows = Vec::new();
    for text in texts {
        let start = joined.len();
        joined.push_str(text);
        rows.push(Row { range: start..joined.len(), swallowed: false });
        joined.push('\n');
    }
    (joined, rows)
}

fn row_of(text: &str, row: &Row) -> String {
    text.get(row.range.clone()).unwrap_or_default().to_owned()
}

/// The whole lines around what was written, with a line on either side, in order and apart.
fn lines_around(text: &str, written: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut regions: Vec<Range<usize>> = Vec::new();
    for span in written {
        if regions.last().is_some_and(|region| span.end < region.end) {
            continue;
        }
        let lines = line_at(text, &line_at(text, span, 0), 1);
        match regions.last_mut().filter(|region| lines.start <= region.end) {
            Some(region) => region.end = lines.end,
            None => regions.push(lines),
        }
    }
    regions
}

/// The line around `span`, with `beside` bytes before and behind it taken for a part of it.
fn line_at(text: &str, span: &Range<usize>, beside: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let head = bytes.get(..span.start.saturating_sub(beside)).unwrap_or_default();
    let from = (span.end + beside).min(bytes.len());
    let tail = bytes.get(from..).unwrap_or_default();
    let start = head.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    start..tail.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| from + at)
}
