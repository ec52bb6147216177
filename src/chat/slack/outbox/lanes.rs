//! Which message goes when: one lane a channel, cards first, and never sooner than Slack allows. Pure, but for the clock's
//! readings that are handed in.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::letter::Letter;
use super::send::Came;
use super::{Class, Thread};

/// The pace of a channel: a message a second.
const PACE: Duration = Duration::from_secs(1);
/// The time that limits of methods are counted over.
const WINDOW: Duration = Duration::from_mins(1);
/// The longest wait after a failure.
const LONGEST: Duration = Duration::from_secs(30);

/// How a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It is posted.
    Post,
    /// It stands there and is edited.
    Edit,
}

impl Way {
    pub(super) fn of(letter: &Letter) -> Self {
        if letter.ts.is_some() { Self::Edit } else { Self::Post }
    }

    /// How often a minute Slack takes it, over the whole workspace: `chat.update` is of tier 3, and of `chat.postMessage`
    /// "several hundred" are taken.
    ///
    /// A fifth of it is left to what matters more than how far something is.
    fn most(self, class: Class) -> usize {
        match (self, class) {
            (Self::Post, Class::Card | Class::Report) => 200,
            (Self::Post, Class::Chatter) => 160,
            (Self::Edit, Class::Card | Class::Report) => 50,
            (Self::Edit, Class::Chatter) => 40,
        }
    }
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// This goes now.
    Send { id: String, channel: String, way: Way },
    /// Something goes then.
    At(Instant),
    /// Nothing waits that could go.
    Nothing,
}

#[derive(Default)]
struct Lane {
    /// In the order in which they go.
    waiting: BTreeMap<(Class, u64), (String, Way)>,
    not_before: Option<Instant>,
    busy: bool,
    failures: u32,
}

#[derive(Default)]
struct Limit {
    sent: VecDeque<Instant>,
    not_before: Option<Instant>,
}

impl Limit {
    /// When the next may go.
    fn next(&self, most: usize) -> Option<Instant> {
        let free = self.sent.len().checked_sub(most).and_then(|first| self.sent.get(first)).map(|at| *at + WINDOW);
        free.max(self.not_before)
    }

    fn forget(&mut self, now: Instant) {
        while self.sent.front().is_some_and(|at| now.duration_since(*at) >= WINDOW) {
            self.sent.pop_front();
        }
    }
}

/// All lanes.
#[derive(Default)]
pub(super) struct Lanes {
    channels: HashMap<String, Lane>,
    /// Where each waiting message is.
    places: HashMap<String, (String, (Class, u64))>,
    /// Those that wait for another one to stand, by that one's id.
    under: HashMap<String, Vec<(String, String, Class)>>,
    posts: Limit,
    edits: Limit,
    count: u64,
}

impl Lanes {
    /// How many messages wait.
    pub(super) fn len(&self) -> usize {
        self.places.len() + self.under.values().map(Vec::len).sum::<usize>()
    }

    /// Puts a message into its lane, where it keeps the place that it has.
    pub(super) fn add(&mut self, id: &str, letter: &Letter, way: Way) {
        if let Thread::Under(parent) = &letter.thread
            && self.under.get(parent).is_some_and(|waiting| waiting.iter().any(|(child, ..)| child == id))
        {
            return;
        }
        self.insert(id, &letter.channel, letter.class, way);
    }

    fn insert(&mut self, id: &str, channel: &str, class: Class, way: Way) {
        let kept = self.places.get(id).cloned();
        let place = match kept {
            Some((_, (was, number))) if was == class => (was, number),
            Some((_, old)) => {
                if let Some(lane) = self.channels.get_mut(channel) {
                    lane.waiting.remove(&old);
                }
                (class, old.1)
            }
            None => {
                self.count += 1;
                (class, self.count)
            }
        };
        self.places.insert(id.to_owned(), (channel.to_owned(), place));
        self.channels.entry(channel.to_owned()).or_default().waiting.insert(place, (id.to_owned(), way));
    }

