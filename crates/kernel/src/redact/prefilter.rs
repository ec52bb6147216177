//! One pass over the text that says where a closer look is worth it.
//!
//! An Aho-Corasick automaton as a DFA, without regard to case; each pattern is an [`Anchor`].

use aho_corasick::automaton::OverlappingState;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::RedactError;
use super::known::Form;
use super::names::FAMILIES;
use super::own::OwnRule;
use super::rules::{Case, SHAPES};

/// What a pattern stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// A keyword of this shape.
    Shape(usize),
    /// The same, if it stands exactly as the keyword is written.
    ShapeExact(usize, &'static str),
    /// A keyword of this rule of the operator's.
    Own(usize),
    /// A name of this family.
    Name(usize),
    /// The head of this form of a known secret.
    Known(usize),
    /// `://`
    Url,
    /// `-----BEGIN`
    PemBegin,
    /// `-----END`
    PemEnd,
    /// `%41`
    Percent,
    /// `kind: Secret`
    Manifest,
    /// `\`
    Backslash,
    /// `&#`, `&quot;`
    Entity,
    /// The first byte of a control sequence or an invisible character.
    Hidden,
}

/// The compiled automaton.
pub(super) struct Prefilter {
    automaton: AhoCorasick,
    anchors: Vec<Anchor>,
}

impl Prefilter {
    pub(super) fn new(forms: &[Form], own: &[OwnRule]) -> Result<Self, RedactError> {
        let mut patterns: Vec<&[u8]> = Vec::new();
        let mut anchors = Vec::new();
        let mut add = |pattern, anchor| {
            patterns.push(pattern);
            anchors.push(anchor);
        };
        for (index, shape) in SHAPES.iter().enumerate() {
            for keyword in shape.keywords {
                let anchor = match shape.case {
                    Case::Exact => Anchor::ShapeExact(index, keyword),
                    Case::Any => Anchor::Shape(index),
                };
                add(keyword.as_bytes(), anchor);
            }
        }
        for (index, rule) in own.iter().enumerate() {
            for keyword in &rule.keywords {
                add(keyword.as_bytes(), Anchor::Own(index));
            }
        }
        for (index, family) in FAMILIES.iter().enumerate() {
            for name in family.names {
                add(name.as_bytes(), Anchor::Name(index));
            }
        }
        for (index, form) in forms.iter().enumerate() {
            add(form.head(), Anchor::Known(index));
        }
        add(b"://", Anchor::Url);
        add(b"-----BEGIN", Anchor::PemBegin);
        add(b"-----END", Anchor::PemEnd);
        for manifest in [b"kind: Secret".as_slice(), b"kind\":\"Secret", b"kind\": \"Secret"] {
            add(manifest, Anchor::Manifest);
        }
        add(b"\\", Anchor::Backslash);
        for entity in [b"&#".as_slice(), b"&quot;", b"&apos;", b"&amp;"] {
            add(entity, Anchor::Entity);
        }
        for percent in [b"%2", b"%3", b"%4", b"%5", b"%6", b"%7", b"%e"] {
            add(percent, Anchor::Percent);
        }
        for hidden in [
            &b"\x1b"[..],
            b"\x00",
            b"\x08",
            b"\x7f",
            b"\xc2\x9b",
            b"\xc2\xad",
            b"\xd8\x9c",
            b"\xcd\x8f",
            b"\xe1\xa0\x8e",
            b"\xe1\x85\x9f",
            b"\xe1\x85\xa0",
            b"\xe3\x85\xa4",
            b"\xef\xbe\xa0",
            b"\xe2\x80\x8b",
            b"\xe2\x80\x8c",
            b"\xe2\x80\x8d",
            b"\xe2\x80\x8e",
            b"\xe2\x80\x8f",
            b"\xe2\x80\xaa",
            b"\xe2\x80\xab",
            b"\xe2\x80\xac",
            b"\xe2\x80\xad",
            b"\xe2\x80\xae",
            b"\xe2\x81",
            b"\xef\xbb\xbf",
            b"\xef\xb8",
            b"\xf3\xa0",
            b"\xef\xbc",
            b"\xef\xbd",
        ] {
            add(hidden, Anchor::Hidden);
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns)
            .map_err(|error| RedactError::Prefilter(error.to_string()))?;
        Ok(Self { automaton, anchors })
    }

    /// Whether there is any anchor in `text`.
    pub(super) fn any(&self, text: &[u8]) -> Result<bool, RedactError> {
        let found = self.automaton.try_find(Input::new(text).earliest(true));
        found.map(|found| found.is_some()).map_err(|error| RedactError::Prefilter(error.to_string()))
    }

    /// Calls `hit` with each anchor in `text` and where it stands, in the order of their ends.
    pub(super) fn each(
        &self,
        text: &[u8],
        mut hit: impl FnMut(Anchor, std::ops::Range<usize>) -> Result<(), RedactError>,
    ) -> Result<(), RedactError> {
        let mut state = OverlappingState::start();
        loop {
            self.automaton
                .try_find_overlapping(Input::new(text), &mut state)
                .map_err(|error| RedactError::Prefilter(error.to_string()))?;
            let Some(found) = state.get_match() else { return Ok(()) };
            let Some(&anchor) = self.anchors.get(found.pattern().as_usize()) else { continue };
            let span = found.start()..found.end();
            if let Anchor::ShapeExact(_, keyword) = anchor
                && text.get(span.clone()) != Some(keyword.as_bytes())
            {
                continue;
            }
            hit(anchor, span)?;
        }
    }
}
