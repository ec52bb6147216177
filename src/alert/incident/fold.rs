//! The fold: the incidents that are open, and what an arrival makes of them.
//!
//! Call [`Incidents::take`] for every arrival in turn, then [`Incidents::tick`], then write all of
//! [`Incidents::touched`] in one go; a copy in the store is the truth, this is what it says.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use warrant_kernel::domain::name::InvestigationId;

use super::storm::Storm;
use super::{
    Assigned, Beyond, Closed, Delivery, Incident, MOST_EPISODES, MOST_MEMBERS, Member, Neighbourhood, Phase, Progress,
    Scope, told,
};
use crate::alert::config::{Limits, Urgency};
use crate::alert::content::State;

/// An incident takes in nothing after a day, whatever still fires: what comes then is another incident.
const MOST_AGE: SignedDuration = SignedDuration::from_hours(24);

/// What became of an arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It opened an incident.
    Opened(String),
    /// It became a member of one.
    Joined(String),
    /// A member fires again.
    FiredAgain(String),
    /// A member was resolved.
    Resolved(String),
    /// Nothing new: that firing, or its end, was known, or a later one is.
    Known(String),
    /// The incident is full; it was counted.
    Counted(String),
    /// There are too many incidents; the storm counted it.
    Shed,
}

/// All incidents that may still change.
#[derive(Debug)]
pub struct Incidents {
    pub(super) limits: Limits,
    pub(super) all: BTreeMap<String, Incident>,
    pub(super) by_fingerprint: HashMap<String, String>,
    pub(super) by_scope: HashMap<Scope, BTreeSet<String>>,
    pub(super) touched: BTreeSet<String>,
    /// The storm, if there is one.
    pub storm: Option<Storm>,
}

impl Incidents {
    /// The incidents that the store has, and its storm. Those that are closed are left out.
    #[must_use]
    pub fn new(limits: Limits, kept: impl IntoIterator<Item = Incident>, storm: Option<Storm>) -> Self {
        let mut incidents = Self {
            limits,
            all: BTreeMap::new(),
            by_fingerprint: HashMap::new(),
            by_scope: HashMap::new(),
            touched: BTreeSet::new(),
            storm,
        };
        for incident in kept {
            if incident.is_open() || incident.is_busy() || incident.unshown || !incident.news.is_empty() {
                incidents.put(incident);
            }
        }
        incidents
    }

