//! Rotating the key: a record, in which the old key signs the new one.
//!
//! The new key waits in a file of its own until the record is durable, so that a crash in between leaves one that fits.

use super::Ledger;
use super::error::LedgerError;
use super::note::{PrivateKey, PublicKey};
use super::record::{Entry, RecordKind};
use super::seal::Consent;
use super::writer::Room;

/// What the old key signs.
#[must_use]
pub fn statement(origin: &str, next: &PublicKey) -> String {
    format!("warrant key rotation\n{origin}\n{next}\n")
}

impl Ledger {
    /// Goes on under a new key; publish after it.
    ///
    /// # Errors
    /// [`LedgerError`]; the key is the old one then, or the new one once the ledger is opened again.
    pub async fn rotate_key(&self, by: &Consent) -> Result<PublicKey, LedgerError> {
        let mut writer = self.writer.lock().await;
        // What the old key answers for must be what it was asked to sign.
        writer.read_back(self.storage.as_ref()).await?;
        let mut seed = [0; 32];
        (writer.options.random)(&mut seed).map_err(LedgerError::Random)?;
        let old = writer.key.public();
        let next = PrivateKey::new(old.name().to_owned(), &seed);
        let public = next.public();
        let entry = Entry::new(RecordKind::KeyRotated)
            .with("key", public.to_string())
            .with("previous", old.to_string())
            .with("note", writer.key.sign(&statement(&writer.origin, &public)))
            .with("person", by.person.as_str())
            .with("proved", by.proved.as_str());
        writer.key_file.write_next(&next)?;
        self.write(&mut writer, &[entry], Vec::new(), Room::Ordinary).await?;
        writer.key_file.take_next()?;
        writer.key = next;
        Ok(public)
    }
}
