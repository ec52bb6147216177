//! The command line as it is written.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use warrant::app::print::Form;
use warrant::demo::fault::{Fault, Source};
use warrant::demo::part::PartOptions;
use warrant::demo::shop::RestartOptions;

use crate::approvals::{ApprovalsCommand, StopFlags, TokenCommand};
use crate::audit::AuditCommand;
use crate::catalog::CatalogCommand;
use crate::init::InitFlags;
use crate::policy::PolicyCommand;

/// Investigates incidents. Reads are fast. Writes need a warrant.
#[derive(Debug, Parser)]
#[command(
    name = "warrant",
    version,
    after_help = "\
Examples:
  warrant demo                 a shop breaks, and is investigated here
  warrant check                tries the config and every source
  warrant ask \"why is checkout slow?\" --since 30m
  warrant tools call search_logs --args '{\"service\": \"checkout\"}'

Exit codes: 0 a report (a fault, or none found); 1 failed; 2 wrong usage or
config; 3 the report is inconclusive, or a write was denied, expired or waits
for people; 4 `audit verify` found something; 5 a write was done, and what it
was for did not come about; 130 interrupted."
)]
pub struct Flags {
    /// The config. Without it the first there is of: `$WARRANT_CONFIG`, ./warrant.toml, ~/.config/warrant/warrant.toml,
    /// /etc/warrant/warrant.toml.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Investigate a question in this terminal.
    #[command(after_help = "\
Examples:
  warrant ask \"why do orders fail?\" --service checkout
  warrant ask \"what changed?\" --since 2026-01-31T04:00:00Z --model runbook
  warrant ask \"is anything wrong?\" --role explore --json")]
    Ask(AskFlags),
    /// Watch a shop break, and its fault being found. Needs no key, no network, no set-up.
    #[command(after_help = "\
Examples:
  warrant demo
  warrant demo --fault disk --seed 7
  warrant demo --approve all
  warrant demo --fault none --json")]
    Demo(DemoFlags),
    /// Serve alerts and the API: each alert that asks for it is investigated, with nobody watching.
    #[command(after_help = "\
It listens where `[web]` of the config says, 127.0.0.1:8410 otherwise. While it
runs it alone decides on writes; `warrant approvals` asks it. On Ctrl-C or
SIGTERM what runs is parked and goes on at the next start. Policies, tools and
runbooks that change are taken while it runs, at once on SIGHUP.

Examples:
  warrant serve
  curl -s http://127.0.0.1:8410/readyz
  curl -s http://127.0.0.1:8410/v1/investigations")]
    Serve(Json),
    /// Try the config and every source that it names, and say what to do about each that fails.
    Check(Json),
    /// Write a first config: from what is said, what is asked at a terminal, and what is there.
    #[command(after_help = "\
It goes to ./warrant.toml, or to the file of --config, and loads, or it is not
written. A file that is there stays.

Examples:
  warrant init
  warrant init --yes --service checkout --logs '/var/log/checkout/*.log'
  warrant init --yes --prometheus http://127.0.0.1:9090 --model anthropic:some-model")]
    Init(InitFlags),
    /// The catalog of services: taking them over from elsewhere.
    #[command(subcommand)]
    Catalog(CatalogCommand),
    /// The tools there are, and calling one.
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// The runbooks there are, and finding one.
    #[command(subcommand)]
    Runbooks(RunbooksCommand),
    /// Past and interrupted investigations.
    #[command(subcommand)]
    Investigations(InvestigationsCommand),
    /// What policy allows, and why.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// The writes that wait for people: looking at them, approving, denying.
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Stop all writes at once, or let them go on. Whatever is not begun yet is not begun.
    #[command(after_help = "\
Examples:
  warrant stop-writes \"two restarts too many\"
  warrant stop-writes --lift \"it was the load balancer\"")]
    StopWrites(StopFlags),
    /// Personal tokens, for where the user of a machine does not tell who somebody is.
    #[command(subcommand)]
    Token(TokenCommand),
    /// The permanent record of writes: reading it, proving it, exporting it.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Print shell completions.
    #[command(after_help = "Example:\n  warrant completions bash > /etc/bash_completion.d/warrant")]
    Completions {
        /// For which shell.
        shell: Shell,
    },
    /// Runs one service of the demo's shop.
    #[command(hide = true)]
    ShopPart(PartOptions),
    /// Restarts one service of the demo's shop.
    #[command(hide = true)]
    ShopRestart(RestartOptions),
}

