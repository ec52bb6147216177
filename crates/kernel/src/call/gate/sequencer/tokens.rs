//! Personal tokens: another proof of who somebody is, where the user of a machine does not tell.
//!
//! Kept is the digest; the token itself is told once, to whoever had it made. It proves a person and gives no right: what
//! that person may is asked each time. Nobody gets a token by a token, so one that leaked makes no others; and its scopes
//! narrow what it is good for, so one that leaked is good for no more than it was made for.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
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

/// What a token is good for. It narrows what its person may do, and never widens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Looking at investigations and approvals.
    Read,
    /// Having investigations begin, steering and stopping them.
    Investigate,
    /// Deciding about writes.
    Approve,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Investigate, Self::Approve];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Investigate => "investigate",
            Self::Approve => "approve",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scope of a token; write `read`, `investigate` or `approve`")]
pub struct NoScope(String);

impl FromStr for Scope {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| NoScope(text.chars().take(40).collect()))
    }
}

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
    /// What it is good for; none for one of before there were scopes, which looks and decides.
    #[serde(default)]
    pub scopes: Option<BTreeSet<Scope>>,
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

impl Token {
    pub(in crate::call::gate) fn is_good_for(&self, scope: Scope) -> bool {
        match (&self.scopes, scope) {
            (Some(scopes), _) => scopes.contains(&scope),
            (None, Scope::Read | Scope::Approve) => true,
            (None, Scope::Investigate) => false,
        }
    }
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
                Proof::Token(_) | Proof::Slack { .. } | Proof::Demo => {
                    "nobody gets a token by a token; use your own user on this machine"
                }
            },
        };
        let Self::Person(by) = self else { return Ok(()) };
        Err(Objection::NotEligible { person: by.person.clone(), why: why.to_owned() })
    }
}

impl Sequencer {
    /// Makes a token that proves a person, for these scopes.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn issue_token(
        &self,
        person: &PersonId,
        scopes: &BTreeSet<Scope>,
        by: &Issuer,
    ) -> Result<Issued, Objection> {
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
            scopes: Some(scopes.clone()),
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

    /// Whom a token proves, where it is good for this.
    ///
    /// # Errors
    /// [`Objection::NoToken`] for one that was never made, or was revoked; [`Objection::OutOfScope`].
    pub async fn bearer(&self, token: &str, scope: Scope) -> Result<Claimant, Objection> {
        let kept = self.held(token).await?;
        if !kept.is_good_for(scope) {
            return Err(Objection::OutOfScope { token: kept.id, scope });
        }
        Ok(Claimant { person: kept.person, proof: Proof::Token(kept.id) })
    }

    /// Whom a token proves, whatever it is good for: anybody may look after the tokens that are theirs.
    ///
    /// # Errors
    /// [`Objection::NoToken`] for one that was never made, or was revoked.
    pub async fn holder(&self, token: &str) -> Result<Claimant, Objection> {
        let kept = self.held(token).await?;
        Ok(Claimant { person: kept.person, proof: Proof::Token(kept.id) })
    }

    async fn held(&self, token: &str) -> Result<Token, Objection> {
        let digest = digest(token);
        let id: String = digest.chars().take(12).collect();
        let (kept, _) = self.token(&id).await?.ok_or(Objection::NoToken)?;
        if kept.digest != digest || kept.revoked_at.is_some() {
            return Err(Objection::NoToken);
        }
        Ok(kept)
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
            .with("scopes", json!(token.scopes))
            .with("by", by.name());
        let _turn = self.turn.lock().await;
        self.write(vec![entry], vec![write]).await
    }
}

fn digest(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}
