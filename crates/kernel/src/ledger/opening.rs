//! Opening a log: beginning it, or going on after checking what was written since its last checkpoint.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::Instant;

use crate::db::storage::{Find, Log, Row, Storage, Tail};
use crate::domain::digest::Digest;
use crate::domain::hex::hex;

use super::Options;
use super::chain::Chain;
use super::error::LedgerError;
use super::key::KeyFile;
use super::note::{Checkpoint, PrivateKey, PublicKey};
use super::record::{Entry, RecordKind};
use super::tree::Tree;
use super::writer::{Due, Room, Writer};

/// How many records are read at a time.
const PAGE: u32 = 256;

/// Opens a log for appending.
pub(super) async fn open(storage: &dyn Storage, log: Log, options: Options) -> Result<Writer, LedgerError> {
    let epoch = match log {
        Log::Writes => Some(storage.raise_epoch().await?),
        Log::Looks => None,
    };
    match storage.tail(log).await? {
        None => begin(storage, log, epoch, options).await,
        Some(tail) => go_on(storage, log, epoch, options, tail).await,
    }
}

async fn begin(storage: &dyn Storage, log: Log, epoch: Option<u64>, options: Options) -> Result<Writer, LedgerError> {
    let key_file = KeyFile::at(&options.key);
    let key = match key_file.read()? {
        Some(key) => key,
        None => first_key(&key_file, &options)?,
    };
    let origin = origin_of(log, key.public().name());
    let entry = Entry::new(RecordKind::LogOpened).with("origin", origin.as_str()).with("key", key.public().to_string());
    let checked = Chain::begin(&origin);
    let mut writer = Writer {
        log,
        origin,
        epoch,
        options,
        key,
        key_file,
        tree: Tree::default(),
        last: checked.last(),
        last_at: None,
        checked,
        asked: BTreeMap::new(),
        in_force: BTreeMap::new(),
        due: Due::No,
        waiting: None,
        has_news: false,
        covered: 0,
        poisoned: None,
    };
    writer.append(storage, &[entry], Vec::new(), Vec::new(), Room::Ordinary).await?;
    Ok(writer)
}

/// The name of the log that a key signs, or of the looks at it.
pub(super) fn origin_of(log: Log, key_name: &str) -> String {
    match log {
        Log::Writes => key_name.to_owned(),
        Log::Looks => format!("{key_name}/looks"),
    }
}

fn first_key(file: &KeyFile, options: &Options) -> Result<PrivateKey, LedgerError> {
    let mut bytes = [0; 36];
    (options.random)(&mut bytes).map_err(LedgerError::Random)?;
    let (seed, tail) = bytes.split_first_chunk::<32>().ok_or_else(|| LedgerError::NoKey(file.path().to_owned()))?;
    let instance: String =
        options.instance.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect();
    let key = PrivateKey::new(format!("warrant/{instance}/{}", hex(tail)), seed);
    file.write(&key)?;
    Ok(key)
}

async fn go_on(
    storage: &dyn Storage,
    log: Log,
    epoch: Option<u64>,
    options: Options,
    tail: Tail,
) -> Result<Writer, LedgerError> {
    let first = storage.records(log, 0, 1).await?;
    let first = first.first().ok_or_else(|| damaged(0, "it is not there"))?;
    let origin = text(first, "origin").ok_or_else(|| damaged(0, "it does not name the log"))?;
    let public = public_key(storage, log, first).await?;
    let key_file = KeyFile::at(&options.key);
    let key = key_of(&key_file, &public)?;

    let mut chain = start(storage, log, &origin, &public).await?;
    let covered = chain.tree().size();
    let (mut last_at, mut has_news) = (first.at.clone(), false);
    while chain.tree().size() < tail.size {
        let rows = storage.records(log, chain.tree().size(), PAGE).await?;
        if rows.is_empty() {
            return Err(damaged(chain.tree().size(), "it is not there"));
        }
        for row in rows {
            chain.step(&row).map_err(|what| damaged(row.seq, &what))?;
            has_news |= row.kind != RecordKind::Checkpoint.as_str();
            last_at = row.at;
        }
    }
    Ok(Writer {
        log,
        origin,
        epoch,
        options,
        key,
        key_file,
        tree: chain.tree().clone(),
        last: chain.last(),
        last_at: last_at.parse().ok(),
        checked: chain,
        asked: BTreeMap::new(),
        in_force: BTreeMap::new(),
        due: if has_news { Due::Soon } else { Due::No },
        waiting: has_news.then(Instant::now),
        has_news,
        covered,
        poisoned: None,
    })
}

