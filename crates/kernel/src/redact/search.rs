//! Finds secrets in a text: follows each anchor of the prefilter, and decodes where something is encoded.
//!
//! Every look at an anchor is bounded by a window, and a window is gone over once for each shape, so the whole is
//! linear in the text however long its lines are.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::RedactError;
use super::decode::{Decoding, View};
use super::edit::Finding;
use super::extent::Reach;
use super::known::{Form, KnownSecret, forms};
use super::names::{FAMILIES, NAMED, secret_beside};
use super::own::OwnRule;
use super::prefilter::{Anchor, Prefilter};
use super::rules::{Check, SHAPES};
use super::{fields, manifest, pem, url, value};

/// How far before an anchor a secret may begin.
const BEFORE: usize = 256;
/// How far before an encoded character decoding begins.
const LINE_BEFORE: usize = 4 * 1024;
/// How far behind an anchor it may end; windows over one long line overlap by a quarter.
const SHAPE_WINDOW: usize = 16 * 1024;
/// The same where text is decoded, which may hold a whole private key.
const DECODE_WINDOW: usize = 64 * 1024;
/// The same for a rule of the operator's, and how many secrets it finds in a window.
const OWN_WINDOW: usize = 2 * 1024;
const OWN_AT_ONCE: usize = 32;
/// How many encodings may lie around a secret.
const DEPTH: u8 = 4;

/// The compiled shapes and known secrets, shared by all investigations.
pub(super) struct Searcher {
    pub(super) prefilter: Prefilter,
    shapes: Vec<OnceLock<Result<Regex, RedactError>>>,
    forms: Vec<Form>,
    own: Vec<OwnRule>,
}

/// What one walk over a text has done so far.
struct Walk<'v> {
    view: Option<&'v View>,
    depth: u8,
    /// For each shape, and for each way to decode, up to where windows have been looked at.
    seen: Vec<usize>,
    decoded: (usize, usize, usize, usize),
    /// Up to where manifests have been read.
    manifests: usize,
    pem_end: usize,
    /// Up to where the last named value goes.
    named: usize,
    reach: Reach,
}

impl Searcher {
    pub(super) fn new(known: impl IntoIterator<Item = KnownSecret>, own: Vec<OwnRule>) -> Result<Self, RedactError> {
        let forms = forms(known);
        let prefilter = Prefilter::new(&forms, &own)?;
        Ok(Self { prefilter, shapes: SHAPES.iter().map(|_| OnceLock::new()).collect(), forms, own })
    }

    /// All secrets in `text`, in which placeholders are blanked.
    pub(super) fn find(&self, text: &[u8], findings: &mut Vec<Finding>) -> Result<(), RedactError> {
        self.walk(text, None, 0, findings)?;
        self.across_breaks(text, findings)
    }

    pub(super) fn walk(
        &self,
        text: &[u8],
        view: Option<&View>,
        depth: u8,
        findings: &mut Vec<Finding>,
    ) -> Result<(), RedactError> {
        let mut walk = Walk {
            view,
            depth,
            seen: vec![0; SHAPES.len() + self.own.len()],
            decoded: (0, 0, 0, 0),
            manifests: 0,
            pem_end: 0,
            named: 0,
            reach: Reach::default(),
        };
        // The keyword of a glued flag begins with what stands before it; here nothing does.
        if text.starts_with(b"-p")
            && let Some(index) = SHAPES.iter().position(|shape| shape.check == Check::Glued)
        {
            self.shape(text, index, &(0..2), &mut walk, findings)?;
        }
        self.prefilter.each(text, |anchor, hit| self.follow(text, anchor, &hit, &mut walk, findings))?;
        if depth >= DEPTH {
            return Ok(());
        }
        fields::each(text, |field, decoded| {
            let inner = View::field(view.map_or(field.clone(), |view| view.origin(&field)), decoded)?;
            self.walk(&inner.text, Some(&inner), depth + 1, findings)
        })
    }

