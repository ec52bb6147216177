//! Who a user of Slack is: a person of the config, or a member of a user group that is a group of the policies.
//!
//! Asked anew for everything that counts. Whoever is a guest, a bot, gone, of another workspace or unknown is nobody, and so
//! is everybody while Slack can't be asked.

mod profile;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use warrant_kernel::call::gate::vote::Proof;
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::people::People;
use warrant_kernel::people::directory::{Directory, DirectoryError, Freshness, Standing};

use super::client::Api;
use super::client::error::CallError;
use super::config::Ours;
use super::id::is_id;
use super::incoming::By;

use profile::{Account, Profile, Profiles};

/// What stands before the user id in the name of a person whom only Slack knows.
const PREFIX: &str = "slack.";

/// Whoever knows the persons of the config at this moment.
#[async_trait]
pub trait Register: Send + Sync {
    /// Who is who now.
    ///
    /// # Errors
    /// [`DirectoryError`]; then nobody is anybody.
    async fn people(&self) -> Result<People, DirectoryError>;
}

#[async_trait]
impl Register for People {
    async fn people(&self) -> Result<People, DirectoryError> {
        Ok(self.clone())
    }
}

/// A person, and how that was found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Who.
    pub person: PersonId,
    /// Their groups.
    pub groups: Vec<String>,
    /// What the gate is told.
    pub proof: Proof,
    /// How it was found out, in words for the record.
    pub proved: String,
}

/// Why somebody is nobody. Its text is for them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stranger {
    /// The payload is of another app, workspace or organisation.
    #[error("this was not sent to this app in this workspace; nothing was done")]
    NotOurs,
    /// They are of another workspace, as people of shared channels are.
    #[error("people of other workspaces can't use Warrant here; nothing was done")]
    OtherWorkspace,
    /// A bot.
    #[error("bots can't use Warrant; nothing was done")]
    Bot,
    /// A guest.
    #[error("guests can't use Warrant; nothing was done")]
    Guest,
    /// Not here any more.
    #[error("this account is not active any more; nothing was done")]
    Gone,
    /// Nobody knows them.
    #[error(
        "Warrant does not know you; ask whoever runs it to add your Slack id `{0}` to its people. Nothing was done"
    )]
    Unknown(String),
    /// Nobody can be asked.
    #[error("Warrant can't find out who you are at the moment ({0}); nothing was done. Try again in a minute")]
    Unreachable(String),
}

/// Finds out who is who.
pub struct Who {
    profiles: Profiles,
    register: Arc<dyn Register>,
    ours: Ours,
    groups: BTreeMap<String, String>,
}

impl Who {
    /// By the persons of `register` and by `groups`: a Slack user group for each group of the policies.
    #[must_use]
    pub fn new(api: Arc<dyn Api>, register: Arc<dyn Register>, ours: Ours, groups: BTreeMap<String, String>) -> Self {
        Self { profiles: Profiles::new(api), register, ours, groups }
    }

    /// The person behind a payload.
    ///
    /// # Errors
    /// [`Stranger`], whose text they may be told.
    pub async fn person(&self, by: &By, freshness: Freshness) -> Result<Known, Stranger> {
        let Ours { team, enterprise, app } = &self.ours;
        if (&by.team, &by.enterprise, &by.app) != (team, enterprise, app) {
            return Err(Stranger::NotOurs);
        }
        // In an organisation people of its other workspaces may be in ours; their profile says so.
        if enterprise.is_none() && by.user_team.as_ref().is_some_and(|of| of != team) {
            return Err(Stranger::OtherWorkspace);
        }
        if !is_id(&by.user) {
            return Err(Stranger::Unknown(String::new()));
        }
        self.admitted(&by.user, freshness).await?;
        let people = self.register.people().await.map_err(|error| Stranger::Unreachable(error.to_string()))?;
        let proof = Proof::Slack { team: team.clone(), user: by.user.clone() };
        if let Some(person) = people.in_slack(&by.user) {
            let standing = people.standing(person).filter(|standing| standing.active).ok_or(Stranger::Gone)?;
            if !standing.human {
                return Err(Stranger::Bot);
            }
            let proved = format!("Slack user {} of {team}, claimed by `[people.{person}]`", by.user);
            return Ok(Known { person: person.clone(), groups: standing.groups, proof, proved });
        }
        let unknown = || Stranger::Unknown(by.user.clone());
        let person: PersonId = format!("{PREFIX}{}", by.user).parse().map_err(|_| unknown())?;
        // A person of the config who happens to bear that name is somebody else.
        if people.standing(&person).is_some() {
            return Err(unknown());
        }
        let groups = self.groups_of(&by.user, freshness).await?;
        if groups.is_empty() {
            return Err(unknown());
        }
        let proved = format!("Slack user {} of {team}, in the user groups of {}", by.user, groups.join(", "));
        Ok(Known { person, groups, proof, proved })
    }

