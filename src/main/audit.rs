//! `warrant audit`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use warrant::app::approvals::{Became, resolve};
use warrant::app::audit::export::{Format, export};
use warrant::app::audit::list::{self, Which};
use warrant::app::audit::verify::{self, Question};
use warrant::app::audit::{rotate_key, seal, show};
use warrant::app::fault::Fault;
use warrant::app::{App, print};
use warrant_kernel::domain::plan::ApprovalId;

use crate::flags::Json;

/// `audit verify` found something.
const FOUND: u8 = 4;

/// `warrant audit`.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// The newest writes and what became of each.
    List {
        /// How many at most.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Every record, not only writes.
        #[arg(long, conflicts_with = "looks")]
        all: bool,
        /// Who looked at the ledger.
        #[arg(long)]
        looks: bool,
        #[command(flatten)]
        json: Json,
    },
    /// A write with its approvals, its diff, its evidence and its proof.
    Show {
        /// The approval, `A12`, or the number of a record.
        id: String,
        #[command(flatten)]
        json: Json,
    },
    /// Prove that nothing was changed, cut off or written anew. Exits 4 where something was.
    #[command(after_help = "\
Examples:
  warrant audit verify --against /mnt/elsewhere/checkpoints
  warrant audit verify /tmp/export --against kept.checkpoint --key NAME+HASH+KEY")]
    Verify(VerifyFlags),
    /// Write all records to a file, or to a folder that verifies by itself.
    #[command(after_help = "\
Examples:
  warrant audit export > ledger.jsonl
  warrant audit export --format folder --output /tmp/export")]
    Export {
        /// In what form.
        #[arg(long, value_enum, default_value = "jsonl")]
        format: Format,
        /// The file or folder to make; `-` is standard output.
        #[arg(long, default_value = "-", value_name = "PATH")]
        output: PathBuf,
    },
    /// Take values out of a record, which two persons have to ask for. The proof of all the rest stands.
    #[command(after_help = "\
Example, by one person and then by another:
  warrant audit seal 17 --field arguments --reason \"a token was typed\"")]
    Seal {
        /// The number of the record.
        record: u64,
        /// The field. May be repeated.
        #[arg(long = "field", required = true)]
        fields: Vec<String>,
        /// Why. It stays in the ledger.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        json: Json,
    },
    /// Say what became of a write whose outcome is not known. Until then nothing is written on its target.
    #[command(after_help = "\
Example:
  warrant audit resolve A12 not-done \"the pid is that of yesterday\"")]
    Resolve {
        /// The approval, as in `A12`.
        approval: ApprovalId,
        /// What became of it.
        became: Became,
        /// How one can tell. It stays in the ledger.
        reason: String,
        #[command(flatten)]
        json: Json,
    },
    /// Go on under a new key, which the old one signs.
    RotateKey(Json),
}

/// `warrant audit verify`.
#[derive(Debug, Args)]
pub struct VerifyFlags {
    /// An exported folder. Without it the store.
    folder: Option<PathBuf>,
    /// A checkpoint that was kept elsewhere, or a directory of them. May be repeated.
    #[arg(long, value_name = "FILE")]
    against: Vec<PathBuf>,
    /// The public key, known from elsewhere. [default: the one that the log names]
    #[arg(long, value_name = "NAME+HASH+KEY")]
    key: Option<String>,
    #[command(flatten)]
    json: Json,
}