/// The key that the log is signed with now.
async fn public_key(storage: &dyn Storage, log: Log, first: &Row) -> Result<PublicKey, LedgerError> {
    let kinds = [RecordKind::KeyRotated.as_str()];
    // The looks are signed with the key of the writes.
    let rotated = storage.find(Log::Writes, Find::Kinds { kinds: &kinds, before: u64::MAX, most: 1 }).await?;
    let row = rotated.first().unwrap_or(first);
    let key = text(row, "key").and_then(|key| key.parse().ok());
    key.ok_or_else(|| damaged(row.seq, &format!("it does not name the key of the log of {}", log.as_str())))
}

/// The private key for a public one, once a rotation that was cut short is done.
fn key_of(file: &KeyFile, public: &PublicKey) -> Result<PrivateKey, LedgerError> {
    let key = file.read()?;
    if let Some(key) = key.as_ref().filter(|key| key.public() == *public) {
        return PrivateKey::decode(&key.encoded()).ok_or_else(|| LedgerError::NoKey(file.path().to_owned()));
    }
    if let Some(next) = file.read_next()?.filter(|next| next.public() == *public) {
        file.take_next()?;
        return Ok(next);
    }
    match key {
        Some(key) => Err(LedgerError::OtherKey {
            path: file.path().to_owned(),
            found: key.public().to_string(),
            expected: public.to_string(),
        }),
        None => Err(LedgerError::Key {
            doing: "find",
            path: file.path().to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        }),
    }
}

/// The walk from the last checkpoint on that the key signed, else from the beginning.
async fn start(storage: &dyn Storage, log: Log, origin: &str, key: &PublicKey) -> Result<Chain, LedgerError> {
    let kinds = [RecordKind::Checkpoint.as_str()];
    let last = storage.find(log, Find::Kinds { kinds: &kinds, before: u64::MAX, most: 1 }).await?;
    let Some(row) = last.first() else { return Ok(Chain::begin(origin)) };
    let Some((checkpoint, tree)) = noted(row, key) else { return Ok(Chain::begin(origin)) };
    if checkpoint.origin != origin || tree.root() != checkpoint.root {
        return Err(damaged(row.seq, "its checkpoint is not of this log"));
    }
    let before = storage.records(log, checkpoint.size.saturating_sub(1), 1).await?;
    let last = before.first().map(|row| super::tree::leaf_hash(&row.bytes));
    Ok(Chain::from(tree, last.ok_or_else(|| damaged(checkpoint.size, "it is not there"))?))
}

/// The checkpoint that a record holds, and the tree there, if this key signed it.
fn noted(row: &Row, key: &PublicKey) -> Option<(Checkpoint, Tree)> {
    let checkpoint = Checkpoint::open(&text(row, "note")?, key).ok()?;
    let edge = row.openings.iter().find(|it| it.field == "edge")?;
    let edge: Vec<Digest> = serde_json::from_str(&edge.value).ok()?;
    let tree = Tree::from_edge(checkpoint.size, edge)?;
    Some((checkpoint, tree))
}

/// A field that is a text.
pub(super) fn text(row: &Row, field: &str) -> Option<String> {
    let opening = row.openings.iter().find(|it| it.field == field)?;
    match serde_json::from_str(&opening.value) {
        Ok(Value::String(text)) => Some(text),
        Ok(_) | Err(_) => None,
    }
}

fn damaged(seq: u64, what: &str) -> LedgerError {
    LedgerError::Damaged { seq, what: what.to_owned() }
}
