//! An alert's thread: its first message, which is edited as members come and go, and what is told beneath it.
//!
//! The texts are strangers'. What is kept of an incident is bounded by whoever keeps it; what is not kept is counted here.

mod handover;

pub use handover::{Handover, handover};

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use warrant_kernel::domain::name::{InvestigationId, ServiceName};

use super::blocks::{Message, Page, Run, Text};
use super::escape::{Exact, Link, Shown};

/// Members that are shown.
const MEMBERS: usize = 15;

/// Links that are shown; the catalog has the others.
const LINKS: usize = 5;

/// Characters of one line.
const WIDTH: usize = 200;

/// Whether an alert fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Firing {
    /// It does.
    Firing,
    /// It did.
    Resolved,
}

/// One alert of an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The service, if one is known.
    pub service: Option<ServiceName>,
    /// Its severity, in the sender's word.
    pub severity: String,
    /// Whether it fires.
    pub firing: Firing,
    /// Since when.
    pub since: Timestamp,
}

/// Whether it is looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// An investigation runs, or ran.
    By(InvestigationId),
    /// One begins when a slot is free.
    Waits,
    /// It is recorded only.
    RecordedOnly,
}

/// An incident, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incident {
    /// Its id.
    pub id: String,
    /// The alert that began it.
    pub name: String,
    /// The service in question, if one is known.
    pub service: Option<ServiceName>,
    /// The group that owns the service, as the catalog has it.
    pub team: Option<String>,
    /// Pages about the service of the catalog, with their titles.
    pub links: Vec<(String, Link)>,
    /// The highest severity so far, in the sender's word.
    pub severity: String,
    /// Since when.
    pub since: Timestamp,
    /// What the first alert says.
    pub text: String,
    /// Members that are kept.
    pub members: Vec<Member>,
    /// Members that are counted and not kept.
    pub more: u64,
    /// How many fire now, those that are not kept among them.
    pub firing: u64,
    /// How many are resolved.
    pub resolved: u64,
    /// Alerts that were folded into this one message, where there is a storm.
    pub folded: u64,
    /// How often this came before, and what it was then; to be checked.
    pub before: Option<String>,
    /// Whether it is looked into.
    pub looked: Looked,
}

/// What is told beneath the first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// An alert came.
    Came(Member),
    /// An alert is resolved.
    Resolved(Member),
    /// A resolved one fires again.
    Again(Member),
    /// The severity is higher now.
    Raised {
        /// The word for it.
        severity: String,
    },
    /// All are resolved.
    Over,
}

/// The first message of the thread, as things stand; the same message is edited.
#[must_use]
pub fn render(incident: &Incident) -> Message {
    let mut page = Page::empty();
    page.header(Text::fit(headline(incident)));
    page.title("Alerts", Shown::line(&counts(incident)));
    if incident.folded > 0 {
        let storm = format!("A storm: {} alerts are folded into this message; each is recorded.", incident.folded);
        page.say(vec![Run::plain(Shown::line(&storm))]);
    }
    page.title("The first one says", Shown::own("untrusted text"));
    let text: Vec<Exact> = incident.text.lines().take(10).map(|line| Exact::marked("┆ ", line).cut(WIDTH)).collect();
    page.exact(&text);
    let left = incident.text.lines().count().saturating_sub(10);
    if left > 0 {
        page.say(vec![Run::plain(Shown::line(&format!("… {left} more lines")))]);
    }
    members(&mut page, incident);
    if let Some(before) = &incident.before {
        page.title("Before", Shown::own("a hypothesis, to be checked"));
        page.quote(Shown::lines(before).parted(900).0);
    }
    pages(&mut page, &incident.links);
    let mut small = vec![Shown::own("incident ").then_line(&incident.id)];
    small.push(Shown::own("since ").then_line(&clock(incident.since)));
    small.push(match &incident.looked {
        Looked::By(id) => Shown::own("investigation ").then_line(id.as_str()),
        Looked::Waits => Shown::own("an investigation begins when a slot is free"),
        Looked::RecordedOnly => Shown::own("recorded only"),
    });
    small.extend(incident.team.iter().map(|team| Shown::own("owned by ").then_line(team)));
    page.context(&small.into_iter().map(Text::fit).collect::<Vec<_>>());
    let blocks = page.into_blocks();
    let notice = || headline(incident).then(": ").then_line(&counts(incident));
    // Everything in it is short, so it always fits.
    Message::one(blocks, notice()).unwrap_or_else(|| Message::words(Text::fit(notice())))
}

/// What is told beneath it.
#[must_use]
pub fn news(news: &News) -> Message {
    let about = |words: &'static str, member: &Member| {
        Shown::own(words).then_line(&member.name).then(" ").then_line(&place(member))
    };
    Message::words(Text::fit(match news {
        News::Came(member) => about("Joined: ", member),
        News::Resolved(member) => about("Resolved: ", member),
        News::Again(member) => about("Fires again: ", member),
        News::Raised { severity } => Shown::own("The severity is now ").then_line(severity),
        News::Over => Shown::own("All alerts of this incident are resolved."),
    }))
}

fn headline(incident: &Incident) -> Shown {
    let word = if incident.firing > 0 { Shown::line(&incident.severity) } else { Shown::own("resolved") };
    let head = word.then(" · ").then_line(&incident.name);
    match &incident.service {
        Some(service) => head.then(" · ").then_line(service.as_str()),
        None => head,
    }
}

fn counts(incident: &Incident) -> String {
    format!("{} firing, {} resolved", incident.firing, incident.resolved)
}

fn members(page: &mut Page, incident: &Incident) {
    if incident.members.len() < 2 && incident.more == 0 {
        return;
    }
    page.title("Members", Shown::own("names are untrusted text"));
    let mut lines: Vec<Exact> = incident.members.iter().take(MEMBERS).map(member).collect();
    let hidden = u64::try_from(incident.members.len().saturating_sub(MEMBERS)).unwrap_or(u64::MAX);
    let more = hidden.saturating_add(incident.more);
    if more > 0 {
        lines.push(Exact::of(&format!("and {more} more")));
    }
    page.exact(&lines);
}

fn pages(page: &mut Page, links: &[(String, Link)]) {
    let mut runs = Vec::new();
    for (title, link) in links.iter().take(LINKS) {
        runs.push(Run::plain(Shown::own(if runs.is_empty() { "See " } else { ", " })));
        runs.push(Run::Link(link.clone(), Text::fit(Shown::line(title))));
    }
    if !runs.is_empty() {
        page.say(runs);
    }
}

fn member(member: &Member) -> Exact {
    let mark = match member.firing {
        Firing::Firing => "firing    ",
        Firing::Resolved => "resolved  ",
    };
    Exact::marked(mark, &format!("{} {} {}", clock(member.since), place(member), member.name)).cut(WIDTH)
}

fn place(member: &Member) -> String {
    match &member.service {
        Some(service) => format!("({}, {service})", member.severity),
        None => format!("({})", member.severity),
    }
}

fn clock(at: Timestamp) -> String {
    at.strftime("%m-%d %H:%M:%SZ").to_string()
}
