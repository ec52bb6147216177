//! An export that verifies by itself: a folder of tiles and a checkpoint (C2SP `tlog-tiles`), and the values beside them.
//!
//! | file | holds |
//! |---|---|
//! | `checkpoint` | how many records, and the root over them, signed |
//! | `key` | the public key that signed it |
//! | `tile/entries/...` | the bytes of the records |
//! | `tile/0/...` and up | the tree |
//! | `openings.jsonl` | the values that the records commit to, a record a line |
//! | `texts/DIGEST` | policies and other texts that were in force |

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warrant_kernel::db::storage::{Opening, Row};
use warrant_kernel::domain::digest::Digest;
use warrant_kernel::domain::hex::{hex, unhex};
use warrant_kernel::ledger::canonical::canonical;
use warrant_kernel::ledger::note::Checkpoint;
use warrant_kernel::ledger::record::{Record, text_digest};
use warrant_kernel::ledger::tree::{leaf_hash, node_hash};

/// How many hashes or records a full tile holds.
const TILE: usize = 256;

/// What an export is made of.
pub struct Export<'a> {
    /// The signed note.
    pub checkpoint: &'a str,
    /// The public key.
    pub key: &'a str,
    /// As many records as the checkpoint covers.
    pub rows: &'a [Row],
    /// Texts that were in force.
    pub texts: &'a [String],
}

/// All files of an export, by their paths below the folder.
///
/// # Errors
/// A record that is too long for a tile.
pub fn files_of(export: &Export<'_>) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    let mut files = tiles(&export.rows.iter().map(|row| row.hash).collect::<Vec<_>>());
    for (number, rows) in export.rows.chunks(TILE).enumerate() {
        let mut bytes = Vec::new();
        for row in rows {
            let length = u16::try_from(row.bytes.len()).map_err(|_| format!("record {} is too long", row.seq))?;
            bytes.extend(length.to_be_bytes());
            bytes.extend(&row.bytes);
        }
        files.insert(place("entries", number, rows.len()), bytes);
    }
    files.insert(PathBuf::from("checkpoint"), export.checkpoint.as_bytes().to_vec());
    files.insert(PathBuf::from("key"), format!("{}\n", export.key).into_bytes());
    files.insert(PathBuf::from("openings.jsonl"), openings(export.rows)?.into_bytes());
    for text in export.texts {
        files.insert(Path::new("texts").join(text_digest(text).to_string()), text.as_bytes().to_vec());
    }
    Ok(files)
}

/// The tiles of the tree over these leaves, on every level.
fn tiles(leaves: &[Digest]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut hashes = leaves.to_vec();
    let mut level = 0_usize;
    while !hashes.is_empty() {
        let mut above = Vec::new();
        for (number, tile) in hashes.chunks(TILE).enumerate() {
            let bytes = tile.iter().flat_map(|hash| *hash.as_bytes()).collect();
            files.insert(place(&level.to_string(), number, tile.len()), bytes);
            if tile.len() == TILE {
                above.extend(root_of_full(tile));
            }
        }
        hashes = above;
        level += 1;
    }
    files
}

/// The root over a full tile: 256 is a power of two, so each level halves.
fn root_of_full(tile: &[Digest]) -> Option<Digest> {
    let mut nodes = tile.to_vec();
    while nodes.len() > 1 {
        nodes = nodes.as_chunks::<2>().0.iter().map(|[left, right]| node_hash(left, right)).collect();
    }
    nodes.pop()
}

/// `tile/LEVEL/x001/234`, with `.p/WIDTH` where it is not full.
fn place(level: &str, number: usize, width: usize) -> PathBuf {
    let mut parts = vec![format!("{:03}", number % 1000)];
    let mut rest = number / 1000;
    while rest > 0 {
        parts.push(format!("x{:03}", rest % 1000));
        rest /= 1000;
    }
    parts.reverse();
    let mut text = parts.join("/");
    if width < TILE {
        text.push_str(".p/");
        text.push_str(&width.to_string());
    }
    Path::new("tile").join(level).join(text)
}

fn openings(rows: &[Row]) -> Result<String, String> {
    let mut text = String::new();
    for row in rows {
        let all = row.openings.iter().map(|it| (it.field.clone(), json!([hex(&it.salt), it.value])));
        let line = json!({ "openings": Value::Object(all.collect()), "seq": row.seq });
        text.push_str(&canonical(&line).map_err(|error| format!("record {}: {error}", row.seq))?);
        text.push('\n');
    }
    Ok(text)
}