/// Carries the command out. `open` reads the config, which an exported folder does not need.
pub async fn run(open: impl FnOnce() -> Result<App, Fault>, command: AuditCommand) -> Result<u8, Fault> {
    match command {
        AuditCommand::List { limit, all, looks, json } => {
            let which = if looks { Which::Looks } else { Which::All };
            if all || looks { records(&open()?, which, limit, json).await } else { writes(&open()?, limit, json).await }
        }
        AuditCommand::Show { id, json } => {
            let shown = show::show(&open()?, &id).await?;
            if json.json {
                print::json(&shown);
            } else {
                for line in show::lines(&shown) {
                    print::wrapped(&line);
                }
            }
            Ok(0)
        }
        AuditCommand::Verify(flags) => verified(open, flags).await,
        AuditCommand::Export { format, output } => {
            if format == Format::Folder && output == Path::new("-") {
                return Err(Fault::Usage("a folder needs --output PATH".to_owned()));
            }
            let exported = export(&open()?, format, &output).await?;
            if output != Path::new("-") {
                print::foreign(&format!("{} records: {}", exported.records, exported.to.display()));
            }
            Ok(0)
        }
        AuditCommand::Seal { record, fields, reason, json } => {
            let by = seal(&open()?, record, fields, reason).await?;
            let says = by.map(|by| format!("Sealed; record {by} says so."));
            let says = says.unwrap_or_else(|| "It waits for a second person, who runs the same command.".to_owned());
            told(json, &json!({ "record": record, "sealed_by": by }), &says);
            Ok(0)
        }
        AuditCommand::Resolve { approval, became, reason, json } => {
            resolve(&open()?, approval, became, &reason).await?;
            told(json, &json!({ "approval": approval, "resolved": true }), &format!("{approval} is resolved."));
            Ok(0)
        }
        AuditCommand::RotateKey(json) => {
            let key = rotate_key(&open()?).await?;
            told(json, &json!({ "key": key }), &format!("the key is now\n{key}\nKeep a copy of its file elsewhere."));
            Ok(0)
        }
    }
}

fn told(json: Json, document: &serde_json::Value, text: &str) {
    if json.json { print::json(document) } else { print::foreign(text) }
}

async fn writes(app: &App, limit: u32, json: Json) -> Result<u8, Fault> {
    let all = list::writes(app, limit).await?;
    if json.json {
        print::json_lines(&all);
        return Ok(0);
    }
    let rows = all.iter().map(|it| {
        let id = it.approval.clone().unwrap_or_else(|| format!("record {}", it.seq));
        let by = if it.persons.is_empty() { String::new() } else { format!(" by {}", it.persons.join(", ")) };
        let investigation = it.investigation.as_deref().unwrap_or("no investigation");
        let time = it.at.get(..19).unwrap_or(&it.at);
        let head = format!("{time}Z  {} on {}", it.tool, it.target);
        (id, format!("{head}, {}: {}{by}, in {investigation}", it.tier, it.outcome))
    });
    print::rows(&rows.collect::<Vec<_>>());
    Ok(0)
}

async fn records(app: &App, which: Which, limit: u32, json: Json) -> Result<u8, Fault> {
    let all = list::records_of(app, which, limit).await?;
    if json.json {
        print::json_lines(&all);
        return Ok(0);
    }
    let rows = all.iter().map(|it| {
        let time = it.at.get(..19).unwrap_or(&it.at);
        let about = ["person", "approval", "tool", "target", "status", "command", "id"];
        let about: Vec<String> = about.iter().filter_map(|field| it.text(field)).collect();
        (it.seq.to_string(), format!("{time}Z  {}  {}", it.kind, about.join(" ")))
    });
    print::rows(&rows.collect::<Vec<_>>());
    Ok(0)
}

async fn verified(open: impl FnOnce() -> Result<App, Fault>, flags: VerifyFlags) -> Result<u8, Fault> {
    let question = Question { folder: flags.folder, against: flags.against, key: flags.key };
    let answers = match &question.folder {
        Some(folder) => verify::verify_folder(&question, folder)?,
        None => verify::verify_store(&open()?, &question).await?,
    };
    if flags.json.json {
        print::json_lines(&answers);
    } else if answers.is_empty() {
        print::line("There is no ledger yet; it begins with the first write.");
    } else {
        answers.iter().flat_map(verify::lines).for_each(|line| print::foreign(&line));
    }
    let sound = answers.iter().all(verify::Answer::is_sound);
    Ok(if sound { 0 } else { FOUND })
}
