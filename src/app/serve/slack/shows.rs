//! What is shown of investigations and incidents: one message of progress that is edited, the report, the alerts.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::event::Event;
use warrant_kernel::domain::name::{InvestigationId, ServiceName};
use warrant_kernel::domain::report::Report;
use warrant_toolbox::catalog::link;
use warrant_toolbox::catalog::service::Service;

use super::Slack;
use super::home::Home;
use super::talk::Later;
use crate::agent::state::State;
use crate::agent::trace::Watcher;
use crate::alert::config::Urgency;
use crate::alert::content::State as Fires;
use crate::alert::incident::storm::Storm;
use crate::alert::incident::{Incident, Member, Progress};
use crate::app::serve::runs::Ends;
use crate::chat::slack::blocks::{Message as Blocks, Text};
use crate::chat::slack::escape::{Hosts, Link, Shown};
use crate::chat::slack::outbox::{Class, Message, Thread};
use crate::chat::slack::report::{Cited, Sources};
use crate::chat::slack::{incident, report, status};

/// How often progress is told at most.
const PACE: Duration = Duration::from_secs(1);

/// Watches one investigation for Slack, where it has a home there.
pub(in crate::app::serve) struct Watching {
    pub(in crate::app::serve) slack: Arc<Slack>,
    pub(in crate::app::serve) id: InvestigationId,
    pub(in crate::app::serve) then: Arc<dyn Watcher>,
    kept: Mutex<Kept>,
}

/// How far it was looked whether an investigation may be shown.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    /// Calls that were looked at.
    calls: usize,
    /// Whether it may not.
    withheld: bool,
}

impl Watching {
    /// Watches one, and tells `then` too.
    pub(in crate::app::serve) fn new(slack: Arc<Slack>, id: InvestigationId, then: Arc<dyn Watcher>) -> Self {
        Self { slack, id, then, kept: Mutex::default() }
    }

    /// Whether nothing of it may be shown; once it is so, it stays so.
    fn is_withheld(&self, channel: &str, state: &State) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.withheld && (kept.calls == 0 || kept.calls < state.calls.len()) {
            kept.withheld = self.slack.is_withheld_since(channel, state, kept.calls);
            kept.calls = state.calls.len();
        }
        kept.withheld
    }
}

impl Watcher for Watching {
    fn event(&self, event: &Event, state: &State) {
        if let Some(channel) = self.slack.remembered(&self.id) {
            // What is posted can't be taken back.
            let withheld = self.is_withheld(&channel, state);
            let shown = if withheld { status::withheld(state) } else { status::render(state) }.value();
            self.slack.progress.lock().unwrap_or_else(PoisonError::into_inner).insert(self.id.clone(), shown);
            self.slack.moved.notify_one();
        }
        self.then.event(event, state);
    }

    fn delta(&self, text: &str) {
        self.then.delta(text);
    }
}

impl Slack {
    /// Puts progress as it comes, the newest of each investigation, until it is cancelled.
    pub(super) async fn show_progress(self: Arc<Self>, cancel: CancellationToken) {
        while cancel.run_until_cancelled(self.moved.notified()).await.is_some() {
            let moved = std::mem::take(&mut *self.progress.lock().unwrap_or_else(PoisonError::into_inner));
            for (id, content) in moved {
                let Some(home) = self.home(&id).await else { continue };
                let message = Message {
                    id: format!("status-{id}"),
                    channel: home.channel,
                    thread: home.thread,
                    class: Class::Chatter,
                    content,
                };
                if let Err(error) = self.outbox.put(message).await {
                    tracing::warn!(%error, investigation = %id, "its progress can't be shown in slack");
                }
            }
            if cancel.run_until_cancelled(tokio::time::sleep(PACE)).await.is_none() {
                return;
            }
        }
    }

