//! From Slack's payloads to what came: whose it is, whether it is anything to us, and by which key a second delivery is
//! known.
//!
//! What does not say plainly that it is ours is not: another app's, workspace's or organisation's payload is refused.

use serde_json::Value;

use crate::chat::slack::config::Ours;
use crate::chat::slack::id::{is_handle, is_id};

use super::{By, Incoming, interaction, message};

/// How a payload came: what Slack calls it in the envelope, or the address it was posted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Something happened.
    Event,
    /// Somebody clicked, chose a shortcut or sent a modal off.
    Interaction,
    /// Somebody gave a command.
    Command,
}

/// What a payload is.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Something for us.
    Take {
        /// What a second delivery of the same has in common with the first.
        key: String,
        /// What.
        incoming: Box<Incoming>,
    },
    /// Nothing to us: of our own making, or of no interest.
    Ignore,
    /// Another app's, workspace's or organisation's.
    NotOurs(&'static str),
    /// Not what Slack sends.
    Nonsense(&'static str),
}

/// Why reading ends early.
pub(super) enum Stop {
    Ignore,
    NotOurs(&'static str),
    Nonsense(&'static str),
}

impl From<Stop> for Reading {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Ignore => Self::Ignore,
            Stop::NotOurs(what) => Self::NotOurs(what),
            Stop::Nonsense(what) => Self::Nonsense(what),
        }
    }
}

/// Reads a payload. `bot` is our own user id.
#[must_use]
pub fn read(kind: Kind, payload: &Value, ours: &Ours, bot: &str) -> Reading {
    let read = match kind {
        Kind::Event => message::event(payload, ours, bot),
        Kind::Interaction => interaction::interaction(payload, ours),
        Kind::Command => interaction::command(payload, ours),
    };
    match read {
        Ok((key, incoming)) => Reading::Take { key, incoming: Box::new(incoming) },
        Err(stop) => stop.into(),
    }
}

/// Whether a payload names its organisation always or only where it likes.
#[derive(Clone, Copy)]
pub(super) enum Says {
    Always,
    Sometimes,
}

/// Holds the three ids of a payload against ours.
pub(super) fn whose(
    team: Option<&str>,
    enterprise: Option<&str>,
    app: Option<&str>,
    says: Says,
    ours: &Ours,
) -> Result<(), Stop> {
    if app != Some(ours.app.as_str()) {
        return Err(Stop::NotOurs("of another app"));
    }
    if team != Some(ours.team.as_str()) {
        return Err(Stop::NotOurs("of another workspace"));
    }
    match (says, enterprise) {
        (Says::Sometimes, None) => Ok(()),
        (_, enterprise) if enterprise == ours.enterprise.as_deref() => Ok(()),
        (_, _) => Err(Stop::NotOurs("of another organisation")),
    }
}

/// A text at a JSON pointer.
pub(super) fn at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// An id that must be there.
pub(super) fn id(value: &Value, pointer: &str, what: &'static str) -> Result<String, Stop> {
    at(value, pointer).filter(|text| is_id(text)).map(str::to_owned).ok_or(Stop::Nonsense(what))
}

/// A handle that must be there.
pub(super) fn handle(value: &Value, pointer: &str, what: &'static str) -> Result<String, Stop> {
    at(value, pointer).filter(|text| is_handle(text)).map(str::to_owned).ok_or(Stop::Nonsense(what))
}

/// What we put into something of ours: at most `most` characters, or it is none of ours.
pub(super) fn own(value: &Value, pointer: &str, most: usize) -> Result<String, Stop> {
    let text = at(value, pointer).unwrap_or_default();
    if text.chars().nth(most).is_some() { Err(Stop::Nonsense("longer than it can be")) } else { Ok(text.to_owned()) }
}

/// Who did it.
pub(super) fn by(user: String, user_team: Option<&str>, ours: &Ours) -> By {
    By {
        user,
        user_team: user_team.filter(|team| is_id(team)).map(str::to_owned),
        team: ours.team.clone(),
        enterprise: ours.enterprise.clone(),
        app: ours.app.clone(),
    }
}