    fn follow(
        &self,
        text: &[u8],
        anchor: Anchor,
        hit: &Range<usize>,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), RedactError> {
        match anchor {
            Anchor::Shape(index) | Anchor::ShapeExact(index, _) => self.shape(text, index, hit, walk, findings)?,
            Anchor::Own(index) => self.own(text, index, hit, walk, findings),
            // A name within a value that was found already says nothing new.
            Anchor::Name(_) if hit.end <= walk.named => {}
            Anchor::Name(index) => {
                if let Some(family) = FAMILIES.get(index)
                    && let Some(span) = secret_beside(text, hit, family, &mut walk.reach)
                {
                    walk.named = span.end;
                    walk.push(text, family.kind, span, NAMED, findings);
                }
            }
            Anchor::Known(index) => {
                if let Some(form) = self.forms.get(index)
                    && text.get(hit.start..).is_some_and(|rest| rest.starts_with(&form.written))
                {
                    let span = walk.origin(&(hit.start..hit.start + form.written.len()));
                    findings.push(Finding::known(span, &form.kind, &form.secret));
                }
            }
            Anchor::Url => {
                if let Some((kind, span)) = url::secret_in(text, hit) {
                    walk.push(text, kind, span, 50, findings);
                }
            }
            Anchor::PemBegin if hit.start >= walk.pem_end => {
                if let Some((kind, span)) = pem::block_from(text, hit.start) {
                    walk.pem_end = span.end;
                    walk.push_pem(text, kind, span, findings);
                }
            }
            Anchor::PemEnd if hit.start >= walk.pem_end => {
                if let Some((kind, span)) = pem::block_before(text, hit.start) {
                    walk.pem_end = span.end;
                    walk.push_pem(text, kind, span, findings);
                }
            }
            Anchor::Percent => self.decode(text, Decoding::Url, hit, walk, findings)?,
            Anchor::Backslash => self.decode(text, Decoding::Escapes, hit, walk, findings)?,
            Anchor::Entity => self.decode(text, Decoding::Entities, hit, walk, findings)?,
            Anchor::Manifest if hit.start >= walk.manifests => {
                let (values, end) = manifest::values(text, hit.start);
                walk.manifests = end;
                for value in values {
                    walk.push(text, "k8s_secret", value, NAMED, findings);
                }
            }
            Anchor::PemBegin | Anchor::PemEnd | Anchor::Manifest => {}
            Anchor::Hidden => self.decode(text, Decoding::Plain, hit, walk, findings)?,
        }
        Ok(())
    }

    fn shape(
        &self,
        text: &[u8],
        index: usize,
        hit: &Range<usize>,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), RedactError> {
        let (Some(shape), Some(seen)) = (SHAPES.get(index), walk.seen.get_mut(index)) else { return Ok(()) };
        if hit.end <= *seen {
            return Ok(());
        }
        let (window, next) = window(text, hit, BEFORE, SHAPE_WINDOW);
        *seen = next;
        let regex = self.regex(index)?;
        let part = text.get(window.clone()).unwrap_or_default();
        for captures in regex.captures_iter(part) {
            let Some(found) = captures.name("s").or_else(|| captures.get(0)) else { continue };
            let span = window.start + found.start()..window.start + found.end();
            let secret = found.as_bytes();
            let yes = match shape.check {
                Check::None => true,
                Check::Real => !value::is_blank(secret),
                Check::Random => value::is_random(secret),
                Check::AwsSecret => value::is_aws_secret(secret),
                Check::Basic => fields::decode(secret).is_some_and(|text| text.contains(&b':')),
                Check::Glued => value::is_glued(secret),
                Check::Cookies => {
                    for cookie in value::cookies(secret) {
                        let cookie = span.start + cookie.start..span.start + cookie.end;
                        walk.push(text, shape.kind, cookie, index, findings);
                    }
                    false
                }
            };
            if yes {
                walk.push(text, shape.kind, span, index, findings);
            }
        }
        Ok(())
    }

