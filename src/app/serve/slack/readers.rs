//! What may stand in a channel: nothing that rests on a look at something which not everybody may read who reads there.
//!
//! Policy is asked as if the channel's readers had asked. Who they are is said in the config, as groups of which each reader
//! is in one at least; where it is not said, they are in none. Once an investigation has looked at something that they may
//! not see, no word of it is posted there any more: what a model says may repeat anything that it has read.

use std::collections::BTreeSet;

use warrant_kernel::call::arguments;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::decision::Action;
use warrant_kernel::domain::name::{PersonId, ServiceName};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::policy::Question;
use warrant_toolbox::tools::read::sight::Sight as _;

use super::Slack;
use crate::agent::brought::POSTED_FILE;
use crate::agent::state::{CallState, State};
use crate::app::SystemClock;
use crate::app::sight::PolicySight;
use crate::chat::slack::config::Place;

/// Who reads in a channel, to policy. No person of the config may bear the name.
pub(in crate::app::serve) const READERS: &str = "channel";

/// What readers may see goes by the widest role.
const ROLE: &str = "general-purpose";

impl Slack {
    /// The readers of a channel, as policy knows people: one for each of its groups, or one of no group. None in a
    /// conversation with one person, who is whoever asked.
    fn readers(&self, channel: &str) -> Option<Vec<Run>> {
        if channel.starts_with('D') {
            return None;
        }
        let groups = self.settings.places.iter().find(|place| place.channel == channel).map(|place| &place.groups);
        let groups: Vec<Vec<String>> = match groups {
            Some(groups) if !groups.is_empty() => groups.iter().map(|group| vec![group.clone()]).collect(),
            Some(_) | None => vec![Vec::new()],
        };
        Some(groups.into_iter().filter_map(reader).collect())
    }

    /// The services of the catalog that not all readers of a channel may see.
    pub(super) fn hidden(&self, channel: &str) -> BTreeSet<ServiceName> {
        let Some(readers) = self.readers(channel) else { return BTreeSet::new() };
        let app = self.in_force();
        let (sight, now) = (PolicySight::of(&app), SystemClock.now());
        let names = app.bench.catalog.services().keys();
        // Where no reader could be made out, nobody sees anything.
        let seen = |name: &ServiceName| !readers.is_empty() && readers.iter().all(|run| sight.sees(run, now, name));
        names.filter(|name| !seen(name)).cloned().collect()
    }

    /// Whether nothing of an investigation may stand in a channel.
    pub(super) fn is_withheld(&self, channel: &str, state: &State) -> bool {
        self.is_withheld_since(channel, state, 0)
    }

    /// Whether nothing of it may, by its calls from the `from`th on.
    pub(super) fn is_withheld_since(&self, channel: &str, state: &State, from: usize) -> bool {
        let Some(readers) = self.readers(channel) else { return false };
        let hidden = self.hidden(channel);
        if readers.is_empty() || state.run.service.as_ref().is_some_and(|service| hidden.contains(service)) {
            return true;
        }
        let (sight, now) = (PolicySight::of(&self.in_force()), SystemClock.now());
        // What is told without naming a service is told as whoever asked may see it.
        let sees_more = hidden.iter().any(|name| sight.sees(&state.run, now, name));
        state.calls.iter().skip(from).any(|known| self.shows_more(known, &readers, &hidden, sees_more))
    }

    /// Whether a call looks at what readers may not look at.
    fn shows_more(&self, known: &CallState, readers: &[Run], hidden: &BTreeSet<ServiceName>, sees_more: bool) -> bool {
        // It was posted in the thread itself.
        if known.call.tool == POSTED_FILE {
            return false;
        }
        let app = self.in_force();
        let (bench, now) = (&app.bench, known.asked_at);
        // What is no tool, and what makes no sense, brings nothing.
        let Some(tool) = bench.registry.get(&known.call.tool) else { return false };
        let checked = arguments::check(tool.definition, &known.call.arguments, now, bench.catalog.as_ref());
        let Ok(checked) = checked else { return known.result.as_ref().is_some_and(|result| result.ok) };
        let Ok(target) = tool.resolve(&checked.arguments, now) else {
            return known.result.as_ref().is_some_and(|result| result.ok);
        };
        // What may be changed is not what may be read.
        if !tool.about().risk.only_looks() {
            return target.service.as_ref().map_or(sees_more, |service| hidden.contains(service));
        }
        let args = checked.arguments.as_map();
        let may = |run: &Run| {
            let asked = Question { run, tool: tool.about(), target: &target, args, now };
            bench.policy.decide(&asked).action != Action::Deny
        };
        (target.service.is_none() && sees_more) || !readers.iter().all(may)
    }

    /// Where an incident goes: to the first place that takes it and whose readers may all see its service.
    pub(super) fn place(&self, service: Option<&ServiceName>, route: Option<&str>) -> Option<&Place> {
        let may = |place: &&Place| service.is_none_or(|service| !self.hidden(&place.channel).contains(service));
        self.settings.places_of(service.map(ServiceName::as_str), route).find(may)
    }
}

/// Somebody of these groups, who looks.
fn reader(groups: Vec<String>) -> Option<Run> {
    let (person, now): (PersonId, _) = (READERS.parse().ok()?, SystemClock.now());
    Some(Run {
        investigation: "slack".parse().ok()?,
        trigger: Trigger::Question { text: String::new() },
        requester: Requester { person, groups },
        role: ROLE.parse().ok()?,
        channel: Channel::Slack,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    })
}
