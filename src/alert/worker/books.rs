//! The worker's notes in the store: which there are, which revision of each it knows, and one settling for all changes.
//!
//! | kind | id | what |
//! |---|---|---|
//! | `incident` | its id | an incident |
//! | `storm` | its id | a storm |
//! | `recurrence` | hash of name and service | when it came before |
//! | `alert_unreadable` | key of the arrival | what this program could not read |
//! | `alerting` | `state` | the oldest incident that is open, and the storm |

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use warrant_kernel::store::desk::{Arrived, NoteWrite};
use warrant_kernel::store::{Store, StoreError};

use crate::alert::config::Limits;
use crate::alert::incident::Incident;
use crate::alert::incident::fold::Incidents;
use crate::alert::incident::storm::Storm;
use crate::alert::recurrence::{self, Recurrence};

/// Notes of incidents.
pub const INCIDENT: &str = "incident";
/// Notes of storms.
pub const STORM: &str = "storm";
const RECURRENCE: &str = "recurrence";
/// Notes of what this program could not read.
pub const UNREADABLE: &str = "alert_unreadable";
const STATE: (&str, &str) = ("alerting", "state");

/// Notes read at once.
const PAGE: u32 = 100;
/// Arrivals forgotten at once.
const FORGOTTEN: u32 = 500;
/// How long closed incidents are kept.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long a second delivery is known for.
const KNOWN: SignedDuration = SignedDuration::from_hours(8 * 24);

/// Where to begin to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    oldest: Option<String>,
    storm: Option<String>,
}

/// What the worker knows of its notes.
#[derive(Debug, Default)]
pub(super) struct Books {
    revisions: BTreeMap<(&'static str, String), u64>,
    state: State,
    /// Those read or changed since the last settling.
    recurrences: BTreeMap<String, Recurrence>,
    unreadable: Vec<NoteWrite>,
    /// The changes of the storm that the store has.
    storm: Option<Storm>,
}

impl Books {
    /// How things stand.
    pub(super) async fn read(store: &Store, limits: Limits) -> Result<(Self, Incidents), StoreError> {
        let mut books = Self::default();
        if let Some(note) = store.note(STATE.0, STATE.1).await? {
            books.knows(STATE.0, STATE.1, note.revision);
            books.state = serde_json::from_value(note.body).map_err(damaged("the state of alerts"))?;
        }
        let mut kept = Vec::new();
        let mut after = books.state.oldest.as_deref().map(just_before);
        while let Some(from) = after.take() {
            let page = store.notes(INCIDENT, &from, PAGE).await?;
            after = page.last().map(|note| note.id.clone());
            for note in page {
                books.knows(INCIDENT, &note.id, note.revision);
                let incident: Incident = serde_json::from_value(note.body).map_err(damaged("an incident"))?;
                kept.push(incident);
            }
        }
        if let Some(id) = books.state.storm.clone()
            && let Some(note) = store.note(STORM, &id).await?
        {
            books.knows(STORM, &id, note.revision);
            books.storm = Some(serde_json::from_value(note.body).map_err(damaged("a storm"))?);
        }
        let incidents = Incidents::new(limits, kept, books.storm.clone());
        books.revisions.retain(|(kind, id), _| *kind != INCIDENT || incidents.get(id).is_some());
        Ok((books, incidents))
    }

    fn knows(&mut self, kind: &'static str, id: &str, revision: u64) {
        self.revisions.insert((kind, id.to_owned()), revision);
    }

    /// What came before an incident, to be read and changed.
    pub(super) async fn recurrence(
        &mut self,
        store: &Store,
        incident: &Incident,
    ) -> Result<&mut Recurrence, StoreError> {
        let key = recurrence::key(incident);
        if !self.recurrences.contains_key(&key) {
            let mut found = Recurrence::default();
            if let Some(note) = store.note(RECURRENCE, &key).await? {
                self.knows(RECURRENCE, &key, note.revision);
                found = serde_json::from_value(note.body).map_err(damaged("what came before"))?;
            }
            self.recurrences.insert(key.clone(), found);
        }
        Ok(self.recurrences.entry(key).or_default())
    }

    /// An arrival that this program can't read is kept as it is.
    pub(super) fn unreadable(&mut self, arrival: &Arrived) {
        tracing::error!(key = arrival.key, "an alert in the store can't be read; it is kept as a note");
        let (id, body) = (arrival.key.clone(), arrival.body.clone());
        self.unreadable.push(NoteWrite { kind: UNREADABLE, id, expect_revision: 0, body });
    }