    /// A rule of the operator's: its pattern may be any, so a window is small, and little of it is done at once.
    fn own(&self, text: &[u8], index: usize, hit: &Range<usize>, walk: &mut Walk<'_>, findings: &mut Vec<Finding>) {
        let rank = SHAPES.len() + index;
        let (Some(rule), Some(seen)) = (self.own.get(index), walk.seen.get_mut(rank)) else { return };
        if hit.end <= *seen {
            return;
        }
        let (window, next) = window(text, hit, BEFORE, OWN_WINDOW);
        *seen = next;
        let part = text.get(window.clone()).unwrap_or_default();
        let mut found: Vec<Range<usize>> = Vec::new();
        for captures in rule.regex.captures_iter(part).take(OWN_AT_ONCE) {
            let secret = captures.name("s").or_else(|| captures.get(0)).map(|secret| secret.range());
            found.extend(secret.filter(|secret| !secret.is_empty()));
        }
        if let Some(last) = found.last().filter(|_| found.len() == OWN_AT_ONCE) {
            // The next keyword behind is looked at anew.
            *seen = window.start + last.end;
        }
        for secret in found {
            let span = window.start + secret.start..window.start + secret.end;
            let kind = Cow::Owned(rule.name.clone());
            let secret = text.get(span.clone()).unwrap_or_default().to_vec();
            findings.push(Finding::new(walk.origin(&span), kind, secret, walk.depth, rank));
        }
    }

    #[cfg(test)]
    pub(super) fn compile_all(&self) -> Result<(), RedactError> {
        (0..SHAPES.len()).try_for_each(|index| self.regex(index).map(|_| ()))
    }

    fn regex(&self, index: usize) -> Result<&Regex, RedactError> {
        let (Some(cell), Some(shape)) = (self.shapes.get(index), SHAPES.get(index)) else {
            return Err(RedactError::Rule { kind: index.to_string(), message: "no such rule".to_owned() });
        };
        cell.get_or_init(|| {
            RegexBuilder::new(shape.pattern)
                .unicode(false)
                .build()
                .map_err(|error| RedactError::Rule { kind: shape.kind.to_owned(), message: error.to_string() })
        })
        .as_ref()
        .map_err(Clone::clone)
    }

    fn decode(
        &self,
        text: &[u8],
        decoding: Decoding,
        hit: &Range<usize>,
        walk: &mut Walk<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), RedactError> {
        let seen = match decoding {
            Decoding::Plain => &mut walk.decoded.0,
            Decoding::Url => &mut walk.decoded.1,
            Decoding::Escapes => &mut walk.decoded.2,
            Decoding::Entities => &mut walk.decoded.3,
        };
        if walk.depth >= DEPTH || hit.end <= *seen {
            return Ok(());
        }
        let (window, next) = window(text, hit, LINE_BEFORE, DECODE_WINDOW);
        *seen = next;
        match View::decoded(text, walk.view, &window, decoding)? {
            Some(inner) => self.walk(&inner.text, Some(&inner), walk.depth + 1, findings),
            None => Ok(()),
        }
    }
}

impl Walk<'_> {
    fn origin(&self, span: &Range<usize>) -> Range<usize> {
        self.view.map_or(span.clone(), |view| view.origin(span))
    }

    fn push(&self, text: &[u8], kind: &'static str, span: Range<usize>, rank: usize, findings: &mut Vec<Finding>) {
        let secret = text.get(span.clone()).unwrap_or_default().to_vec();
        findings.push(Finding::new(self.origin(&span), Cow::Borrowed(kind), secret, self.depth, rank));
    }

    fn push_pem(&self, text: &[u8], kind: &'static str, span: Range<usize>, findings: &mut Vec<Finding>) {
        let secret = pem::body(text.get(span.clone()).unwrap_or_default());
        findings.push(Finding::new(self.origin(&span), Cow::Borrowed(kind), secret, self.depth, 0));
    }
}

/// The line around `hit` as far as it is near, and up to where anchors need not be followed again.
fn window(text: &[u8], hit: &Range<usize>, before: usize, size: usize) -> (Range<usize>, usize) {
    let from = hit.start.saturating_sub(before);
    let head = text.get(from..hit.start).unwrap_or_default();
    let start = head.iter().rposition(|&byte| byte == b'\n').map_or(from, |at| from + at + 1);
    let to = (hit.end + size).min(text.len());
    let tail = text.get(hit.end..to).unwrap_or_default();
    match tail.iter().position(|&byte| byte == b'\n') {
        Some(at) => (start..hit.end + at, hit.end + at),
        None if to == text.len() => (start..to, to),
        None => (start..to, to - size / 4),
    }
}
