//! Personal tokens: another proof of who somebody is, where the user of a machine does not tell.
//!
//! Kept is the digest; the token itself is told once, to whoever had it made. It proves a person and gives no right: what
//! that person may is asked each time. Nobody gets a token by a token, so one that leaked makes no others.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::call::gate::objection::Objection;
use crate::call::gate::vote::{Claimant, Proof};
use crate::db::storage::{DocumentKind, DocumentWrite};
use crate::domain::hex::hex;
use crate::domain::name::PersonId;
use crate::ledger::record::{Entry, RecordKind};
use crate::people::directory::{DirectoryError, Freshness};

use super::Sequencer;
use super::kept::unread;

/// Begins every token, so that it is known for one wherever it turns up.
pub const PREFIX: &str = "warrant_";

/// Who has a token made or revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Issuer {
    /// A person of the config, for themselves.
    Person(Claimant),
    /// The user whom the store belongs to, and who is no person of the config: so nobody holds tokens of others and a vote
    /// of their own.
    Operator(u32),
}

/// A token as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What it is called; the token itself can't be found from it.
    pub id: String,
    /// Whom it proves.
    pub person: PersonId,
    /// Who had it made.
    pub issued_by: String,
    /// When.
    pub issued_at: Timestamp,
    /// Since when it proves nobody.
    pub revoked_at: Option<Timestamp>,
    /// SHA-256 of the token, in hex.
    digest: String,
}

/// A token that was made. It is told here and never again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// The token.
    pub token: String,
    /// As it is kept.
    pub kept: Token,
}

impl Issuer {
    fn name(&self) -> String {
        match self {
            Self::Person(by) => format!("{} ({})", by.person, by.proof),
            Self::Operator(uid) => format!("the operator (uid {uid})"),
        }
    }

    fn may(&self, person: &PersonId) -> Result<(), Objection> {
        let why = match self {
            Self::Operator(_) => return Ok(()),
            Self::Person(by) if by.person != *person => "a person has tokens made for themselves only",
            Self::Person(by) => match by.proof {
                Proof::Uid(_) => return Ok(()),
                Proof::Token(_) | Proof::Demo => "nobody gets a token by a token; use your own user on this machine",
            },
        };
        let Self::Person(by) = self else { return Ok(()) };
        Err(Objection::NotEligible { person: by.person.clone(), why: why.to_owned() })
    }
}

impl Sequencer {
    /// Makes a token that proves a person.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn issue_token(&self, person: &PersonId, by: &Issuer) -> Result<Issued, Objection> {
        by.may(person)?;
        let standing = self.directory.standing(person, Freshness::Now).await.map_err(|error| match error {
            DirectoryError::Nobody(person) => Objection::NoSuchPerson(person),
            DirectoryError::Unavailable(why) => Objection::DirectoryFailed(why),
        })?;
        if !(standing.human && standing.active) {
            return Err(Objection::NotActive(person.clone()));
        }
        let mut bytes = [0_u8; 32];
        (self.random)(&mut bytes).map_err(|error| Objection::Ledger(format!("no random bytes: {error}")))?;
        let token = format!("{PREFIX}{}", hex(&bytes));
        let digest = digest(&token);
        let kept = Token {
            id: digest.chars().take(12).collect(),
            person: person.clone(),
            issued_by: by.name(),
            issued_at: self.watch.now(),
            revoked_at: None,
            digest,
        };
        self.keep_token(&kept, 0, "token issued", by).await?;
        Ok(Issued { token, kept })
    }

    /// From here on a token proves nobody.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn revoke_token(&self, id: &str, by: &Issuer) -> Result<Token, Objection> {
        let (mut token, revision) = self.token(id).await?.ok_or(Objection::NoToken)?;
        // Whoever finds a token may have it revoked with nothing but that token.
        match by {
            Issuer::Person(by) if by.person != token.person => {
                let why = "a person revokes tokens of their own only".to_owned();
                return Err(Objection::NotEligible { person: by.person.clone(), why });
            }
            Issuer::Person(_) | Issuer::Operator(_) => {}
        }
        if token.revoked_at.is_none() {
            token.revoked_at = Some(self.watch.now());
            self.keep_token(&token, revision, "token revoked", by).await?;
        }
        Ok(token)
    }

    /// All tokens, without what would prove anything.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where they can't be read.
    pub async fn tokens(&self) -> Result<Vec<Token>, Objection> {
        let documents = self.ledger.documents(DocumentKind::Token).await.map_err(unread)?;
        let tokens = documents.into_iter().map(|document| serde_json::from_value(document.body));
        tokens.collect::<Result<_, _>>().map_err(|error| Objection::Ledger(error.to_string()))
    }

    /// Whom a token proves.
    ///
    /// # Errors
    /// [`Objection::NoToken`] for one that was never made, or was revoked.
    pub async fn bearer(&self, token: &str) -> Result<Claimant, Objection> {
        let digest = digest(token);
        let id: String = digest.chars().take(12).collect();
        let (kept, _) = self.token(&id).await?.ok_or(Objection::NoToken)?;
        if kept.digest != digest || kept.revoked_at.is_some() {
            return Err(Objection::NoToken);
        }
        Ok(Claimant { person: kept.person, proof: Proof::Token(kept.id) })
    }

    async fn token(&self, id: &str) -> Result<Option<(Token, u64)>, Objection> {
        let Some(document) = self.ledger.document(DocumentKind::Token, id).await.map_err(unread)? else {
            return Ok(None);
        };
        let token = serde_json::from_value(document.body).map_err(|error| Objection::Ledger(error.to_string()))?;
        Ok(Some((token, document.revision)))
    }

    async fn keep_token(&self, token: &Token, revision: u64, what: &str, by: &Issuer) -> Result<(), Objection> {
        let body = serde_json::to_value(token).map_err(|error| Objection::Ledger(error.to_string()))?;
        let write = DocumentWrite { kind: DocumentKind::Token, id: token.id.clone(), expect_revision: revision, body };
        let entry = Entry::new(RecordKind::PeopleChanged)
            .with("what", what)
            .with("token", token.id.as_str())
            .with("person", token.person.as_str())
            .with("by", by.name());
        let _turn = self.turn.lock().await;
        self.write(vec![entry], vec![write]).await
    }
}

fn digest(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}