/// How to print.
#[derive(Debug, Clone, Copy, Args)]
pub struct Json {
    /// Print JSON on standard output and nothing else.
    #[arg(long)]
    pub json: bool,
}

impl Json {
    /// For whom to print.
    pub fn form(self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

/// `warrant ask`.
#[derive(Debug, Args)]
pub struct AskFlags {
    /// The question, in any language.
    pub question: String,
    /// The service in question. Without it the one that the question names, if it names exactly one.
    #[arg(long)]
    pub service: Option<String>,
    /// How far to look back: `30m`, `2h`, or a time. [default: `investigation.window` of the config, or 1h]
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// What may be seen: `explore` (search and query tools only), `general-purpose`, or a role of the config.
    #[arg(long, default_value = "general-purpose")]
    pub role: String,
    /// Let it ask for changes, if the config does not: each needs the approval that policy asks for.
    #[arg(long)]
    pub allow_writes: bool,
    /// Ask only this `[models.NAME]`, or the built-in `runbook`. [default: those of the config, in order]
    #[arg(long)]
    pub model: Option<String>,
    #[command(flatten)]
    pub json: Json,
}

/// `warrant demo`.
#[derive(Debug, Args)]
pub struct DemoFlags {
    /// What breaks: pool, upstream, disk, certificate or none.
    #[arg(long, default_value = "pool")]
    pub fault: Fault,
    /// Another number moves the fault: file, key, value, line, service and onset.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Take a source away from the investigation: logs, metrics or changes. May be repeated.
    #[arg(long, value_name = "SOURCE")]
    pub without: Vec<Source>,
    /// Answer for people, so that nobody need be there: approve all that is asked, or deny it.
    #[arg(long, value_name = "WHICH", conflicts_with = "answers")]
    pub approve: Option<ApproveFlag>,
    /// Answer for people from a file: `approve`, or `deny REASON`, a line for each time that they are asked.
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Keep the shop's files, its config, the trace and the ledger, and say where they are.
    #[arg(long)]
    pub keep: bool,
    /// Print JSON on standard output and nothing else. It only looks then, unless `--approve` or `--answers` is given.
    #[arg(long)]
    pub json: bool,
}

/// How `demo` answers for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ApproveFlag {
    /// Yes to everything.
    All,
    /// No to everything.
    None,
}

/// `warrant tools`.
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// All tools and the roles that see them.
    List(Json),
    /// One tool as JSON: what it is for, its arguments, its limits.
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        json: Json,
    },
    /// Run one tool, checked and masked as in an investigation, and print the result as JSON.
    #[command(after_help = "\
Examples:
  warrant tools call list_services
  warrant tools call query_metrics --args '{\"query\": \"up\", \"since\": \"10m ago\"}'")]
    Call {
        /// Its name.
        name: String,
        /// Its arguments as a JSON object.
        #[arg(long, default_value = "{}", value_name = "JSON")]
        args: String,
        /// The role to call it as: a tool outside the role is as unknown as one that does not exist.
        #[arg(long, default_value = "general-purpose")]
        role: String,
        #[command(flatten)]
        json: Json,
    },
}

/// `warrant runbooks`.
#[derive(Debug, Subcommand)]
pub enum RunbooksCommand {
    /// All runbooks.
    List(Json),
    /// The runbooks that fit some words, or an alert; none where none fits well enough.
    #[command(after_help = "\
Examples:
  warrant runbooks search \"no free connections\"
  warrant runbooks search \"checkout\" --alert ConnectionPoolExhausted")]
    Search {
        /// The words.
        text: String,
        /// The alert's name.
        #[arg(long)]
        alert: Option<String>,
        /// How many at most.
        #[arg(long, default_value_t = 5)]
        limit: usize,
        #[command(flatten)]
        json: Json,
    },
    /// Check that every runbook loads and that its checks can be carried out.
    Lint(Json),
}

/// `warrant investigations`.
#[derive(Debug, Subcommand)]
pub enum InvestigationsCommand {
    /// The newest first.
    List {
        /// How many at most.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        json: Json,
    },
    /// One investigation: its calls, and its report.
    Show {
        /// Its id, or the first or last characters of it.
        id: String,
        #[command(flatten)]
        json: Json,
    },
    /// Go on with one that was interrupted.
    Resume {
        /// Its id, or the first or last characters of it.
        id: String,
        #[command(flatten)]
        json: Json,
    },
    /// Run the loop over the recorded answers and show what would be decided otherwise today.
    Replay {
        /// Its id, or the first or last characters of it.
        id: String,
        #[command(flatten)]
        json: Json,
    },
}
