//! `warrant approvals`, `warrant stop-writes` and `warrant token`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use warrant::app::approvals::told::{self, Which};
use warrant::app::approvals::{self, Confirmation, Outcome, Switch};
use warrant::app::fault::Fault;
use warrant::app::{App, print};
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::domain::plan::ApprovalId;

use crate::flags::Json;

/// `warrant approvals`.
#[derive(Debug, Subcommand)]
pub enum ApprovalsCommand {
    /// What waits for people, and the reviews that are owed.
    List {
        /// Those too that are over.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        json: Json,
    },
    /// One card: what exactly will happen, why, and who decides.
    Show {
        /// Which, as in `A12`.
        approval: ApprovalId,
        /// All there is: the whole change, the evidence, the investigation up to here.
        #[arg(long)]
        whole: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Approve a write. At the high tier this asks you on the last page of the whole, in a terminal.
    #[command(after_help = "\
Examples:
  warrant approvals approve A12
  warrant approvals approve A12 --digest 3fa90c12be77

Exit codes: 0 carried out and as it should be; 3 not carried out, or still
open; 5 carried out and not as it should be.")]
    Approve {
        #[command(flatten)]
        which: Wanted,
    },
    /// Deny a write. It wins over every approval until the write has begun.
    #[command(after_help = "\
Example:
  warrant approvals deny A12 \"no restart during checkout peak\"")]
    Deny {
        #[command(flatten)]
        said: Said,
    },
    /// Take an approval back before it is used.
    Revoke {
        #[command(flatten)]
        said: Said,
    },
    /// Let a write that was denied be asked for again.
    Reopen {
        #[command(flatten)]
        said: Said,
    },
    /// Approve without the second person, against a debt: somebody is told at once, and a review stays owed.
    #[command(after_help = "\
Example:
  warrant approvals break-glass A12")]
    BreakGlass {
        #[command(flatten)]
        which: Wanted,
        /// Why it can't wait, where you are not asked.
        #[arg(long, default_value = "", requires = "digest")]
        reason: String,
    },
    /// Close the review that a broken glass left owed. Not by whoever broke it.
    Review {
        #[command(flatten)]
        said: Said,
    },
}

/// A plan that somebody wants.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Which, as in `A12`.
    approval: ApprovalId,
    /// Name the plan by the digest on its card, in place of being asked. Not at the high tier.
    #[arg(long)]
    digest: Option<String>,
    #[command(flatten)]
    json: Json,
}

/// What somebody says about a plan.
#[derive(Debug, Args)]
pub struct Said {
    /// Which, as in `A12`.
    approval: ApprovalId,
    /// Why, or what was found. It stays in the ledger.
    reason: String,
    #[command(flatten)]
    json: Json,
}

/// `warrant stop-writes`.
#[derive(Debug, Args)]
pub struct StopFlags {
    /// Why. It stays in the ledger.
    #[arg(default_value = "")]
    reason: String,
    /// Let writes go on.
    #[arg(long, requires = "reason")]
    lift: bool,
    #[command(flatten)]
    json: Json,
}

/// `warrant token`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token that proves a person; it is shown once. For yourself, or by the operator whom the store belongs to.
    New {
        /// The person of the config.
        person: PersonId,
        /// What it is good for: `read`, `investigate`, `approve`; may be given several times. Without it, for all.
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<String>,
        #[command(flatten)]
        json: Json,
    },
    /// The tokens there are: yours, or to the operator all.
    List(Json),
    /// From here on a token proves nobody.
    Revoke {
        /// Its id, as `list` shows it.
        id: String,
        #[command(flatten)]
        json: Json,
    },
}

/// Carries out `warrant approvals`.
pub async fn run(app: &App, command: ApprovalsCommand) -> Result<u8, Fault> {
    match command {
        ApprovalsCommand::List { all, json } => {
            let overview = approvals::list(app).await?;
            if json.json {
                print::json_lines(&overview.approvals);
            } else {
                told::overview(&overview, if all { Which::All } else { Which::Open });
            }
            Ok(0)
        }
        ApprovalsCommand::Show { approval, whole, json } => {
            let card = approvals::show(app, approval).await?;
            match (json.json, whole) {
                (true, _) => print::json(&card),
                (false, true) => told::whole_of(&card),
                (false, false) => told::card(&card),
            }
            Ok(0)
        }
        ApprovalsCommand::Approve { which } => {
            let outcome = approvals::approve(app, which.approval, &which.how()).await?;
            Ok(ended(&outcome, which.json))
        }
        ApprovalsCommand::BreakGlass { which, reason } => {
            let outcome = approvals::break_glass(app, which.approval, &which.how(), &reason).await?;
            Ok(ended(&outcome, which.json))
        }
        ApprovalsCommand::Deny { said } => {
            approvals::deny(app, said.approval, &said.reason).await?;
            Ok(done(&said, "denied"))
        }
        ApprovalsCommand::Revoke { said } => {
            approvals::revoke(app, said.approval, &said.reason).await?;
            Ok(done(&said, "revoked"))
        }
        ApprovalsCommand::Reopen { said } => {
            approvals::reopen(app, said.approval, &said.reason).await?;
            Ok(done(&said, "reopened"))
        }
        ApprovalsCommand::Review { said } => {
            approvals::review(app, said.approval, &said.reason).await?;
            Ok(done(&said, "reviewed"))
        }
    }
}

impl Wanted {
    fn how(&self) -> Confirmation {
        self.digest.clone().map_or(Confirmation::Asked, Confirmation::Digest)
    }
}

fn ended(outcome: &Outcome, json: Json) -> u8 {
    if json.json {
        print::json(outcome);
    } else {
        told::outcome(outcome);
    }
    outcome.exit_code()
}

fn done(said: &Said, what: &str) -> u8 {
    let id = said.approval;
    if said.json.json {
        print::json(&json!({ "approval": id, "now": what }));
    } else {
        print::line(&format!("{id} is {what}."));
    }
    0
}

/// Carries out `warrant stop-writes`.
pub async fn stop_writes(app: &App, flags: StopFlags) -> Result<u8, Fault> {
    let (switch, says) = if flags.lift {
        (Switch::Lift, "Writes go on.")
    } else {
        (Switch::Stop, "Writes are stopped. Whatever had begun goes on to its end; nothing else begins.")
    };
    approvals::stop_writes(app, switch, &flags.reason).await?;
    if flags.json.json {
        print::json(&json!({ "writes_stopped": switch == Switch::Stop }));
    } else {
        print::line(says);
    }
    Ok(0)
}

/// Carries out `warrant token`.
pub async fn tokens(app: &App, command: TokenCommand) -> Result<u8, Fault> {
    match command {
        TokenCommand::New { person, scope, json } => {
            let issued = approvals::token_new(app, person, &scope).await?;
            if json.json {
                let kept = &issued.kept;
                print::json(&json!({
                    "token": issued.token, "id": kept.id, "person": kept.person, "scopes": kept.scopes,
                }));
            } else {
                told::token(&issued);
            }
        }
        TokenCommand::List(json) => {
            let tokens: Vec<Value> = approvals::token_list(app).await?;
            if json.json {
                print::json_lines(&tokens);
            } else {
                told::tokens(&tokens);
            }
        }
        TokenCommand::Revoke { id, json } => {
            approvals::token_revoke(app, &id).await?;
            if json.json {
                print::json(&json!({ "id": id, "revoked": true }));
            } else {
                print::line(&format!("The token {id} proves nobody any more."));
            }
        }
    }
    Ok(0)
}