    /// Whether the user is a full member of the workspace.
    async fn admitted(&self, user: &str, freshness: Freshness) -> Result<(), Stranger> {
        let profile = self.profiles.user(user, freshness).await.map_err(|error| match error {
            CallError::Refused(code) if code == "user_not_found" || code == "user_not_visible" => {
                Stranger::Unknown(user.to_owned())
            }
            error => Stranger::Unreachable(error.to_string()),
        })?;
        let Profile { teams, enterprise, account } = profile;
        let is_here = teams.contains(&self.ours.team) && enterprise == self.ours.enterprise;
        match account {
            Account::Deleted => Err(Stranger::Gone),
            Account::Stranger => Err(Stranger::OtherWorkspace),
            Account::Bot | Account::Guest | Account::Member if !is_here => Err(Stranger::OtherWorkspace),
            Account::Bot => Err(Stranger::Bot),
            Account::Guest => Err(Stranger::Guest),
            Account::Member => Ok(()),
        }
    }

    async fn groups_of(&self, user: &str, freshness: Freshness) -> Result<Vec<String>, Stranger> {
        let mut groups = Vec::new();
        for (name, group) in &self.groups {
            let members = self.profiles.members(group, freshness).await;
            if members.map_err(|error| Stranger::Unreachable(error.to_string()))?.contains(user) {
                groups.push(name.clone());
            }
        }
        Ok(groups)
    }

    /// The user ids of those who may vote and are in a group of the policies: who is to be told. At most `most`.
    ///
    /// # Errors
    /// [`Stranger::Unreachable`].
    pub async fn members(&self, group: &str, most: usize) -> Result<Vec<String>, Stranger> {
        let people = self.register.people().await.map_err(|error| Stranger::Unreachable(error.to_string()))?;
        let mut users: Vec<String> = people
            .iter()
            .filter(|(_, person)| person.active && person.human && person.groups.iter().any(|name| name == group))
            .filter_map(|(_, person)| person.slack.first().cloned())
            .collect();
        if let Some(id) = self.groups.get(group) {
            let members = self.profiles.members(id, Freshness::Cached).await;
            let members = members.map_err(|error| Stranger::Unreachable(error.to_string()))?;
            // Whom the config knows is in the groups that it names, and no others.
            users.extend(members.iter().filter(|user| people.in_slack(user).is_none()).cloned());
        }
        users.truncate(most);
        Ok(users)
    }
}

/// Those whom only Slack knows, for the checks at execution; all others are the config's.
#[async_trait]
impl Directory for Who {
    async fn standing(&self, person: &PersonId, freshness: Freshness) -> Result<Standing, DirectoryError> {
        if let Some(standing) = self.register.people().await?.standing(person) {
            return Ok(standing);
        }
        let nobody = || DirectoryError::Nobody(person.clone());
        let user = person.as_str().strip_prefix(PREFIX).filter(|user| is_id(user)).ok_or_else(nobody)?;
        let by = By {
            user: user.to_owned(),
            user_team: None,
            team: self.ours.team.clone(),
            enterprise: self.ours.enterprise.clone(),
            app: self.ours.app.clone(),
        };
        match self.person(&by, freshness).await {
            // The config may claim the user by now, under another name.
            Ok(known) if known.person == *person => Ok(Standing { groups: known.groups, active: true, human: true }),
            Err(Stranger::Unreachable(why)) => Err(DirectoryError::Unavailable(why)),
            Err(Stranger::Gone) => Ok(Standing { groups: Vec::new(), active: false, human: true }),
            Ok(_)
            | Err(
                Stranger::NotOurs | Stranger::OtherWorkspace | Stranger::Bot | Stranger::Guest | Stranger::Unknown(_),
            ) => Err(nobody()),
        }
    }
}

#[cfg(test)]
mod tests;
