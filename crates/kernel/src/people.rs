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
}

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
                if let Some(one) = claimed.insert(user, name).filter(|one| *one != name) {
                    return Err(ClaimedTwice { one: one.clone(), other: name.clone(), user: user.clone() });
                }
            }
        }
        Ok(Self(people))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&PersonId, &Person)> {
        self.0.iter()
    }

    /// The requester behind a user of this machine.
    ///
    /// # Errors
    /// [`NobodyError`]: a user whom nobody claims never passes for a person of the config.
    pub fn requester(&self, user: &str) -> Result<Requester, NobodyError> {
        let known = self.0.iter().find(|(_, person)| person.users.iter().any(|claimed| claimed == user));
        if let Some((name, person)) = known {
            return Ok(Requester { person: name.clone(), groups: person.groups.clone() });
        }
        let person: PersonId = user.parse().map_err(|source| {
            let user = user.chars().take(80).flat_map(char::escape_debug).collect();
            NobodyError::Name { user, source }
        })?;
        if self.0.contains_key(&person) {
            return Err(NobodyError::NotClaimed(person));
        }
        Ok(Requester { person, groups: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(text: &str) -> BTreeMap<PersonId, Person> {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_user_is_whoever_claims_it() {
        let people =
            People::new(people("[ann]\ngroups = [\"sre\"]\nusers = [\"a.smith\", \"a.smith\"]\n[bob]\n")).unwrap();
        let ann = people.requester("a.smith").unwrap();
        assert_eq!((ann.person.as_str(), ann.groups), ("ann", vec!["sre".to_owned()]));
        let other = people.requester("carol").unwrap();
        assert_eq!((other.person.as_str(), other.groups), ("carol", Vec::new()));
    }

    #[test]
    fn nobody_passes_for_a_person_by_the_name_of_their_user() {
        let people = People::new(people("[ann]\nusers = [\"a.smith\"]\n")).unwrap();
        insta::assert_snapshot!(people.requester("ann").unwrap_err(), @r#"`[people.ann]` does not claim the user `ann`; if they are the same, write `users = ["ann"]` there"#);
        insta::assert_snapshot!(people.requester("$(id)").unwrap_err(), @r#"nobody claims the user `$(id)`, and that is no name for a person; write `users = ["$(id)"]` under one"#);
    }

    #[test]
    fn a_user_belongs_to_one_person() {
        let two = people("[ann]\nusers = [\"shared\"]\n[bob]\nusers = [\"shared\"]\n");
        insta::assert_snapshot!(People::new(two).unwrap_err(), @"`[people.ann]` and `[people.bob]` both claim the user `shared`");
    }
}