    /// What is to be done now. What it says to send is out of its lane until [`Lanes::came`].
    pub(super) fn next(&mut self, now: Instant) -> Next {
        self.posts.forget(now);
        self.edits.forget(now);
        let mut chosen: Option<((Class, u64), &String)> = None;
        let mut soonest: Option<Instant> = None;
        for (channel, lane) in self.channels.iter().filter(|(_, lane)| !lane.busy) {
            let Some((place, (_, way))) = lane.waiting.first_key_value() else { continue };
            let limit = match way {
                Way::Post => &self.posts,
                Way::Edit => &self.edits,
            };
            let limit = limit.next(way.most(place.0));
            match lane.not_before.max(limit).filter(|when| *when > now) {
                Some(when) => soonest = Some(soonest.map_or(when, |soonest| soonest.min(when))),
                None if chosen.is_none_or(|(best, _)| *place < best) => chosen = Some((*place, channel)),
                None => {}
            }
        }
        let Some((place, channel)) = chosen else { return soonest.map_or(Next::Nothing, Next::At) };
        let channel = channel.clone();
        let Some(lane) = self.channels.get_mut(&channel) else { return Next::Nothing };
        let Some((id, way)) = lane.waiting.remove(&place) else { return Next::Nothing };
        lane.busy = true;
        self.places.remove(&id);
        match way {
            Way::Post => self.posts.sent.push_back(now),
            Way::Edit => self.edits.sent.push_back(now),
        }
        Next::Send { id, channel, way }
    }

    /// What came of a message that was sent.
    pub(super) fn came(&mut self, id: &str, channel: &str, way: Way, came: &Came, now: Instant) {
        let limit = match way {
            Way::Post => &mut self.posts,
            Way::Edit => &mut self.edits,
        };
        if matches!(came, Came::Nothing | Came::Waits { .. }) {
            limit.sent.pop_back();
        }
        let lane = self.channels.entry(channel.to_owned()).or_default();
        lane.busy = false;
        let again = match came {
            Came::Stands { again } => {
                lane.failures = 0;
                lane.not_before = Some(now + PACE);
                again.map(|class| (class, Way::Edit))
            }
            Came::Nothing => None,
            Came::Undeliverable => {
                lane.not_before = Some(now + PACE);
                None
            }
            Came::Lost(class) => {
                lane.not_before = Some(now + PACE);
                Some((*class, Way::Post))
            }
            Came::Limited { class, after } => {
                let until = Some(now + *after);
                lane.not_before = lane.not_before.max(until).max(Some(now + PACE));
                limit.not_before = limit.not_before.max(until);
                Some((*class, way))
            }
            Came::Failed(class) => {
                lane.failures = lane.failures.saturating_add(1);
                let wait = Duration::from_secs(1_u64 << lane.failures.min(6).saturating_sub(1)).min(LONGEST);
                lane.not_before = Some(now + wait);
                Some((*class, way))
            }
            Came::Waits { class, parent } => {
                self.under.entry(parent.clone()).or_default().push((id.to_owned(), channel.to_owned(), *class));
                None
            }
        };
        let idle = lane.waiting.is_empty() && again.is_none();
        if let Some((class, way)) = again {
            self.insert(id, channel, class, way);
        }
        if matches!(came, Came::Stands { .. } | Came::Undeliverable) {
            for (child, channel, class) in self.under.remove(id).unwrap_or_default() {
                self.insert(&child, &channel, class, Way::Post);
            }
        }
        if idle {
            self.sweep(now);
        }
    }

    /// Lets go of lanes that have nothing to remember, once there are many.
    fn sweep(&mut self, now: Instant) {
        if self.channels.len() > 1_000 {
            self.channels.retain(|_, lane| {
                lane.busy || !lane.waiting.is_empty() || lane.not_before.is_some_and(|when| when > now)
            });
        }
    }
}
