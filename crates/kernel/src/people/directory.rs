//! The seam to whoever knows who is who at this moment. What can't be found out is no standing at all.

use async_trait::async_trait;

use crate::domain::name::PersonId;

use super::People;

/// How fresh an answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// At most a minute old.
    Cached,
    /// Asked for now.
    Now,
}

/// What a person is at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Their groups.
    pub groups: Vec<String>,
    /// Whether they are still here.
    pub active: bool,
    /// Whether they are a human being.
    pub human: bool,
}

/// Why nobody can say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// There is no such person.
    #[error("nobody knows `{0}`")]
    Nobody(PersonId),
    /// It did not answer.
    #[error("the directory did not answer: {0}")]
    Unavailable(String),
}

/// Knows who is who.
#[async_trait]
pub trait Directory: Send + Sync {
    /// What a person is at this moment.
    ///
    /// # Errors
    /// [`DirectoryError`]; then the person may do nothing.
    async fn standing(&self, person: &PersonId, freshness: Freshness) -> Result<Standing, DirectoryError>;
}

/// People who stay as they are, as those of the demo do.
#[async_trait]
impl Directory for People {
    async fn standing(&self, person: &PersonId, _freshness: Freshness) -> Result<Standing, DirectoryError> {
        People::standing(self, person).ok_or_else(|| DirectoryError::Nobody(person.clone()))
    }
}
