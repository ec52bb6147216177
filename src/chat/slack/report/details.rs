//! What a report rests on: findings, what was ruled out, when, what was changed, and the evidence.

use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::{Finding, FindingKind, Report, WriteOutcome, Written};

use super::{Cut, Sources, cause};
use crate::chat::slack::blocks::{Look, Page, Run, Text};
use crate::chat::slack::card::{came, trust};
use crate::chat::slack::escape::{Exact, Shown};
use crate::chat::words::origin;

/// Lines of one piece of evidence.
const LINES: usize = 6;

/// Characters of one of its lines.
const WIDTH: usize = 300;

/// All of it, in the order in which it is read.
pub(super) fn tell(page: &mut Page, report: &Report, sources: &Sources<'_>, cut: Cut) {
    if cut == Cut::Something {
        whole(page, report);
    }
    findings(page, &report.findings, sources);
    let ruled_out = report.ruled_out.iter().map(|it| (format!("{}: {}", it.what, it.why), it.evidence.as_slice()));
    list(page, "Ruled out", ruled_out, sources);
    let moment = |at: &str, what: &str| format!("{}  {what}", clock(at));
    let timeline = report.timeline.iter().map(|it| (moment(&it.at, &it.what), it.evidence.as_slice()));
    list(page, "Timeline", timeline, sources);
    writes(page, &report.writes, sources);
    if report.next_steps.len() > 1 {
        list(page, "Next steps", plain(&report.next_steps), sources);
    }
    list(page, "Could not see", plain(&report.not_seen), sources);
    let unsupported = report.unsupported.iter().map(|it| (format!("{} ({})", it.claim, it.why), [].as_slice()));
    list(page, "Left out, because the evidence does not bear it out", unsupported, sources);
    evidence(page, report, sources);
}

/// What the short message cut.
fn whole(page: &mut Page, report: &Report) {
    for (title, text) in [
        (cause(report), report.root_cause.as_ref()),
        ("Summary", Some(&report.summary)),
        ("Why this outcome", Some(&report.outcome_reason)),
        ("Impact", report.impact.as_ref()),
        ("Next step", report.next_steps.first()),
    ] {
        if let Some(text) = text {
            page.title(title, Shown::own("whole"));
            page.say(vec![Run::plain(Shown::lines(text))]);
        }
    }
}

fn plain(items: &[String]) -> impl Iterator<Item = (String, &[EvidenceId])> {
    items.iter().map(|item| (item.clone(), [].as_slice()))
}

fn list<'a>(
    page: &mut Page,
    title: &'static str,
    items: impl Iterator<Item = (String, &'a [EvidenceId])>,
    sources: &Sources<'_>,
) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        page.title(title, Shown::own(""));
    }
    for (text, evidence) in items {
        let mut runs = vec![Run::plain(Shown::lines(&text))];
        runs.extend(sources.cites(evidence));
        page.bullet(runs);
    }
}

fn findings(page: &mut Page, findings: &[Finding], sources: &Sources<'_>) {
    if findings.is_empty() {
        return;
    }
    page.title("Findings", Shown::own(""));
    for finding in findings {
        let kind = match finding.kind {
            FindingKind::Symptom => "symptom  ",
            FindingKind::Cause => "cause  ",
            FindingKind::Context => "context  ",
        };
        let mut runs = vec![Run::bold(kind)];
        if let Some(at) = &finding.at {
            runs.push(Run::plain(Shown::line(&clock(at)).then("  ")));
        }
        runs.push(Run::plain(Shown::lines(&finding.claim)));
        runs.extend(sources.cites(&finding.evidence));
        page.bullet(runs);
        let quotes = finding.quotes.iter().flat_map(|quote| {
            let mark = format!("┆ {}: ", quote.evidence);
            quote.text.lines().map(move |line| Exact::of(&format!("{mark}{line}")))
        });
        let quotes: Vec<Exact> = quotes.collect();
        page.exact(&quotes);
    }
}

fn writes(page: &mut Page, writes: &[Written], sources: &Sources<'_>) {
    if writes.is_empty() {
        return;
    }
    page.title("Changes", Shown::own(""));
    for written in writes {
        let ended = match written.outcome {
            WriteOutcome::Done => "done  ",
            WriteOutcome::NotDone => "not done  ",
            WriteOutcome::Denied => "denied  ",
            WriteOutcome::Expired => "expired  ",
            WriteOutcome::Revoked => "taken back  ",
            WriteOutcome::Pending => "waits for people  ",
            WriteOutcome::Unknown => "NOT KNOWN whether it took effect  ",
        };
        let mut runs = vec![Run::bold(ended), Run::plain(Shown::line(&written.what))];
        runs.extend(sources.cites(written.evidence.as_slice()));
        page.bullet(runs);
        for line in more(written) {
            page.quote(line);
        }
    }
}

/// Which approval, who decided, why, whether it helped, how to take it back and how to prove it.
fn more(written: &Written) -> Vec<Shown> {
    let mut lines = Vec::new();
    if let Some(id) = written.approval {
        let tier = written.tier.map(|tier| format!(", {}", tier.as_str())).unwrap_or_default();
        let who = written.decided_by.join(", ");
        let by = if who.is_empty() { who } else { format!(": {who}") };
        lines.push(Shown::line(&format!("{id}{tier}{by}")));
    }
    lines.extend(written.reason.as_ref().map(|reason| Shown::own("reason: ").and(&Shown::lines(reason))));
    lines.extend(came(written));
    lines
}

fn evidence(page: &mut Page, report: &Report, sources: &Sources<'_>) {
    if report.evidence.is_empty() {
        return;
    }
    page.title("Evidence", Shown::own(""));
    for exhibit in &report.evidence {
        let id = Shown::line(&exhibit.evidence.to_string());
        let name = match sources.link(exhibit.evidence) {
            Some(link) => Run::Link(link, Text::fit(id)),
            None => Run::Words(id, Look::Bold),
        };
        let source = exhibit.source.as_ref().map(|source| format!(" [{source}]")).unwrap_or_default();
        let mut runs = vec![name, Run::plain(Shown::own("  ").then_line(&exhibit.call).then_line(&source))];
        let cited = sources.cited.get(&exhibit.evidence);
        if let Some(cited) = cited {
            let shown = cited.lines.len().min(LINES);
            let label = Shown::own("  ").then(trust(cited.origin)).then(origin(cited.origin));
            let label = label.then_line(&format!(", {shown} of {} lines", cited.of));
            runs.push(Run::Words(label, Look::Italic));
        }
        page.say(runs);
        let lines = cited.map(|cited| cited.lines.iter().take(LINES)).into_iter().flatten();
        let lines: Vec<Exact> = lines.map(|line| Exact::marked("┆ ", line).cut(WIDTH)).collect();
        page.exact(&lines);
    }
}

/// The time of day of an RFC 3339 time.
fn clock(at: &str) -> String {
    let time = at.parse::<jiff::Timestamp>();
    time.map_or_else(|_| at.to_owned(), |time| time.strftime("%H:%M:%SZ").to_string())
}
