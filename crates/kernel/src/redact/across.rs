//! Takes what is found without the breaks of a [`Seam`] for a secret that they divide, or for chance neighbours.

use std::ops::Range;

use super::RedactError;
use super::decode::View;
use super::edit::Finding;
use super::fields;
use super::names::NAMED;
use super::seam::{self, Glance, Seam};
use super::search::Searcher;
use super::value;

impl Searcher {
    /// Secrets that line breaks divide. They are masked in each line of which they are a part.
    pub(super) fn across_breaks(&self, text: &[u8], findings: &mut Vec<Finding>) -> Result<(), RedactError> {
        let ends = Ends::of(findings);
        let wanted = |glance: &Glance<'_>| Ok(ends.has(glance.end) || self.may_hold(glance)?);
        seam::each(text, wanted, |seam| {
            findings.extend(named_before(text, seam, findings, &ends));
            let view = View::joined(seam.text.clone(), seam.map.clone())?;
            let mut found = Vec::new();
            self.walk(&view.text, Some(&view), 1, &mut found)?;
            for finding in found {
                let pieces = divided(text, seam, &finding, &ends);
                findings.extend(pieces.into_iter().map(|piece| finding.part(piece)));
            }
            Ok(())
        })
    }

    /// Whether a break may divide a secret: one whose name or keyword stands in the runs, or before what looks like a
    /// token, or a field of base64 or hex.
    fn may_hold(&self, glance: &Glance<'_>) -> Result<bool, RedactError> {
        if self.prefilter.any(glance.joined)? {
            return Ok(true);
        }
        if glance.is_field {
            // Of a name of several words the last one may be divided.
            return Ok(glance.joined.len() <= 12 && self.prefilter.any(glance.before)?);
        }
        if glance.joined.len() >= LONG {
            return Ok(true);
        }
        if glance.joined.len() >= 8 && value::is_mixed(glance.joined) && self.prefilter.any(glance.before)? {
            return Ok(true);
        }
        let mut any = false;
        fields::each(glance.joined, |_, _| {
            any = true;
            Ok::<(), RedactError>(())
        })?;
        Ok(any)
    }
}

/// Runs that are longer together are no words of ordinary text, and a glance may not hold all of them.
const LONG: usize = 256;

/// Where what was found in single lines ends, and by what.
struct Ends(Vec<(usize, usize)>);

impl Ends {
    fn of(findings: &[Finding]) -> Self {
        let mut ends: Vec<_> = findings.iter().enumerate().map(|(at, finding)| (finding.span.end, at)).collect();
        ends.sort_unstable();
        Self(ends)
    }

    fn has(&self, end: usize) -> bool {
        self.at(end).is_some()
    }

    /// Which finding ends there.
    fn at(&self, end: usize) -> Option<usize> {
        let first = self.0.partition_point(|(other, _)| *other < end);
        self.0.get(first).filter(|(other, _)| *other == end).map(|(_, at)| *at)
    }
}

/// The rest of a value that was found by its name and ends with the line, the name standing somewhere before.
fn named_before(text: &[u8], seam: &Seam, findings: &[Finding], ends: &Ends) -> Option<Finding> {
    let gap = seam.gaps.first()?;
    let finding = findings.get(ends.at(gap.start)?).filter(|finding| finding.rank >= NAMED && finding.depth == 0)?;
    let end = seam.gaps.get(1).map_or(*seam.map.last()?, |next| next.start);
    let run = text.get(gap.end..end)?;
    let rest = run.split(|byte| matches!(byte, b' ' | b'"' | b'\'' | b',' | b';')).next()?;
    seam::is_rest(rest).then(|| finding.part(gap.end..gap.end + rest.len()))
}

/// The parts of a secret that the breaks of a seam divide; none where chance neighbours were found.
fn divided(text: &[u8], seam: &Seam, finding: &Finding, ends: &Ends) -> Vec<Range<usize>> {
    let mut pieces = seam.pieces(&finding.span);
    let is_rest = |piece: &Range<usize>| seam::is_rest(text.get(piece.clone()).unwrap_or_default());
    while let [.., before, last] = pieces.as_slice() {
        // What goes on behind a whole secret, or behind a value, may be the first word of the next line.
        let in_doubt = finding.depth <= 1 && (finding.rank >= NAMED || ends.has(before.end));
        if !in_doubt || is_rest(last) {
            return pieces;
        }
        pieces.pop();
    }
    // All of it stands in one line. The name before it was divided, or the break is between them.
    pieces.retain(|piece| {
        let behind = seam.gaps.iter().any(|gap| gap.end == piece.start);
        let divided = seam.gaps.first().is_some_and(|gap| gap.end < piece.start) && !ends.has(piece.end);
        if behind { is_rest(piece) } else { divided }
    });
    pieces
}
