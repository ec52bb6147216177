//! A report as a person reads it in a terminal: the answer first, then what it rests on.

mod writes;

use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::{Finding, FindingKind, Outcome, Report};

use super::style::{Paint, Role};
use super::text::{one_line, visible, wrap};

/// Renders a report in so many columns.
#[must_use]
pub fn render(report: &Report, paint: Paint, columns: usize) -> String {
    let mut page = Page { text: String::new(), paint, columns };
    page.head(report);
    page.findings(&report.findings);
    page.list("Ruled out", report.ruled_out.iter().map(|it| format!("{}: {}{}", it.what, it.why, cites(&it.evidence))));
    page.list("Impact", report.impact.iter().cloned());
    page.list(
        "Timeline",
        report
            .timeline
            .iter()
            .map(|moment| format!("{}  {}{}", clock(&moment.at), moment.what, cites(&moment.evidence))),
    );
    writes::section(&mut page, &report.writes);
    page.list("Next steps", report.next_steps.iter().cloned());
    page.list("Could not see", report.not_seen.iter().cloned());
    page.list(
        "Left out, because the evidence does not bear it out",
        report.unsupported.iter().map(|it| format!("{} ({})", it.claim, it.why)),
    );
    page.evidence(report);
    page.text
}

struct Page {
    text: String,
    paint: Paint,
    columns: usize,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    fn heading(&mut self, text: &str) {
        self.text.push('\n');
        let heading = self.paint.paint(Role::Heading, text);
        self.line(&heading);
    }

    /// Wraps under a first prefix, then under blanks of the same width.
    fn hanging(&mut self, first: &str, text: &str) {
        let indent = unicode_width::UnicodeWidthStr::width(first);
        for (index, line) in wrap(&visible(text), self.columns.saturating_sub(indent)).into_iter().enumerate() {
            let prefix = if index == 0 { first.to_owned() } else { " ".repeat(indent) };
            self.line(&format!("{prefix}{line}"));
        }
    }

    /// Wraps beside a word that is painted already and takes so many columns.
    fn marked(&mut self, word: &str, width: usize, text: &str) {
        let indent = width + 4;
        for (index, line) in wrap(&visible(text), self.columns.saturating_sub(indent)).into_iter().enumerate() {
            let margin = if index == 0 { format!("  {word}  ") } else { " ".repeat(indent) };
            self.line(&format!("{margin}{line}"));
        }
    }

    fn head(&mut self, report: &Report) {
        let (role, word) = match report.outcome {
            Outcome::Confirmed => (Role::Bad, "CONFIRMED"),
            Outcome::Likely => (Role::Careful, "LIKELY"),
            Outcome::NoFault => (Role::Strong, "NO FAULT"),
            Outcome::Inconclusive => (Role::Careful, "INCONCLUSIVE"),
        };
        // The reason may name an alert, so it is a stranger's text as any other.
        let room = self.columns.saturating_sub(word.len() + 2);
        for (index, part) in wrap(&visible(&report.outcome_reason), room).into_iter().enumerate() {
            let part = self.paint.paint(Role::Faint, &part);
            let margin = if index == 0 { self.paint.paint(role, word) } else { " ".repeat(word.len()) };
            self.line(&format!("{margin}  {part}"));
        }
        if report.partial {
            self.hanging("", "This report is partial: code wrote it from the evidence.");
        }
        if report.volatile {
            self.hanging("", "The trace could not be written: this investigation is not kept and can't be resumed.");
        }
        if let Some(root_cause) = &report.root_cause {
            self.heading("Root cause");
            self.hanging("  ", root_cause);
        }
        self.heading("Summary");
        self.hanging("  ", &report.summary);
    }

    fn findings(&mut self, findings: &[Finding]) {
        if findings.is_empty() {
            return;
        }
        self.heading("Findings");
        for finding in findings {
            let kind = match finding.kind {
                FindingKind::Symptom => "symptom",
                FindingKind::Cause => "cause  ",
                FindingKind::Context => "context",
            };
            let at = finding.at.as_deref().map(|at| format!("{}  ", clock(at))).unwrap_or_default();
            self.hanging(&format!("  {kind}  "), &format!("{at}{}{}", finding.claim, cites(&finding.evidence)));
            for quote in &finding.quotes {
                let room = self.columns.saturating_sub(20);
                let shown = format!("“{}” {}", one_line(&visible(&quote.text), room), quote.evidence);
                let faint = self.paint.paint(Role::Faint, &shown);
                self.line(&format!("           {faint}"));
            }
        }
    }

    fn list(&mut self, heading: &str, items: impl Iterator<Item = String>) {
        let items: Vec<String> = items.collect();
        if items.is_empty() {
            return;
        }
        self.heading(heading);
        for item in items {
            self.hanging("  - ", &item);
        }
    }

    fn evidence(&mut self, report: &Report) {
        if report.evidence.is_empty() {
            return;
        }
        self.heading("Evidence");
        for exhibit in &report.evidence {
            let source = exhibit.source.as_deref().map(|source| format!("  [{source}]")).unwrap_or_default();
            // Where it came from is worth more than the end of long arguments.
            let room = self.columns.saturating_sub(8 + unicode_width::UnicodeWidthStr::width(source.as_str()));
            let call = one_line(&visible(&exhibit.call), room);
            self.line(&format!("  {:<4}  {call}{source}", exhibit.evidence.to_string()));
        }
    }
}

fn cites(evidence: &[EvidenceId]) -> String {
    if evidence.is_empty() {
        return String::new();
    }
    format!(" ({})", evidence.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// The time of day of an RFC 3339 time; reports span minutes, and the whole stands in `--json`.
fn clock(at: &str) -> String {
    let time = at.parse::<jiff::Timestamp>();
    time.map_or_else(|_| at.to_owned(), |time| time.strftime("%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests;
