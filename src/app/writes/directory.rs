//! Who is who at this moment, as the config says: it was read at start and does not change while the process runs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::people::directory::{Directory, DirectoryError, Freshness, Standing};

use crate::app::App;
use crate::app::fault::Fault;

/// The persons of the config, and the user at this terminal.
pub struct ConfigDirectory {
    groups: BTreeMap<PersonId, Vec<String>>,
}

impl ConfigDirectory {
    /// Of this config.
    ///
    /// # Errors
    /// [`Fault::Usage`] where the user at this terminal can't be a person.
    pub fn of(app: &App) -> Result<Self, Fault> {
        let people = &app.config.people;
        let mut groups: BTreeMap<PersonId, Vec<String>> =
            people.iter().map(|(name, person)| (name.clone(), person.groups.clone())).collect();
        // Whom no person claims is a person of their own name, without any group.
        let here = app.requester()?;
        groups.entry(here.person).or_insert(here.groups);
        Ok(Self { groups })
    }
}

#[async_trait]
impl Directory for ConfigDirectory {
    async fn standing(&self, person: &PersonId, _freshness: Freshness) -> Result<Standing, DirectoryError> {
        let groups = self.groups.get(person).ok_or_else(|| DirectoryError::Nobody(person.clone()))?;
        Ok(Standing { groups: groups.clone(), active: true, human: true })
    }
}
