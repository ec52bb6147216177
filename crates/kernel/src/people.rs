//! Who is who: the persons of the config, and who a user of this machine is among them.
//!
//! Nobody is guessed. A user whom no person claims is a person of their own name without any group when they ask, and nobody
//! at all when they want to approve. Root is nobody's user unless somebody claims it, since whoever is root could be anybody.

pub mod directory;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::in_force::InForce;
use crate::domain::name::{NameError, PersonId};
use crate::domain::run::Requester;

use directory::Standing;

/// One person: `[people.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// The groups they are in.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Their user names on this machine.
    #[serde(default)]
    pub users: Vec<String>,
    /// The numbers of their users on this machine.
    #[serde(default)]
    pub uids: Vec<u32>,
    /// Their ids in Slack.
    #[serde(default)]
    pub slack: Vec<String>,
    /// Whether they are still here. Whoever is not may do nothing.
    #[serde(default = "yes")]
    pub active: bool,
    /// Whether they are a human being. Bots ask; they never approve.
    #[serde(default = "yes")]
    pub human: bool,
}

fn yes() -> bool {
    true
}

/// A user of this machine, as the system knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User<'a> {
    /// The number.
    pub uid: u32,
    /// The name, if the number has one.
    pub name: Option<&'a str>,
}

/// All persons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People(BTreeMap<PersonId, Person>);

/// Why a user of this machine is nobody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NobodyError {
    /// Nobody claims the user, and its name can't be a person's.
    #[error(
        "nobody claims the user `{user}`, and that is no name for a person; write `users = [\"{user}\"]` under one"
    )]
    Name {
        /// The user, as far as it is shown.
        user: String,
        /// What a name must be.
        source: NameError,
    },
    /// The user bears the name of a person who does not claim it; it could be anybody.
    #[error("`[people.{0}]` does not claim the user `{0}`; if they are the same, write `users = [\"{0}\"]` there")]
    NotClaimed(PersonId),
    /// Nobody claims the user.
    #[error("nobody claims the user {0}; write `uids = [{0}]` under a person, or give them a token")]
    Unclaimed(u32),
    /// One claims the number and another one the name.
    #[error("`[people.{one}]` claims the user {uid}, and `[people.{other}]` its name; one of them only")]
    Disputed {
        /// The number.
        uid: u32,
        /// Who claims it.
        one: PersonId,
        /// Who claims the name.
        other: PersonId,
    },
}

/// A user whom two persons claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`[people.{one}]` and `[people.{other}]` both claim the user `{user}`; whoever shares one proves who they are by a token, and claims none"
)]
pub struct ClaimedTwice {
    /// The first.
    pub one: PersonId,
    /// The second.
    pub other: PersonId,
    /// The user: a name, or a number.
    pub user: String,
}

impl People {
    /// Checks that no user belongs to two persons: a vote must be one person's.
    ///
    /// # Errors
    /// The first user that does.
    pub fn new(people: BTreeMap<PersonId, Person>) -> Result<Self, ClaimedTwice> {
        let mut claimed: BTreeMap<String, &PersonId> = BTreeMap::new();
        for (name, person) in &people {
            let uids = person.uids.iter().map(ToString::to_string);
            let slack = person.slack.iter().map(|id| format!("Slack's {id}"));
            for user in person.users.iter().cloned().chain(uids).chain(slack) {
                if let Some(one) = claimed.insert(user.clone(), name).filter(|one| *one != name) {
                    return Err(ClaimedTwice { one: one.clone(), other: name.clone(), user });
                }
            }
        }
        Ok(Self(people))
    }

    /// The person that a user of this machine is.
    ///
    /// # Errors
    /// [`NobodyError`] where nobody claims the user, or two do.
    pub fn person(&self, user: User<'_>) -> Result<&PersonId, NobodyError> {
        let by_number = self.find(|person| person.uids.contains(&user.uid));
        let by_name = user.name.and_then(|name| self.find(|person| person.users.iter().any(|claimed| claimed == name)));
        match (by_number, by_name) {
            (Some(one), Some(other)) if one != other => {
                Err(NobodyError::Disputed { uid: user.uid, one: one.clone(), other: other.clone() })
            }
            (Some(found), _) | (None, Some(found)) => Ok(found),
            (None, None) => Err(NobodyError::Unclaimed(user.uid)),
        }
    }

    /// The person that a user of Slack is; none where nobody claims the id.
    #[must_use]
    pub fn in_slack(&self, user: &str) -> Option<&PersonId> {
        self.find(|person| person.slack.iter().any(|claimed| claimed == user))
    }

    fn find(&self, is_it: impl Fn(&Person) -> bool) -> Option<&PersonId> {
        self.0.iter().find(|(_, person)| is_it(person)).map(|(name, _)| name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&PersonId, &Person)> {
        self.0.iter()
    }

    /// The requester behind a user of this machine.
    ///
    /// # Errors
    /// [`NobodyError`]: a user whom nobody claims never passes for a person of the config.
    pub fn requester(&self, user: User<'_>) -> Result<Requester, NobodyError> {
        match self.person(user) {
            Ok(person) => return Ok(Requester { person: person.clone(), groups: self.groups(person) }),
            Err(NobodyError::Unclaimed(_)) => {}
            Err(error) => return Err(error),
        }
        let name = user.name.map_or_else(|| format!("uid-{}", user.uid), str::to_owned);
        let person: PersonId = name.parse().map_err(|source| {
            let user = name.chars().take(80).flat_map(char::escape_debug).collect();
            NobodyError::Name { user, source }
        })?;
        if self.0.contains_key(&person) {
            return Err(NobodyError::NotClaimed(person));
        }
        Ok(Requester { person, groups: Vec::new() })
    }

    /// The groups by which a person's reads are decided on: none for whoever is not here any more.
    fn groups(&self, person: &PersonId) -> Vec<String> {
        self.0.get(person).filter(|person| person.active).map(|person| person.groups.clone()).unwrap_or_default()
    }

    /// What a person is; none where there is no such person.
    #[must_use]
    pub fn standing(&self, person: &PersonId) -> Option<Standing> {
        let Person { groups, users: _, uids: _, slack: _, active, human } = self.0.get(person)?;
        Some(Standing { groups: groups.clone(), active: *active, human: *human })
    }

    /// Those who may vote at all and are in the group.
    pub fn in_group<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a PersonId> {
        let is_in = move |person: &Person| person.active && person.human && person.groups.iter().any(|it| it == group);
        self.0.iter().filter(move |(_, person)| is_in(person)).map(|(name, _)| name)
    }

    /// Who is who, in one canonical form, and its digest: the order of groups and users does not matter.
    #[must_use]
    pub fn in_force(&self) -> InForce {
        let sorted = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
        let people: serde_json::Map<String, serde_json::Value> = self
            .0
            .iter()
            .map(|(name, person)| {
                let Person { groups, users, uids, slack, active, human } = person;
                let uids: BTreeSet<u32> = uids.iter().copied().collect();
                let mut person = json!({
                    "groups": sorted(groups), "users": sorted(users), "uids": uids, "active": active, "human": human,
                });
                // Left out where there is none, so that people of before there was Slack keep their digest.
                if let (false, Some(person)) = (slack.is_empty(), person.as_object_mut()) {
                    person.insert("slack".to_owned(), json!(sorted(slack)));
                }
                (name.to_string(), person)
            })
            .collect();
        InForce::of(json!({ "people": people }))
    }
}

#[cfg(test)]
mod tests;
