//! The people of the config as the directory: who is who is read anew each time, so that whoever was taken out of a group
//! has lost its rights before anybody restarts anything. A config that can't be read lets nobody do anything.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::Deserialize;
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::people::directory::{Directory, DirectoryError, Freshness, Standing};
use warrant_kernel::people::{People, Person};

/// The `[people]` of a config file; all else in it is somebody else's.
#[derive(Debug, Deserialize)]
struct Document {
    #[serde(default)]
    people: BTreeMap<PersonId, Person>,
}

/// The people of a config file.
#[derive(Debug, Clone)]
pub struct ConfigPeople {
    path: PathBuf,
}

impl ConfigPeople {
    /// Those of the config at `path`.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Who is who now.
    ///
    /// # Errors
    /// [`DirectoryError::Unavailable`] where the file can't be read or two persons claim one user.
    pub async fn now(&self) -> Result<People, DirectoryError> {
        let unavailable = |why: String| DirectoryError::Unavailable(format!("`{}`: {why}", self.path.display()));
        let text = tokio::fs::read_to_string(&self.path).await.map_err(|error| unavailable(error.to_string()))?;
        let document: Document = toml::from_str(&text).map_err(|error| unavailable(error.message().to_owned()))?;
        People::new(document.people).map_err(|error| unavailable(error.to_string()))
    }
}

#[async_trait]
impl Directory for ConfigPeople {
    async fn standing(&self, person: &PersonId, _freshness: Freshness) -> Result<Standing, DirectoryError> {
        self.now().await?.standing(person).ok_or_else(|| DirectoryError::Nobody(person.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ap_11_whoever_left_the_group_has_lost_its_rights_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("warrant.toml");
        let people = ConfigPeople::new(path.clone());
        let ann: PersonId = "ann".parse().unwrap();
        let write = |text: &str| std::fs::write(&path, format!("[store]\npath = \"/x\"\n{text}")).unwrap();
        write("[people.ann]\ngroups = [\"oncall\"]\n");
        assert_eq!(people.standing(&ann, Freshness::Cached).await.unwrap().groups, ["oncall"]);
        write("[people.ann]\n");
        assert_eq!(people.standing(&ann, Freshness::Now).await.unwrap().groups, Vec::<String>::new());
        write("[people.ann]\ngroups = [\"oncall\"]\nactive = false\n");
        assert!(!people.standing(&ann, Freshness::Now).await.unwrap().active);
        write("");
        assert_eq!(people.standing(&ann, Freshness::Now).await, Err(DirectoryError::Nobody(ann)));
    }

    #[tokio::test]
    async fn ap_12_a_directory_that_does_not_answer_lets_nobody_do_anything() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("warrant.toml");
        let people = ConfigPeople::new(path.clone());
        let ann: PersonId = "ann".parse().unwrap();
        for text in [
            None,
            Some("[people.ann]\ngroup = []\n"),
            Some("[people"),
            Some("[people.a]\nuids = [1]\n[people.ann]\nuids = [1]\n"),
        ] {
            if let Some(text) = text {
                std::fs::write(&path, text).unwrap();
            }
            let told = people.standing(&ann, Freshness::Now).await;
            assert!(matches!(&told, Err(DirectoryError::Unavailable(why)) if why.contains("warrant.toml")), "{told:?}");
        }
    }
}