    /// All that may still change.
    pub fn all(&self) -> impl Iterator<Item = &Incident> {
        self.all.values()
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Incident> {
        self.all.get(id)
    }

    /// One of them, which is written with the next settling.
    pub fn change(&mut self, id: &str) -> Option<&mut Incident> {
        let incident = self.all.get_mut(id)?;
        self.touched.insert(id.to_owned());
        Some(incident)
    }

    /// Those that differ from what the store has.
    pub fn touched(&self) -> impl Iterator<Item = &Incident> {
        self.touched.iter().filter_map(|id| self.all.get(id))
    }

    /// Everything touched is in the store now: what is done with is let go. What is closed and could not be shown is kept
    /// to be shown later, but not without a bound.
    pub fn settled(&mut self) {
        for id in std::mem::take(&mut self.touched) {
            let done = self.all.get(&id).is_some_and(|it| it.is_over() && !it.unshown && it.news.is_empty());
            if done {
                self.all.remove(&id);
            }
        }
        let over: Vec<String> = self.all.values().filter(|it| it.is_over()).map(|it| it.id.clone()).collect();
        let most = self.limits.open_incidents.div_ceil(2);
        for id in over.iter().take(over.len().saturating_sub(most)) {
            tracing::warn!(incident = id, "the end of an incident could not be shown for too long; its note has it");
            self.all.remove(id);
        }
    }

    pub(super) fn put(&mut self, incident: Incident) {
        if incident.is_open() {
            for scope in &incident.scopes {
                self.by_scope.entry(scope.clone()).or_default().insert(incident.id.clone());
            }
            for fingerprint in incident.members.keys() {
                self.by_fingerprint.insert(fingerprint.clone(), incident.id.clone());
            }
        }
        self.all.insert(incident.id.clone(), incident);
    }

    /// Takes an arrival in.
    pub fn take(&mut self, delivery: &Delivery, at: Timestamp, around: &dyn Neighbourhood) -> Fate {
        let fingerprint = &delivery.alert.fingerprint;
        if let Some(id) = self.by_fingerprint.get(fingerprint).cloned()
            && let Some(incident) = self.change(&id)
        {
            return again(incident, delivery, at);
        }
        let scope = delivery.scope();
        let Some(id) = self.home(&scope, at, around) else { return self.open(delivery, scope, at) };
        let Some(incident) = self.change(&id) else { return self.open(delivery, scope, at) };
        incident.alerts += 1;
        incident.changed_at = incident.changed_at.max(at);
        raise(incident, delivery);
        if incident.members.len() >= MOST_MEMBERS {
            match delivery.alert.state {
                State::Firing => incident.beyond.fired += 1,
                State::Resolved => incident.beyond.resolved += 1,
            }
            incident.changed();
            return Fate::Counted(id);
        }
        incident.tell(told::joined(delivery));
        incident.members.insert(fingerprint.clone(), member(delivery));
        incident.scopes.insert(scope.clone());
        incident.changed();
        self.by_scope.entry(scope).or_default().insert(id.clone());
        self.by_fingerprint.insert(fingerprint.clone(), id.clone());
        Fate::Joined(id)
    }

    /// The incident that something of this scope belongs to; several are made one, for they have this in common.
    fn home(&mut self, scope: &Scope, at: Timestamp, around: &dyn Neighbourhood) -> Option<String> {
        let beside = match scope {
            Scope::Service(service) => around.beside(service),
            Scope::Alert(_) => Vec::new(),
        };
        let scopes = std::iter::once(scope.clone()).chain(beside.into_iter().map(Scope::Service));
        let mut found: BTreeSet<String> = BTreeSet::new();
        for scope in scopes {
            found.extend(self.by_scope.get(&scope).into_iter().flatten().cloned());
        }
        found.retain(|id| self.all.get(id).is_some_and(|incident| takes(incident, at, self.limits.window)));
        let mut found = found.into_iter();
        let oldest = found.next()?;
        for younger in found {
            self.merge(&younger, &oldest);
        }
        Some(oldest)
    }

    fn open(&mut self, delivery: &Delivery, scope: Scope, at: Timestamp) -> Fate {
        let open = self.all.values().filter(|incident| incident.is_open()).count();
        if open >= self.limits.open_incidents && !self.make_room(delivery.urgency, at) {
            self.storm_at(at).shed(delivery, at);
            return Fate::Shed;
        }
        let alert = &delivery.alert;
        let id = id_of(at, &[alert.fingerprint.as_bytes(), alert.starts_at.to_string().as_bytes()]);
        // The same alert at the same moment, of an incident that is no longer open.
        let id = if self.all.contains_key(&id) { id_of(at, &[id.as_bytes()]) } else { id };
        let is_quiet = delivery.urgency == Urgency::Record || alert.state == State::Resolved;
        let in_storm = !is_quiet && self.opened_since(at) >= self.limits.storm;
        let mut incident = Incident {
            id: id.clone(),
            name: alert.words.name.clone(),
            text: told::of(delivery),
            service: delivery.service.clone(),
            role: delivery.role.clone(),
            route: Some(delivery.route.clone()),
            urgency: delivery.urgency,
            opened_at: at,
            changed_at: at,
            scopes: BTreeSet::from([scope]),
            members: BTreeMap::from([(alert.fingerprint.clone(), member(delivery))]),
            beyond: Beyond::default(),
            alerts: 1,
            phase: Phase::Open,
            investigation: None,
            investigations: 0,
            earlier: None,
            in_storm,
            news: Vec::new(),
            more_news: 0,
            unshown: false,
            changes: 0,
        };
        incident.changed();
        if in_storm {
            self.storm_at(at).opened(&incident, at);
        }
        self.put(incident);
        self.touched.insert(id.clone());
        Fate::Opened(id)
    }

    /// How many incidents were opened in the window before.
    fn opened_since(&self, at: Timestamp) -> usize {
        let from = at.checked_sub(self.limits.window).unwrap_or(Timestamp::MIN);
        self.all.values().filter(|incident| incident.opened_at > from && !incident.is_quiet()).count()
    }

    fn storm_at(&mut self, at: Timestamp) -> &mut Storm {
        self.storm.get_or_insert_with(|| Storm::new(id_of(at, &[b"storm"]), at))
    }

    /// Lets the least urgent incident go that is less urgent than this and not being investigated.
    fn make_room(&mut self, urgency: Urgency, at: Timestamp) -> bool {
        let least = self.all.values().filter(|incident| incident.is_open() && !incident.is_running());
        let least = least.min_by_key(|incident| (incident.urgency, incident.firing() > 0, incident.changed_at));
        let Some(least) = least.filter(|least| least.urgency < urgency).map(|least| least.id.clone()) else {
            return false;
        };
        self.close(&least, at, Closed::Shed);
        if let Some(incident) = self.all.get(&least) {
            let (urgency, name) = (incident.urgency, incident.name.clone());
            self.storm_at(at).let_go(urgency, &name, at);
        }
        true
    }

    pub(super) fn close(&mut self, id: &str, at: Timestamp, why: Closed) {
        self.unindex(id);
        let Some(incident) = self.change(id) else { return };
        if incident.investigation.as_ref().is_some_and(|assigned| assigned.progress == Progress::Asked) {
            incident.investigation = None;
        }
        incident.phase = Phase::Closed { at, why };
        incident.changed();
    }

    pub(super) fn unindex(&mut self, id: &str) {
        let Some(incident) = self.all.get(id) else { return };
        for scope in &incident.scopes {
            if let Some(ids) = self.by_scope.get_mut(scope) {
                ids.remove(id);
                if ids.is_empty() {
                    self.by_scope.remove(scope);
                }
            }
        }
        for fingerprint in incident.members.keys() {
            if self.by_fingerprint.get(fingerprint).is_some_and(|of| of == id) {
                self.by_fingerprint.remove(fingerprint);
            }
        }
    }

    /// Closes what is over, and draws ids for the investigations that are wanted.
    pub fn tick(&mut self, now: Timestamp) {
        let window = self.limits.window;
        let over = |incident: &Incident| {
            let quiet = now.duration_since(incident.changed_at) >= window;
            if !incident.is_open() || incident.is_running() {
                None
            } else if incident.firing() == 0 && quiet {
                Some(Closed::Over)
            } else if now.duration_since(incident.opened_at) >= MOST_AGE && quiet {
                Some(Closed::Aged)
            } else {
                None
            }
        };
        let over: Vec<(String, Closed)> =
            self.all.values().filter_map(|incident| Some((incident.id.clone(), over(incident)?))).collect();
        for (id, why) in over {
            self.close(&id, now, why);
        }
        let wanted = self.all.values().filter(|incident| incident.wants_investigation());
        let wanted: Vec<String> = wanted.map(|incident| incident.id.clone()).collect();
        for id in wanted {
            if let Some(incident) = self.change(&id) {
                let nth = incident.investigations.to_be_bytes();
                let drawn = id_of(now, &[b"investigation", id.as_bytes(), &nth]);
                let Ok(drawn) = drawn.parse::<InvestigationId>() else { continue };
                let urgency = incident.urgency;
                incident.investigations += 1;
                incident.investigation = Some(Assigned { id: drawn, urgency, progress: Progress::Asked, told: 0 });
            }
        }
        if let Some(storm) = &mut self.storm {
            storm.tick(now, window);
        }
    }
}

/// Whether an incident still takes in new members.
fn takes(incident: &Incident, at: Timestamp, window: SignedDuration) -> bool {
    incident.is_open()
        && at.duration_since(incident.changed_at) <= window
        && at.duration_since(incident.opened_at) < MOST_AGE
}

fn member(delivery: &Delivery) -> Member {
    let words = &delivery.alert.words;
    let (starts_at, state) = (delivery.alert.starts_at, delivery.alert.state);
    Member {
        name: words.name.clone(),
        service: delivery.service.clone(),
        summary: words.summary.chars().take(200).collect(),
        severity: words.severity.clone(),
        urgency: delivery.urgency,
        link: words.link.clone(),
        episodes: BTreeMap::from([(starts_at, state)]),
        fired: u64::from(state == State::Firing),
    }
}

/// A higher urgency is the incident's from then on, and so are the words of the alert that brought it.
fn raise(incident: &mut Incident, delivery: &Delivery) {
    if delivery.urgency <= incident.urgency {
        return;
    }
    incident.urgency = delivery.urgency;
    incident.name.clone_from(&delivery.alert.words.name);
    incident.text = told::of(delivery);
    if delivery.service.is_some() {
        incident.service.clone_from(&delivery.service);
    }
    if let Some(Assigned { progress: Progress::Asked, urgency, .. }) = &mut incident.investigation {
        *urgency = delivery.urgency;
    }
}

/// Another delivery of an alert that is a member.
fn again(incident: &mut Incident, delivery: &Delivery, at: Timestamp) -> Fate {
    let id = incident.id.clone();
    incident.alerts += 1;
    raise(incident, delivery);
    let (began, state) = (delivery.alert.starts_at, delivery.alert.state);
    let Some(member) = incident.members.get_mut(&delivery.alert.fingerprint) else { return Fate::Counted(id) };
    member.urgency = member.urgency.max(delivery.urgency);
    let is_old = member.episodes.len() >= MOST_EPISODES
        && member.episodes.first_key_value().is_some_and(|(oldest, _)| began < *oldest);
    let known = member.episodes.get(&began).is_some_and(|kept| *kept >= state);
    if is_old || known {
        return Fate::Known(id);
    }
    let before = member.state();
    // A firing that was resolved stays so, in whatever order the two came.
    if member.episodes.insert(began, state).is_none() && state == State::Firing {
        member.fired += 1;
    }
    while member.episodes.len() > MOST_EPISODES {
        member.episodes.pop_first();
    }
    let after = member.state();
    let news = told::again(delivery, before, after);
    incident.changed_at = incident.changed_at.max(at);
    incident.tell(news);
    incident.changed();
    match state {
        State::Firing => Fate::FiredAgain(id),
        State::Resolved => Fate::Resolved(id),
    }
}

/// A UUID of version 7 made of a time and a digest: the same cause has the same id, and ids sort by their time.
fn id_of(at: Timestamp, parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let random = digest.first_chunk::<10>().copied().unwrap_or_default();
    let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
}
