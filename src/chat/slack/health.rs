//! How it stands with Slack, in words for `/readyz`: the connection, the token, and the channels that nothing reaches.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

/// The most channels of which it is remembered that nothing reaches them.
const MOST: usize = 100;

/// How events come at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// Nothing was tried yet.
    Starting,
    /// They come.
    Up {
        /// Since when.
        since: Timestamp,
    },
    /// They do not come; it is tried again.
    Down {
        /// Since when.
        since: Timestamp,
        /// Why, in words.
        why: String,
    },
}

/// Whether a person must do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// All is well.
    Yes,
    /// It works, with something to be looked at.
    Partly,
    /// Nothing comes or nothing goes.
    No,
}

/// All of it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// How events come.
    pub link: Link,
    /// Why nothing can be sent at all: the token.
    pub token: Option<String>,
    /// Why what arrived last could not be kept.
    pub inbox: Option<String>,
    /// The channels that nothing reaches, and why.
    pub channels: BTreeMap<String, String>,
    /// How many messages wait to be sent.
    pub waiting: usize,
    /// How many arrivals were refused as not ours or nonsense since the start.
    pub refused: u64,
    /// How often Slack said that it was too much since the start.
    pub limited: u64,
}

impl Picture {
    /// Whether a person must do something.
    #[must_use]
    pub fn ready(&self) -> Ready {
        match self.link {
            Link::Up { .. } if self.token.is_none() && self.inbox.is_none() => {
                if self.channels.is_empty() {
                    Ready::Yes
                } else {
                    Ready::Partly
                }
            }
            Link::Up { .. } | Link::Starting | Link::Down { .. } => Ready::No,
        }
    }

    /// In one line.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = vec![match &self.link {
            Link::Starting => "not connected yet".to_owned(),
            Link::Up { since } => format!("connected since {since}"),
            Link::Down { since, why } => format!("not connected since {since}: {why}"),
        }];
        words.extend(self.token.iter().map(|why| format!("nothing can be sent: {why}")));
        words.extend(self.inbox.iter().map(|why| format!("nothing can be taken in: {why}")));
        words.extend(self.channels.iter().map(|(channel, why)| format!("{channel}: {why}")));
        if self.waiting > 0 {
            words.push(format!("{} messages wait", self.waiting));
        }
        words.join("; ")
    }
}

/// Where Slack's parts say how it stands. Cheap to ask.
#[derive(Debug)]
pub struct Health(Mutex<Picture>);

impl Default for Health {
    fn default() -> Self {
        Self(Mutex::new(Picture {
            link: Link::Starting,
            token: None,
            inbox: None,
            channels: BTreeMap::new(),
            waiting: 0,
            refused: 0,
            limited: 0,
        }))
    }
}

impl Health {
    fn lock(&self) -> MutexGuard<'_, Picture> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it stands.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.lock().clone()
    }

    /// Events come.
    pub fn up(&self, at: Timestamp) {
        let mut picture = self.lock();
        if !matches!(picture.link, Link::Up { .. }) {
            picture.link = Link::Up { since: at };
        }
    }

    /// They do not come. Since when is kept from the first time.
    pub fn down(&self, at: Timestamp, why: &str) {
        let mut picture = self.lock();
        let since = match &picture.link {
            Link::Down { since, .. } => *since,
            Link::Starting | Link::Up { .. } => at,
        };
        picture.link = Link::Down { since, why: why.to_owned() };
    }

    /// Whether the token is good; why not.
    pub fn token(&self, why_not: Option<String>) {
        self.lock().token = why_not;
    }

    /// Whether what arrives can be kept; why not.
    pub fn inbox(&self, why_not: Option<String>) {
        self.lock().inbox = why_not;
    }

    /// Whether messages reach a channel; why not.
    pub fn channel(&self, channel: &str, why_not: Option<String>) {
        let mut picture = self.lock();
        match why_not {
            None => drop(picture.channels.remove(channel)),
            Some(why) if picture.channels.len() < MOST || picture.channels.contains_key(channel) => {
                picture.channels.insert(channel.to_owned(), why);
            }
            Some(_) => {}
        }
    }

    /// How many messages wait.
    pub fn waiting(&self, messages: usize) {
        self.lock().waiting = messages;
    }

    /// An arrival was refused.
    pub fn refused(&self) {
        let mut picture = self.lock();
        picture.refused = picture.refused.saturating_add(1);
    }

    /// Slack said that it was too much.
    pub fn limited(&self) {
        let mut picture = self.lock();
        picture.limited = picture.limited.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn it_is_said_what_is_wrong_and_since_when() {
        let health = Health::default();
        assert_eq!(health.picture().ready(), Ready::No);
        health.up(at(10));
        health.up(at(20));
        assert_eq!(
            (health.picture().ready(), health.picture().words().as_str()),
            (Ready::Yes, "connected since 1970-01-01T00:00:10Z")
        );
        health.channel("C1", Some("it is archived".to_owned()));
        assert_eq!(health.picture().ready(), Ready::Partly);
        health.down(at(30), "no connection");
        health.down(at(40), "too many sockets are open");
        health.token(Some("token_revoked".to_owned()));
        health.waiting(2);
        insta::assert_snapshot!(health.picture().words(), @"not connected since 1970-01-01T00:00:30Z: too many sockets are open; nothing can be sent: token_revoked; C1: it is archived; 2 messages wait");
        health.up(at(50));
        health.channel("C1", None);
        assert_eq!(health.picture().ready(), Ready::No, "the token is still bad");
        health.token(None);
        assert_eq!(health.picture().ready(), Ready::Yes);
    }

    #[test]
    fn no_more_channels_are_remembered_than_fit() {
        let health = Health::default();
        for n in 0..1_000 {
            health.channel(&format!("C{n}"), Some("gone".to_owned()));
        }
        assert_eq!(health.picture().channels.len(), MOST);
        health.channel("C0", Some("archived".to_owned()));
        assert_eq!(health.picture().channels.get("C0").map(String::as_str), Some("archived"));
    }
}
