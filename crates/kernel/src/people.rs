//! Who is who: the persons of the config, and who the user of this machine is among them.
//!
//! Nobody is guessed: a user that no person claims is a person of their own name without any group.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::name::{NameError, PersonId};
use crate::domain::run::Requester;

/// One person: `[people.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// The groups they are in.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Their user names on this machine.
    #[serde(default)]
    pub users: Vec<String>,
}

/// All persons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People(BTreeMap<PersonId, Person>);

/// A user name that two persons claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`[people.{one}]` and `[people.{other}]` both claim the user `{user}`")]
pub struct ClaimedTwice {
    /// The first.
    pub one: PersonId,
    /// The second.
    pub other: PersonId,
    /// The user name.
    pub user: String,
}

impl People {
    /// Checks that no user belongs to two persons.
    ///
    /// # Errors
    /// The first user that does.
    pub fn new(people: BTreeMap<PersonId, Person>) -> Result<Self, ClaimedTwice> {
        let mut claimed: BTreeMap<&str, &PersonId> = BTreeMap::new();
        for (name, person) in &people {
            for user in &person.users {
                if let Some(one) = claimed.insert(user, name) {
                    return Err(ClaimedTwice { one: one.clone(), other: name.clone(), user: user.clone() });
                }
            }
        }
        Ok(Self(people))
    }

    /// The requester behind a user of this machine.
    ///
    /// # Errors
    /// [`NameError`] where nobody claims the user and its name can't be a person's.
    pub fn requester(&self, user: &str) -> Result<Requester, NameError> {
        let known = self.0.iter().find(|(_, person)| person.users.iter().any(|claimed| claimed == user));
        match known {
            Some((name, person)) => Ok(Requester { person: name.clone(), groups: person.groups.clone() }),
            None => Ok(Requester { person: user.parse()?, groups: Vec::new() }),
        }
    }
}