    /// Shows reports that an earlier process did not come to show, and lets replies find what it had not noted yet.
    pub(super) async fn catch_up(self: Arc<Self>, cancel: CancellationToken) {
        let unreported = match self.unreported().await {
            Ok(unreported) => unreported,
            Err(error) => {
                tracing::warn!(%error, "reports of before can't be looked for");
                return;
            }
        };
        for (id, home) in unreported {
            self.remember(&id, &home);
            self.follow(id.clone(), &home, &cancel);
            let Ok(events) = self.store.events(&id).await else { continue };
            let Ok(state) = State::fold(&events) else { continue };
            if home.reported {
                self.owe_charts(&id);
                continue;
            }
            if state.report.is_some()
                && let Err(later) = self.show_report(&id, &home, &state).await
            {
                tracing::warn!(investigation = %id, %later, "a report of before waits to be shown");
            }
        }
    }

    async fn show_report(&self, id: &InvestigationId, home: &Home, state: &State) -> Result<(), Later> {
        let Some(found) = &state.report else { return Ok(()) };
        let put = |name: String, blocks: Blocks| async move {
            self.put(name, &home.channel, home.thread.clone(), Class::Report, &blocks).await
        };
        if let Err(later) = self.tell_written(&found.writes).await {
            tracing::warn!(investigation = %id, %later, "its cards do not say what came of its changes");
        }
        if self.is_withheld(&home.channel, state) {
            put(format!("report-{id}"), report::elsewhere(&state.run)).await?;
            return Ok(self.is_reported(id).await?);
        }
        let links = &self.settings.links;
        let (hosts, pages) = (Hosts::of(links.values().map(String::as_str)), report::pages(found, state, links));
        let cited = Cited::all(found, state);
        let sources = Sources { hosts: &hosts, pages: &pages, cited: &cited };
        let rendered = report::render(found, &state.run, &sources);
        put(format!("report-{id}"), rendered.answer).await?;
        for (n, blocks) in rendered.details.into_iter().enumerate() {
            put(format!("report-{id}-{n:03}"), blocks).await?;
        }
        self.is_reported(id).await?;
        self.owe_charts(id);
        Ok(())
    }

    /// Shows how an incident stands, and gives its investigation a home beneath it.
    pub(in crate::app::serve) async fn show_incident(
        self: &Arc<Self>,
        shown: &Incident,
        cancel: &CancellationToken,
    ) -> Result<(), Later> {
        let Some(place) = self.place(shown.service.as_ref(), Some(&shown.route)) else { return Ok(()) };
        let message = format!("incident-{}", shown.id);
        if let Some(assigned) = &shown.investigation {
            self.house(&assigned.id, &shown.id, &place.channel, cancel).await?;
        }
        if shown.in_storm {
            return Ok(());
        }
        let service = self.entry(shown.service.as_ref());
        let blocks = incident::render(&as_shown(shown, service, &self.hidden(&place.channel)));
        self.put(message, &place.channel, Thread::None, Class::Report, &blocks).await
    }

    /// Gives the investigation of an incident its home.
    pub(in crate::app::serve) async fn house(
        self: &Arc<Self>,
        id: &InvestigationId,
        incident: &str,
        channel: &str,
        cancel: &CancellationToken,
    ) -> Result<(), Later> {
        if self.home(id).await.is_some() {
            return Ok(());
        }
        let message = format!("incident-{incident}");
        let home = Home::new(channel.to_owned(), Thread::Under(message.clone()), message);
        self.settle_in(id.clone(), home.clone()).await?;
        self.follow(id.clone(), &home, cancel);
        Ok(())
    }

    /// What the catalog says of a service.
    fn entry(&self, service: Option<&ServiceName>) -> Option<&Service> {
        self.app.bench.catalog.service(service?)
    }

    /// The channel of a service's incidents that come by a route.
    pub(in crate::app::serve) fn channel(&self, service: Option<&ServiceName>, route: Option<&str>) -> Option<String> {
        self.place(service, route).map(|place| place.channel.clone())
    }

