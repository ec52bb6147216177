//! A report: the answer as one short message, then what it rests on as messages of its thread.
//!
//! What the short message has no room for it says, and the thread has it whole. A cause that is not confirmed is called a
//! hypothesis. Links lead to the sources' own pages, on hosts of the config, or stay away.

mod cited;

mod details;

mod pages;

pub use cited::Cited;
pub use pages::pages;

#[cfg(test)]
pub(in crate::chat::slack) mod tests;

use std::collections::BTreeMap;

use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::{Outcome, Report, WriteOutcome};
use warrant_kernel::domain::run::Run as Investigation;

use super::action::Action;
use super::blocks::{Button, FileId, Look, Message, Page, Run, Text, Weight};
use super::escape::{Hosts, Link, Shown};

/// Most characters of one text of the short message.
const SHORT: usize = 900;

/// Where the evidence can be seen.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The hosts that links may lead to.
    pub hosts: &'a Hosts,
    /// Pages of the sources' own, by evidence.
    pub pages: &'a BTreeMap<EvidenceId, String>,
    /// What the evidence says, by evidence.
    pub cited: &'a BTreeMap<EvidenceId, Cited>,
}

impl Sources<'_> {
    fn link(&self, id: EvidenceId) -> Option<Link> {
        self.hosts.link(self.pages.get(&id)?)
    }

    /// The evidence behind a claim, as links where there are pages.
    fn cites(&self, evidence: &[EvidenceId]) -> Vec<Run> {
        let mut runs = Vec::new();
        for (n, id) in evidence.iter().enumerate() {
            runs.push(Run::plain(Shown::own(if n == 0 { " (" } else { ", " })));
            let label = Shown::line(&id.to_string());
            runs.push(match self.link(*id) {
                Some(link) => Run::Link(link, Text::fit(label)),
                None => Run::plain(label),
            });
        }
        if !evidence.is_empty() {
            runs.push(Run::plain(Shown::own(")")));
        }
        runs
    }
}

/// A report as messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The answer.
    pub answer: Message,
    /// What it rests on, in order.
    pub details: Vec<Message>,
}

/// Renders the report of an investigation.
#[must_use]
pub fn render(report: &Report, run: &Investigation, sources: &Sources<'_>) -> Rendered {
    let mut short = Short { page: Page::empty(), cut: Cut::Nothing };
    short.tell(report, run);
    let (cut, blocks) = (short.cut, short.page.into_blocks());
    // Its texts are short, so it always fits.
    let answer =
        Message::one(blocks, notice(report, run)).unwrap_or_else(|| Message::words(Text::fit(notice(report, run))));
    let mut page = Page::empty();
    details::tell(&mut page, report, sources, cut);
    Rendered { answer, details: Message::split(page.into_blocks(), &Shown::own("What the report rests on")) }
}

/// In place of a report that not everybody may read who reads there.
#[must_use]
pub fn elsewhere(run: &Investigation) -> Message {
    let text = Shown::own(
        "The report is written. It is not shown here, since not everybody who reads here may see what it \
                           rests on; whoever may reads it with: warrant investigations show ",
    );
    Message::words(Text::fit(text.then_line(run.investigation.as_str())))
}

/// A chart, once it is uploaded; `says` is for those who can't see it.
#[must_use]
pub fn picture(file: FileId, says: &str) -> Message {
    let mut page = Page::empty();
    page.image(file, Text::fit(Shown::own("Chart: ").then_line(says)));
    page.context(&[Text::fit(Shown::line(says))]);
    Message::one(page.into_blocks(), Shown::own("A chart"))
        .unwrap_or_else(|| Message::words(Text::fit(Shown::own("A chart"))))
}

/// Whether the short message leaves something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Nothing,
    Something,
}

/// How sure it is, in a word.
fn outcome(report: &Report) -> &'static str {
    match report.outcome {
        Outcome::Confirmed => "CONFIRMED",
        Outcome::Likely => "LIKELY",
        Outcome::NoFault => "NO FAULT",
        Outcome::Inconclusive => "INCONCLUSIVE",
    }
}

/// What the cause is called: only a confirmed one is no hypothesis.
fn cause(report: &Report) -> &'static str {
    match report.outcome {
        Outcome::Confirmed => "Root cause",
        Outcome::Likely => "Likely cause, a hypothesis",
        Outcome::NoFault | Outcome::Inconclusive => "A hypothesis, not confirmed",
    }
}

fn headline(report: &Report, run: &Investigation) -> Shown {
    let head = Shown::own(outcome(report));
    match &run.service {
        Some(service) => head.then(" · ").then_line(service.as_str()),
        None => head,
    }
}

fn notice(report: &Report, run: &Investigation) -> Shown {
    headline(report, run).then(": ").then_line(report.root_cause.as_ref().unwrap_or(&report.summary))
}

struct Short {
    page: Page,
    cut: Cut,
}

impl Short {
    fn tell(&mut self, report: &Report, run: &Investigation) {
        self.page.header(Text::fit(headline(report, run)));
        if let Some(root_cause) = &report.root_cause {
            self.text(cause(report), root_cause);
        }
        self.text("Summary", &report.summary);
        self.text("Why this outcome", &report.outcome_reason);
        if let Some(impact) = &report.impact {
            self.text("Impact", impact);
        }
        if let Some(next) = report.next_steps.first() {
            self.text("Next step", next);
            let more = report.next_steps.len() - 1;
            if more > 0 {
                self.page.context(&[Text::fit(Shown::line(&format!("{more} more in the thread")))]);
            }
        }
        self.writes(report);
        let mut small = vec![Shown::own("investigation ").then_line(run.investigation.as_str())];
        small.push(Shown::own("written by ").then_line(&report.written_by));
        if report.partial {
            small.push(Shown::own("partial: code wrote it from the evidence"));
        }
        if report.volatile {
            small.push(Shown::own("not kept: its trace could not be written"));
        }
        small.push(Shown::own("what it rests on stands in the thread"));
        self.page.context(&small.into_iter().map(Text::fit).collect::<Vec<_>>());
        let button = |action, label| Button::new(action, label, &run.investigation, Weight::Usual);
        self.page.buttons(vec![button(Action::Helpful, "Helpful"), button(Action::Wrong, "Wrong")]);
    }

    fn text(&mut self, title: &'static str, text: &str) {
        self.page.title(title, Shown::own(""));
        let shown = Shown::lines(text);
        let all = shown.chars();
        let (head, rest) = shown.parted(SHORT);
        let mut runs = vec![Run::plain(head.clone())];
        if !rest.is_empty() {
            self.cut = Cut::Something;
            let note = format!(" … {} more characters in the thread", all - head.chars());
            runs.push(Run::Words(Shown::line(&note), Look::Italic));
        }
        self.page.say(runs);
    }

    /// How the writes ended, in counts; nothing where none was proposed.
    fn writes(&mut self, report: &Report) {
        const ORDER: [WriteOutcome; 7] = [
            WriteOutcome::Done,
            WriteOutcome::Pending,
            WriteOutcome::Unknown,
            WriteOutcome::Denied,
            WriteOutcome::Expired,
            WriteOutcome::Revoked,
            WriteOutcome::NotDone,
        ];
        let counts = ORDER.iter().filter_map(|outcome| {
            let count = report.writes.iter().filter(|written| written.outcome == *outcome).count();
            (count > 0).then(|| format!("{count} {}", outcome.as_str()))
        });
        let counts: Vec<String> = counts.collect();
        if !counts.is_empty() {
            self.page.title("Changes", Shown::line(&counts.join(", ")));
        }
    }
}