/// Writes an export into a folder that does not exist yet.
///
/// # Errors
/// What the system said.
pub fn write(folder: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    for (path, bytes) in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// An export as it was read.
pub struct Read {
    /// The signed note.
    pub checkpoint: String,
    /// The public key.
    pub key: String,
    /// The records.
    pub rows: Vec<Row>,
    /// What is wrong with the files themselves, with the first record that it concerns.
    pub wrong: Vec<(u64, String)>,
}

/// Reads the files of an export.
///
/// # Errors
/// Where there is no `checkpoint`, `key` or `openings.jsonl`.
pub fn read(there: &BTreeMap<PathBuf, Vec<u8>>) -> Result<Read, String> {
    let text = |name: &str| {
        let bytes = there.get(Path::new(name)).ok_or_else(|| format!("`{name}` is not there"))?;
        String::from_utf8(bytes.clone()).map_err(|_| format!("`{name}` is no text"))
    };
    let (checkpoint, key) = (text("checkpoint")?, text("key")?);
    let (mut wrong, mut rows) = (Vec::new(), Vec::new());
    let size = Checkpoint::unproved(&checkpoint).map_or(0, |says| usize::try_from(says.size).unwrap_or(usize::MAX));
    while rows.len() < size {
        let (first, width) = (rows.len(), (size - rows.len()).min(TILE));
        let all = there.get(&place("entries", first / TILE, width)).and_then(|bytes| entries(bytes));
        let Some(all) = all.filter(|all| all.len() == width) else {
            wrong.push((first as u64, "its tile of entries is not there, or not whole".to_owned()));
            break;
        };
        rows.extend(all.into_iter().zip(first as u64..).map(|(bytes, seq)| row(seq, bytes)));
    }
    opened(&mut rows, &text("openings.jsonl")?, &mut wrong);
    let expected = tiles(&rows.iter().map(|row| row.hash).collect::<Vec<_>>());
    for (path, bytes) in &expected {
        if there.get(path) != Some(bytes) {
            wrong.push((0, format!("`{}` is not the tile of these records", path.display())));
        }
    }
    let entries: BTreeSet<PathBuf> =
        rows.chunks(TILE).enumerate().map(|(number, rows)| place("entries", number, rows.len())).collect();
    for (path, bytes) in there {
        let known = ["checkpoint", "key", "openings.jsonl"].iter().any(|name| path == Path::new(name));
        let is_text = path.parent() == Some(Path::new("texts"))
            && path.file_name().and_then(|name| name.to_str())
                == str::from_utf8(bytes).ok().map(|text| text_digest(text).to_string()).as_deref();
        if !known && !is_text && !expected.contains_key(path) && !entries.contains(path) {
            wrong.push((0, format!("`{}` is not what its name says, or of no export", path.display())));
        }
    }
    Ok(Read { checkpoint, key, rows, wrong })
}

/// All files below a folder, by their paths below it.
///
/// # Errors
/// What the system said.
pub fn all_files(folder: &Path) -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let (mut found, mut waiting) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            if path.symlink_metadata()?.is_dir() {
                waiting.push(path);
            } else if let Ok(inner) = path.strip_prefix(folder) {
                found.insert(inner.to_owned(), std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

fn entries(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<2>()?;
        let (entry, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        all.push(entry.to_vec());
        bytes = rest;
    }
    Some(all)
}

/// A row whose columns are those of its bytes; bytes that are no record are found when they are verified.
fn row(seq: u64, bytes: Vec<u8>) -> Row {
    let (at, kind) = Record::parse(&bytes).map(|record| (record.at, record.kind)).unwrap_or_default();
    Row { seq, hash: leaf_hash(&bytes), at, kind, bytes, openings: Vec::new() }
}

fn opened(rows: &mut [Row], text: &str, wrong: &mut Vec<(u64, String)>) {
    let mut lines = text.split_terminator('\n');
    for row in rows.iter_mut() {
        match lines.next().and_then(|line| openings_of(row.seq, line)) {
            Some(openings) => row.openings = openings,
            None => wrong.push((row.seq, "its line of openings is not there, or in another form".to_owned())),
        }
    }
    if lines.next().is_some() || !(text.is_empty() || text.ends_with('\n')) {
        wrong.push((rows.len() as u64, "there are openings of no record".to_owned()));
    }
}

fn openings_of(seq: u64, line: &str) -> Option<Vec<Opening>> {
    let value: Value = serde_json::from_str(line).ok()?;
    // One form only: what reads the same and looks different was changed by somebody.
    if canonical(&value).ok()? != line || value.get("seq")?.as_u64()? != seq || value.as_object()?.len() != 2 {
        return None;
    }
    let all = value.get("openings")?.as_object()?.iter();
    all.map(|(field, pair)| {
        let [salt, value] = pair.as_array()?.as_slice() else { return None };
        let salt = unhex(salt.as_str()?)?.try_into().ok()?;
        Some(Opening { field: field.clone(), salt, value: value.as_str()?.to_owned() })
    })
    .collect()
}