    /// Shows how a storm stands.
    pub(in crate::app::serve) async fn show_storm(&self, storm: &Storm) -> Result<(), Later> {
        let Some(channel) = self.channel(None, None) else { return Ok(()) };
        let shed: u64 = storm.shed.values().chain(storm.let_go.values()).sum();
        let names: Vec<String> = storm.names.iter().take(10).map(|(name, count)| format!("{name} ({count})")).collect();
        let text = format!(
            "A storm of alerts: {} incidents more than are shown one by one, {shed} alerts only counted: {}",
            storm.incidents,
            names.join(", ")
        );
        let blocks = Blocks::words(Text::fit(Shown::lines(&text)));
        self.put(format!("storm-{}", storm.id), &channel, Thread::None, Class::Report, &blocks).await
    }
}

#[async_trait]
impl Ends for Slack {
    async fn reported(&self, id: &InvestigationId, _report: &Report) {
        let Some(home) = self.home(id).await else { return };
        let shown = match self.store.events(id).await {
            Ok(events) => match State::fold(&events) {
                Ok(state) => self.show_report(id, &home, &state).await,
                Err(error) => Err(Later::Broken(error.to_string())),
            },
            Err(error) => Err(error.into()),
        };
        if let Err(later) = shown {
            tracing::error!(investigation = %id, %later, "its report can't be shown in slack; the next start tries again");
        }
        self.decided.notify_one();
    }
}

/// Pages about a service, as links to the hosts that its own entry in the catalog names.
fn links(service: &Service) -> Vec<(String, Link)> {
    let hosts = Hosts::of(service.links.iter().map(link::Link::url));
    let links = service.links.iter().filter_map(|page| Some((page.title().to_owned(), hosts.link(page.url())?)));
    links.collect()
}

/// As it is shown where the alerts of these services may not be.
fn as_shown(shown: &Incident, service: Option<&Service>, hidden: &BTreeSet<ServiceName>) -> incident::Incident {
    let seen = |member: &&Member| member.service.as_ref().is_none_or(|service| !hidden.contains(service));
    let unseen = shown.members.values().filter(|member| !seen(member)).count();
    let word = |urgency: Urgency| match urgency {
        Urgency::AtOnce => "at once",
        Urgency::WhenFree => "when free",
        Urgency::Record => "recorded",
    };
    let worst = shown.members.values().max_by_key(|member| member.urgency);
    let resolved = shown.members.values().filter(|member| member.state() == Fires::Resolved).count();
    incident::Incident {
        id: shown.id.clone(),
        name: shown.name.clone(),
        service: shown.service.clone(),
        team: service.and_then(|service| service.team.clone()),
        links: service.map(links).unwrap_or_default(),
        severity: worst.map_or_else(|| word(shown.urgency).to_owned(), |member| member.severity.clone()),
        since: shown.since(),
        text: shown.text.clone(),
        members: shown.members.values().filter(seen).map(member).collect(),
        more: u64::try_from(unseen).unwrap_or(u64::MAX).saturating_add(shown.beyond.fired),
        firing: shown.firing(),
        resolved: u64::try_from(resolved).unwrap_or(u64::MAX).saturating_add(shown.beyond.resolved),
        folded: 0,
        before: shown.earlier.as_ref().map(|earlier| {
            let cause =
                earlier.cause.as_deref().map(|cause| format!("; then it was said to be: {cause} (to be checked)"));
            format!("{} times in the last days{}", earlier.times, cause.unwrap_or_default())
        }),
        looked: match (&shown.investigation, shown.urgency) {
            (Some(assigned), _) if assigned.progress != Progress::Asked => incident::Looked::By(assigned.id.clone()),
            (_, Urgency::Record) => incident::Looked::RecordedOnly,
            (Some(_) | None, Urgency::WhenFree | Urgency::AtOnce) => incident::Looked::Waits,
        },
    }
}

fn member(member: &Member) -> incident::Member {
    incident::Member {
        name: member.name.clone(),
        service: member.service.clone(),
        severity: member.severity.clone(),
        firing: match member.state() {
            Fires::Firing => incident::Firing::Firing,
            Fires::Resolved => incident::Firing::Resolved,
        },
        since: member.since().unwrap_or_default(),
    }
}