    /// Writes all that has changed, and that these arrivals are handled.
    pub(super) async fn settle(
        &mut self,
        store: &Store,
        incidents: &mut Incidents,
        handled: &[u64],
    ) -> Result<(), StoreError> {
        let mut writes = std::mem::take(&mut self.unreadable);
        for incident in incidents.touched() {
            writes.push(self.write(INCIDENT, &incident.id, incident)?);
        }
        for (key, recurrence) in &self.recurrences {
            writes.push(self.write(RECURRENCE, key, recurrence)?);
        }
        if incidents.storm != self.storm
            && let Some(storm) = &incidents.storm
        {
            writes.push(self.write(STORM, &storm.id, storm)?);
        }
        // The state names the oldest that is read at the next start; what this settling lets go is not among them.
        let state = State {
            oldest: incidents.all().next().map(|incident| incident.id.clone()),
            storm: incidents.storm.as_ref().map(|storm| storm.id.clone()),
        };
        if state != self.state {
            writes.push(self.write(STATE.0, STATE.1, &state)?);
        }
        if handled.is_empty() && writes.is_empty() {
            return Ok(());
        }
        store.settle(handled, &writes).await?;
        for write in writes {
            if write.kind != UNREADABLE {
                self.knows(write.kind, &write.id, write.expect_revision + 1);
            }
        }
        incidents.settled();
        self.state = state;
        self.storm.clone_from(&incidents.storm);
        self.recurrences.clear();
        let current = self.storm.as_ref().map(|storm| storm.id.as_str());
        self.revisions.retain(|(kind, id), _| match *kind {
            INCIDENT => incidents.get(id).is_some(),
            STORM => current == Some(id.as_str()),
            RECURRENCE => false,
            _ => true,
        });
        Ok(())
    }

    fn write(&self, kind: &'static str, id: &str, body: &impl Serialize) -> Result<NoteWrite, StoreError> {
        let body: Value = serde_json::to_value(body).map_err(StoreError::Json)?;
        let expect_revision = self.revisions.get(&(kind, id.to_owned())).copied().unwrap_or(0);
        Ok(NoteWrite { kind, id: id.to_owned(), expect_revision, body })
    }

    /// Lets go of what nobody asks for any more.
    pub(super) async fn clean(&self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        let known = now.checked_sub(KNOWN).unwrap_or(Timestamp::MIN);
        while store.forget_arrivals(known, FORGOTTEN).await? >= u64::from(FORGOTTEN) {}
        let before = now.checked_sub(KEPT).unwrap_or(Timestamp::UNIX_EPOCH);
        for (kind, oldest) in [(INCIDENT, &self.state.oldest), (STORM, &self.state.storm)] {
            loop {
                let page = store.notes(kind, "", PAGE).await?;
                let old: Vec<&str> = page
                    .iter()
                    .map(|note| note.id.as_str())
                    .filter(|id| time_of(id).is_some_and(|at| at < before))
                    .filter(|id| oldest.as_deref().is_none_or(|oldest| *id < oldest))
                    .collect();
                store.drop_notes(kind, &old).await?;
                if old.len() < page.len() || page.is_empty() {
                    break;
                }
            }
        }
        let mut after = String::new();
        loop {
            let page = store.notes(RECURRENCE, &after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after.clone_from(&last.id);
            let forgotten = |body: &Value| {
                let read: Option<Recurrence> = serde_json::from_value(body.clone()).ok();
                read.is_some_and(|recurrence| recurrence.is_forgotten(now))
            };
            let old: Vec<&str> = page.iter().filter(|it| forgotten(&it.body)).map(|it| it.id.as_str()).collect();
            store.drop_notes(RECURRENCE, &old).await?;
        }
    }
}

fn damaged(what: &'static str) -> impl Fn(serde_json::Error) -> StoreError {
    move |error| {
        tracing::error!(%error, what, "a note of alerts can't be read");
        StoreError::Damaged(what)
    }
}

/// An id that sorts before this one and after all that sort before it: notes are asked for *after* an id.
fn just_before(id: &str) -> String {
    let mut chars = id.chars();
    let last = chars.next_back();
    let rest = chars.as_str();
    match last {
        Some(last) if last > '0' => {
            let below = char::from_u32(u32::from(last) - 1).unwrap_or('0');
            format!("{rest}{below}~")
        }
        Some(_) | None => rest.to_owned(),
    }
}

/// The time in a UUID of version 7.
fn time_of(id: &str) -> Option<Timestamp> {
    let (seconds, nanos) = uuid::Uuid::parse_str(id).ok()?.get_timestamp()?.to_unix();
    Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanos).ok()?).ok()
}
