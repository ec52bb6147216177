//! Keys, signed notes and checkpoints, in the forms of C2SP (`signed-note`, `tlog-checkpoint`).
//!
//! A checkpoint says how many records a log has and the root of the tree over them. Kept elsewhere, it shows later what a
//! log alone can't: that its end was cut off, or that all of it was written again.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::domain::digest::Digest;
use crate::domain::hex::{hex, unhex};

/// The first byte of an Ed25519 key in a note's key.
const ED25519: u8 = 1;

/// Why a note or a key does not say what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// Not a key.
    #[error("this is no public key of the form `name+hash+base64`")]
    Key,
    /// Not a signed note.
    #[error("this is no signed note")]
    Note,
    /// A note that is no checkpoint.
    #[error("this note is no checkpoint")]
    Checkpoint,
    /// Nobody known has signed it, or a signature is wrong.
    #[error("no good signature of `{0}` is on it")]
    Unsigned(String),
}

/// A public key with the name under which it signs.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    key: VerifyingKey,
}

impl PublicKey {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> [u8; 4] {
        let mut hash = Sha256::new();
        hash.update(&self.name);
        hash.update([b'\n', ED25519]);
        hash.update(self.key.as_bytes());
        let [a, b, c, d, ..] = hash.finalize().0;
        [a, b, c, d]
    }

    /// The key without its name, in base64.
    #[must_use]
    pub fn encoded(&self) -> String {
        let bytes: Vec<u8> = std::iter::once(ED25519).chain(*self.key.as_bytes()).collect();
        STANDARD.encode(bytes)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}+{}", self.name, hex(&self.id()), self.encoded())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        let (name, rest) = text.trim_end().split_once('+').ok_or(NoteError::Key)?;
        let (id, key) = rest.split_once('+').ok_or(NoteError::Key)?;
        let bytes = key_bytes(key).ok_or(NoteError::Key)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| NoteError::Key)?;
        let found = Self { name: name.to_owned(), key };
        if is_key_name(name) && unhex(id).as_deref() == Some(&found.id()) { Ok(found) } else { Err(NoteError::Key) }
    }
}

/// Whether a text can be the name of a key.
#[must_use]
pub fn is_key_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != '+')
}

fn key_bytes(text: &str) -> Option<[u8; 32]> {
    let bytes = STANDARD.decode(text).ok()?;
    let (kind, key) = bytes.split_first()?;
    if *kind == ED25519 { key.try_into().ok() } else { None }
}

/// A key that signs.
pub(super) struct PrivateKey {
    name: String,
    key: SigningKey,
}

impl PrivateKey {
    pub(super) fn new(name: String, seed: &[u8; 32]) -> Self {
        Self { name, key: SigningKey::from_bytes(seed) }
    }

    pub(super) fn public(&self) -> PublicKey {
        PublicKey { name: self.name.clone(), key: self.key.verifying_key() }
    }

    /// As it lies in its file.
    pub(super) fn encoded(&self) -> String {
        let bytes: Vec<u8> = std::iter::once(ED25519).chain(self.key.to_bytes()).collect();
        format!("PRIVATE+KEY+{}+{}+{}\n", self.name, hex(&self.public().id()), STANDARD.encode(bytes))
    }

    pub(super) fn decode(text: &str) -> Option<Self> {
        let (name, rest) = text.trim_end().strip_prefix("PRIVATE+KEY+")?.split_once('+')?;
        let (id, key) = rest.split_once('+')?;
        let found = Self::new(name.to_owned(), &key_bytes(key)?);
        (is_key_name(name) && unhex(id).as_deref() == Some(&found.public().id())).then_some(found)
    }

    /// The line that signs `text`.
    fn signature(&self, text: &str) -> String {
        let bytes: Vec<u8> = self.public().id().into_iter().chain(self.key.sign(text.as_bytes()).to_bytes()).collect();
        format!("\u{2014} {} {}\n", self.name, STANDARD.encode(bytes))
    }

    /// `text`, which ends with a line end, as a signed note.
    pub(super) fn sign(&self, text: &str) -> String {
        format!("{text}\n{}", self.signature(text))
    }
}

/// The text of a note that `key` has signed. Signatures of others do not matter.
///
/// # Errors
/// [`NoteError::Note`] and [`NoteError::Unsigned`].
pub fn open<'a>(note: &'a str, key: &PublicKey) -> Result<&'a str, NoteError> {
    let (text, signatures) = note.rsplit_once("\n\n").ok_or(NoteError::Note)?;
    // The text keeps its last line end.
    let text = note.get(..=text.len()).ok_or(NoteError::Note)?;
    let signatures = signatures.strip_suffix('\n').ok_or(NoteError::Note)?;
    let mut signed = false;
    for line in signatures.split('\n') {
        let (name, signature) =
            line.strip_prefix("\u{2014} ").and_then(|line| line.split_once(' ')).ok_or(NoteError::Note)?;
        let bytes = STANDARD.decode(signature).map_err(|_| NoteError::Note)?;
        let (id, signature) = bytes.split_first_chunk::<4>().ok_or(NoteError::Note)?;
        if name != key.name || *id != key.id() {
            continue;
        }
        let good = Signature::from_slice(signature)
            .is_ok_and(|signature| key.key.verify_strict(text.as_bytes(), &signature).is_ok());
        if !good {
            return Err(NoteError::Unsigned(key.name.clone()));
        }
        signed = true;
    }
    if signed { Ok(text) } else { Err(NoteError::Unsigned(key.name.clone())) }
}

/// How far a log had come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log.
    pub origin: String,
    /// How many records it had.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
}

impl Checkpoint {
    /// The text that is signed.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, STANDARD.encode(self.root.as_bytes()))
    }

    /// Reads a checkpoint that `key` has signed.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn open(note: &str, key: &PublicKey) -> Result<Self, NoteError> {
        Self::parse(open(note, key)?).ok_or(NoteError::Checkpoint)
    }

    /// What a checkpoint says, whoever signed it: which key to ask and how far to look. Nothing is proved by it.
    #[must_use]
    pub fn unproved(note: &str) -> Option<Self> {
        Self::parse(note)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let root = STANDARD.decode(root).ok()?;
        let found =
            Self { origin: origin.to_owned(), size: size.parse().ok()?, root: root.as_slice().try_into().ok()? };
        // One form only; lines that others added after it are signed with it.
        text.starts_with(&found.text()).then_some(found)
    }
}
