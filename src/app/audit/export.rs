//! `warrant audit export`: the records as JSON lines, as CSV, or as a folder that verifies by itself.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warrant_kernel::db::lease::LeaseError;
use warrant_kernel::db::storage::{Find, Log, Row};
use warrant_kernel::domain::digest::Digest;
use warrant_kernel::domain::hex::hex;
use warrant_kernel::ledger::error::LedgerError;
use warrant_kernel::ledger::note::Checkpoint;
use warrant_kernel::ledger::record::RecordKind;

use super::folder::{self, Export};
use super::{Reading, Told};
use crate::app::App;
use crate::app::fault::Fault;

/// How many records are read at a time.
const PAGE: u32 = 256;

/// In what form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A record a line, with its bytes, its values and their salts.
    Jsonl,
    /// A table for spreadsheets. It proves nothing by itself.
    Csv,
    /// A folder with tiles and a checkpoint, which verifies by itself.
    Folder,
}

impl Format {
    fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Folder => "folder",
        }
    }
}

/// What was exported.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Exported {
    /// How many records.
    pub records: u64,
    /// Where to.
    pub to: PathBuf,
}

/// Exports the ledger. A folder holds what the last checkpoint covers; where nobody writes, one is signed before.
///
/// # Errors
/// [`Fault::Usage`] where there is no ledger or the folder exists, [`Fault::Ledger`], [`Fault::Failed`].
pub async fn export(app: &App, format: Format, to: &Path) -> Result<Exported, Fault> {
    if format == Format::Folder && to.symlink_metadata().is_ok() {
        return Err(Fault::Usage(format!("`{}` is there already; name a folder to be made", to.display())));
    }
    let reading = Reading::open(app).await?;
    if reading.archive.tail(Log::Writes).await?.is_none() {
        return Err(Fault::Usage("there is no ledger yet; it begins with the first write".to_owned()));
    }
    if format == Format::Folder {
        match super::writing(app, async |_| Ok(())).await {
            // Whoever writes signs checkpoints, too.
            Ok(()) | Err(Fault::Ledger(LedgerError::Lease(LeaseError::Held { .. }))) => {}
            Err(fault) => return Err(fault),
        }
    }
    let target = to.display().to_string();
    let what = [("format", json!(format.as_str())), ("to", json!(target))];
    reading.look(app, RecordKind::AuditExported, &what).await?;
    let records = match format {
        Format::Jsonl => lines(&reading, to, Vec::new(), json_line).await?,
        Format::Csv => lines(&reading, to, CSV_HEAD.to_vec(), csv_line).await?,
        Format::Folder => folder_of(&reading, to).await?,
    };
    reading.close().await;
    Ok(Exported { records, to: to.to_owned() })
}

async fn all(reading: &Reading) -> Result<Vec<Row>, Fault> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let page = reading.archive.records(Log::Writes, rows.len() as u64, PAGE).await?;
        if page.is_empty() {
            return Ok(rows);
        }
        rows.extend(page);
    }
}

async fn lines(reading: &Reading, to: &Path, head: Vec<u8>, line: impl Fn(&Row) -> String) -> Result<u64, Fault> {
    let rows = all(reading).await?;
    let text: String = rows.iter().map(line).collect();
    let mut out: Box<dyn Write> = if to == Path::new("-") {
        Box::new(std::io::stdout())
    } else {
        Box::new(std::fs::File::create_new(to).map_err(|error| failed(to, &error))?)
    };
    out.write_all(&head).and_then(|()| out.write_all(text.as_bytes())).map_err(|error| failed(to, &error))?;
    Ok(rows.len() as u64)
}

async fn folder_of(reading: &Reading, to: &Path) -> Result<u64, Fault> {
    let kinds = [RecordKind::Checkpoint.as_str()];
    let last = reading.archive.find(Log::Writes, Find::Kinds { kinds: &kinds, before: u64::MAX, most: 1 }).await?;
    let note = last.first().map(Told::of).and_then(|told| told.text("note")).unwrap_or_default();
    let says = Checkpoint::unproved(&note)
        .ok_or_else(|| Fault::Failed("no checkpoint was signed yet; try again in a minute".to_owned()))?;
    let mut rows = all(reading).await?;
    rows.truncate(usize::try_from(says.size).unwrap_or(usize::MAX));
    let keys =
        |row: &&Row| [RecordKind::LogOpened, RecordKind::KeyRotated].iter().any(|kind| kind.as_str() == row.kind);
    let key = rows.iter().rfind(keys).map(Told::of).and_then(|told| told.text("key")).unwrap_or_default();
    let mut texts = Vec::new();
    for digest in digests(&rows) {
        texts.push(reading.archive.text(digest).await?);
    }
    let export = Export { checkpoint: &note, key: &key, rows: &rows, texts: &texts };
    let files = folder::files_of(&export).map_err(Fault::Failed)?;
    folder::write(to, &files).map_err(|error| failed(to, &error))?;
    Ok(says.size)
}

/// The digests of all texts that records name.
fn digests(rows: &[Row]) -> BTreeSet<Digest> {
    let named = rows.iter().flat_map(|row| &row.openings).filter(|it| it.field == "texts");
    let maps = named.filter_map(|it| serde_json::from_str::<Value>(&it.value).ok());
    let texts: Vec<String> = maps
        .flat_map(|map| map.as_object().into_iter().flatten().map(|(_, digest)| digest.clone()).collect::<Vec<_>>())
        .filter_map(|digest| digest.as_str().map(str::to_owned))
        .collect();
    texts.iter().filter_map(|digest| digest.parse().ok()).collect()
}

fn failed(to: &Path, error: &std::io::Error) -> Fault {
    Fault::Failed(format!("can't write `{}`: {error}", to.display()))
}

fn json_line(row: &Row) -> String {
    let told = Told::of(row);
    let salts: Value = row.openings.iter().map(|it| (it.field.clone(), Value::from(hex(&it.salt)))).collect();
    let line = json!({
        "seq": told.seq, "at": told.at, "kind": told.kind, "hash": told.hash, "fields": told.fields,
        "salts": salts, "sealed": told.sealed, "record": String::from_utf8_lossy(&row.bytes),
    });
    format!("{line}\n")
}

/// The columns of the table.
const COLUMNS: [&str; 9] =
    ["investigation", "approval", "tool", "target", "tier", "person", "status", "reason", "message"];

const CSV_HEAD: &[u8] =
    b"seq,at,kind,investigation,approval,tool,target,tier,person,status,reason,message,hash,fields\r\n";

fn csv_line(row: &Row) -> String {
    let told = Told::of(row);
    let fields = serde_json::to_string(&told.fields).unwrap_or_default();
    let first = [told.seq.to_string(), told.at.clone(), told.kind.clone()];
    let named = COLUMNS.iter().map(|field| told.text(field).unwrap_or_default());
    let cells = first.into_iter().chain(named).chain([told.hash.to_string(), fields]);
    format!("{}\r\n", cells.map(|cell| quoted(&cell)).collect::<Vec<_>>().join(","))
}

/// A cell (RFC 4180). What a spreadsheet would take for a formula begins with an apostrophe: some cells are a stranger's.
fn quoted(cell: &str) -> String {
    let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}
