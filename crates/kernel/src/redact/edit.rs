//! From what was found to the masked text: findings that touch the same bytes become one placeholder.

use std::borrow::Cow;
use std::ops::Range;

use super::RedactError;
use super::fields;
use super::placeholder::RedactionKey;

/// A secret, where it stands in the original.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) span: Range<usize>,
    kind: Cow<'static, str>,
    /// Decoded as far as it was decoded.
    secret: Vec<u8>,
    pub(super) depth: u8,
    /// The lower, the narrower was the rule.
    pub(super) rank: usize,
    known: bool,
}

impl Finding {
    pub(super) fn new(span: Range<usize>, kind: Cow<'static, str>, secret: Vec<u8>, depth: u8, rank: usize) -> Self {
        Self { span, kind, secret, depth, rank, known: false }
    }

    pub(super) fn known(span: Range<usize>, kind: &str, secret: &[u8]) -> Self {
        Self { span, kind: Cow::Owned(kind.to_owned()), secret: secret.to_vec(), depth: 0, rank: 0, known: true }
    }

    /// The same secret, of which a part stands at `span`.
    pub(super) fn part(&self, span: Range<usize>) -> Self {
        Self { span, kind: self.kind.clone(), secret: self.secret.clone(), ..*self }
    }

    /// Which of two that overlap names the placeholder: ours, then the longer, the more decoded, the narrower.
    fn weight(&self) -> (bool, usize, u8, usize) {
        (self.known, self.span.len(), self.depth, usize::MAX - self.rank)
    }
}

/// A stretch of the text and what stands there instead.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) span: Range<usize>,
    pub(super) text: String,
}

impl Edit {
    /// The same edit in a text that has `offset` bytes before.
    pub(super) fn behind(self, offset: usize) -> Self {
        Self { span: self.span.start + offset..self.span.end + offset, text: self.text }
    }
}

/// A row of the text (a line, a JSON string), which survives masking as a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) range: Range<usize>,
    /// Whether it went into the placeholder of a row before it.
    pub(super) swallowed: bool,
}

/// The edits that mask `findings`, in order and apart. `marks` are placeholders of the text, which stay as they are.
pub(super) fn edits(
    text: &str,
    mut findings: Vec<Finding>,
    marks: &[Range<usize>],
    key: &RedactionKey,
) -> Result<Vec<Edit>, RedactError> {
    findings.sort_by(|left, right| left.span.start.cmp(&right.span.start).then(right.span.end.cmp(&left.span.end)));
    let mut edits = Vec::new();
    let mut findings = findings.into_iter().filter(|finding| !finding.span.is_empty()).peekable();
    while let Some(mut best) = findings.next() {
        let mut span = best.span.clone();
        while let Some(next) = findings.next_if(|next| next.span.start < span.end) {
            span.end = span.end.max(next.span.end);
            if next.weight() > best.weight() {
                best = next;
            }
        }
        let span = floor(text, span.start)..ceil(text, span.end);
        for piece in &pieces(&span, marks) {
            let secret = if *piece == span { canonical(&best.secret) } else { bytes(text, piece).into() };
            edits.push(Edit { span: piece.clone(), text: key.placeholder(&best.kind, &secret)? });
        }
    }
    Ok(edits)
}

/// What is left of `span` around the placeholders in it.
fn pieces(span: &Range<usize>, marks: &[Range<usize>]) -> Vec<Range<usize>> {
    let first = marks.partition_point(|mark| mark.end <= span.start);
    let mut pieces = Vec::new();
    let mut from = span.start;
    for mark in marks.iter().skip(first).take_while(|mark| mark.start < span.end) {
        pieces.push(from..mark.start.max(from));
        from = mark.end;
    }
    pieces.push(from..span.end.max(from));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The secret as its owner knows it: a field of base64 or hex of text stands for that text.
pub(super) fn canonical(secret: &[u8]) -> Cow<'_, [u8]> {
    let field = secret.trim_ascii();
    let end = field.iter().rposition(|&byte| byte != b'=').map_or(0, |at| at + 1);
    let letters = field.get(..end).unwrap_or_default();
    match fields::decode(letters) {
        Some(text) if letters.len() >= 8 => Cow::Owned(text.trim_ascii().to_vec()),
        _ => Cow::Borrowed(field),
    }
}

fn bytes<'t>(text: &'t str, span: &Range<usize>) -> &'t [u8] {
    text.as_bytes().get(span.clone()).unwrap_or_default()
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// The masked text, with the rows moved to where they stand in it, and the stretches that were written.
pub(super) fn apply(text: &str, edits: &[Edit], rows: &mut [Row]) -> (String, Vec<Range<usize>>) {
    let mut masked = String::with_capacity(text.len() + edits.len() * 8);
    let mut written = Vec::with_capacity(edits.len());
    let mut from = 0;
    for edit in edits {
        masked.push_str(text.get(from..edit.span.start).unwrap_or_default());
        let start = masked.len();
        masked.push_str(&edit.text);
        written.push(start..masked.len());
        from = edit.span.end;
    }
    masked.push_str(text.get(from..).unwrap_or_default());
    let mut next = 0;
    for row in rows {
        while edits.get(next).is_some_and(|edit| edit.span.end <= row.range.start) {
            next += 1;
        }
        let begins_inside = edits.get(next).is_some_and(|edit| edit.span.start < row.range.start);
        let start = moved(row.range.start, edits, &written, next);
        let mut last = next;
        while edits.get(last).is_some_and(|edit| edit.span.end <= row.range.end) {
            last += 1;
        }
        let end = moved(row.range.end, edits, &written, last).max(start);
        row.swallowed |= begins_inside && start == end && !row.range.is_empty();
        row.range = start..end;
    }
    (masked, written)
}

/// Where the place `at` went; `next` is the first edit that ends behind it. A place within an edit goes to its end.
fn moved(at: usize, edits: &[Edit], written: &[Range<usize>], next: usize) -> usize {
    match (edits.get(next), written.get(next)) {
        (Some(edit), Some(new)) if edit.span.start < at => new.end,
        _ => match next.checked_sub(1).and_then(|before| Some((edits.get(before)?, written.get(before)?))) {
            Some((edit, new)) => new.end + at.saturating_sub(edit.span.end),
            None => at,
        },
    }
}
