//! What each command does with its flags.

use std::process::ExitCode;

use clap::CommandFactory;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use warrant::app::ask::{AtHand, Ended, Kept, Question, ask_with};
use warrant::app::fault::{Fault, counted};
use warrant::app::writes::people::Present;
use warrant::app::{App, begin_log, check, investigations, print, runbooks, tools};
use warrant::demo::part::serve_part;
use warrant::demo::shop::ask_for_restart;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::report::{Outcome, Report, WriteOutcome, Written};
use warrant_kernel::domain::run::{Channel, Trigger, Writes};

use crate::approvals;
use crate::audit;
use crate::catalog;
use crate::init;
use crate::policy;
use crate::serve;

use crate::demo::demo;
use crate::flags::{AskFlags, Command, Flags, InvestigationsCommand, Json, RunbooksCommand, ToolsCommand};

/// Inconclusive, or a write was denied or expired, waits, or is not known to have taken effect: people have to look.
const INCONCLUSIVE: u8 = 3;

/// A write was done, and it did not bring about what it was for.
const NOT_VERIFIED: u8 = 5;

/// Ended by Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Runs a command to its exit code.
pub async fn run(flags: Flags) -> ExitCode {
    begin_log();
    match Box::pin(dispatch(flags)).await {
        Ok(code) => ExitCode::from(code),
        Err(fault) => {
            print::fault(&fault);
            ExitCode::from(fault.exit_code())
        }
    }
}

async fn dispatch(flags: Flags) -> Result<u8, Fault> {
    let config = flags.config;
    let open = |only_model: Option<&str>| App::begin(config.clone(), only_model);
    match flags.command {
        Command::Ask(flags) => ask_command(&open(flags.model.as_deref())?, flags).await,
        Command::Demo(flags) => demo(flags).await,
        Command::Serve(json) => serve::serve_command(open(None)?, json).await,
        Command::Check(json) => check_command(&open(None)?, json).await,
        Command::Init(flags) => init::run(config.clone(), flags).await,
        Command::Catalog(command) => catalog::run(config.clone(), command).await,
        Command::Tools(command) => tools_command(&open(None)?, command).await,
        Command::Runbooks(command) => Ok(runbooks_command(&open(None)?, command)),
        Command::Investigations(command) => investigations_command(&open(None)?, command).await,
        Command::Policy(command) => policy::run(&open(None)?, command).await,
        Command::Approvals(command) => approvals::run(&open(None)?, command).await,
        Command::StopWrites(flags) => approvals::stop_writes(&open(None)?, flags).await,
        Command::Token(command) => approvals::tokens(&open(None)?, command).await,
        Command::Audit(command) => audit::run(|| open(None), command).await,
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Flags::command(), "warrant", &mut std::io::stdout());
            Ok(0)
        }
        Command::ShopRestart(options) => {
            ask_for_restart(options).await.map_err(|error| Fault::Failed(with_source(&error)))?;
            Ok(0)
        }
        Command::ShopPart(options) => {
            serve_part(options).await.map_err(|error| Fault::Failed(error.to_string()))?;
            Ok(0)
        }
    }
}

fn with_source(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// A token that the first Ctrl-C fires; the second ends the process at once.
pub fn on_interrupt() -> CancellationToken {
    let cancel = CancellationToken::new();
    let fired = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            fired.cancel();
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    cancel
}

async fn ask_command(app: &App, flags: AskFlags) -> Result<u8, Fault> {
    let question = Question {
        trigger: Trigger::Question { text: flags.question },
        service: flags.service,
        since: flags.since,
        role: flags.role,
        channel: Channel::Terminal,
        writes: if flags.allow_writes { Writes::Allowed } else { Writes::Off },
    };
    let at_hand = at_hand(app, flags.json).await?;
    let asked = ask_with(app, question, at_hand, on_interrupt()).await;
    let code = asked.map(|(id, ended)| told(&id, ended, flags.json));
    // The report is told first: nobody waits for a collector.
    app.close().await;
    code
}

/// Who is at this terminal.
async fn at_hand(app: &App, json: Json) -> Result<AtHand, Fault> {
    let screen = print::screen(json.form());
    let present = Present::at_this_terminal(app, screen.as_ref()).await?;
    Ok(AtHand { watcher: print::watcher(screen.as_ref()), present })
}

/// Prints how an investigation ended.
fn told(id: &InvestigationId, ended: Ended, json: Json) -> u8 {
    match ended {
        Ended::Reported(report) => {
            if json.json {
                print::json(&serde_json::json!({ "investigation": id, "report": report }));
            } else {
                eprintln!();
                print::report(&report);
            }
            code_of(&report)
        }
        Ended::Interrupted(Kept::Whole) => {
            eprintln!("Interrupted. What was found is kept: warrant investigations resume {id}");
            INTERRUPTED
        }
        Ended::Interrupted(Kept::Lost) => {
            eprintln!("Interrupted. The trace could not be written, so nothing can be resumed.");
            INTERRUPTED
        }
    }
}

/// The exit code of a report.
pub fn code_of(report: &Report) -> u8 {
    let failed = |written: &Written| written.verified.as_ref().is_some_and(|verified| verified.held == Some(false));
    if report.writes.iter().any(failed) {
        return NOT_VERIFIED;
    }
    let waits_for_people = |written: &Written| match written.outcome {
        WriteOutcome::Denied
        | WriteOutcome::Expired
        | WriteOutcome::Revoked
        | WriteOutcome::Pending
        | WriteOutcome::Unknown => true,
        WriteOutcome::Done | WriteOutcome::NotDone => false,
    };
    if report.writes.iter().any(waits_for_people) {
        return INCONCLUSIVE;
    }
    match report.outcome {
        Outcome::Confirmed | Outcome::Likely | Outcome::NoFault => 0,
        Outcome::Inconclusive => INCONCLUSIVE,
    }
}

async fn check_command(app: &App, json: Json) -> Result<u8, Fault> {
    let mut tell = |tried: &check::Tried| {
        if !json.json {
            print::tried(tried);
        }
    };
    let all = check::check(app, &on_interrupt(), &mut tell).await?;
    let failed = all.iter().filter(|tried| !tried.ok).count();
    if json.json {
        print::json_lines(&all);
    } else {
        print::line(&format!("\n{} tried, {failed} to mend.", counted(all.len(), "thing")));
    }
    Ok(u8::from(failed > 0))
}

async fn tools_command(app: &App, command: ToolsCommand) -> Result<u8, Fault> {
    match command {
        ToolsCommand::List(json) => {
            let list = tools::list(app);
            if json.json {
                print::json_lines(&list);
            } else {
                let rows = list.iter().map(|tool| {
                    let why = print::text(tool, "not_offered");
                    let why = if why.is_empty() { why } else { format!(" Not offered: {why}.") };
                    (print::text(tool, "name"), format!("{}{why}", print::text(tool, "description")))
                });
                print::rows(&rows.collect::<Vec<_>>());
                print::line(&format!("\n{}", tools::table(app)));
            }
        }
        ToolsCommand::Show { name, json: _ } => print::json(&tools::show(app, &name)?),
        ToolsCommand::Call { name, args, role, json: _ } => {
            let result = tools::call(app, &name, &args, &role, &on_interrupt()).await?;
            print::json(&result);
            return Ok(u8::from(!result.ok));
        }
    }
    Ok(0)
}

fn runbooks_command(app: &App, command: RunbooksCommand) -> u8 {
    let told = |list: &[Value], json: Json, second: &dyn Fn(&Value) -> String| {
        if json.json {
            print::json_lines(list);
        } else {
            print::rows(&list.iter().map(|row| (print::text(row, "id"), second(row))).collect::<Vec<_>>());
        }
    };
    match command {
        RunbooksCommand::List(json) => {
            told(&runbooks::list(app), json, &|row| {
                format!("{} ({})", print::text(row, "title"), counted(count(row), "check"))
            });
        }
        RunbooksCommand::Search { text, alert, limit, json } => {
            let hits = runbooks::search(app, &text, alert.as_deref(), limit);
            if hits.is_empty() && !json.json {
                print::line("No runbook fits.");
            }
            told(&hits, json, &|row| format!("{} ({})", print::text(row, "title"), print::text(row, "why")));
        }
        RunbooksCommand::Lint(json) => {
            let problems = runbooks::lint(app);
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            if json.json {
                print::json_lines(&lines);
            } else {
                for line in &lines {
                    print::line(line);
                }
                let count = counted(app.bench.library.runbooks().len(), "runbook");
                print::line(&format!("{count}, {} to mend.", lines.len()));
            }
            return u8::from(!lines.is_empty());
        }
    }
    0
}

fn count(row: &Value) -> usize {
    row.get("checks").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

async fn investigations_command(app: &App, command: InvestigationsCommand) -> Result<u8, Fault> {
    match command {
        InvestigationsCommand::List { limit, json } => {
            let list = investigations::list(app, limit).await?;
            if json.json {
                print::json_lines(&list);
            } else {
                let rows = list.iter().map(|it| {
                    let outcome = it.outcome.clone().unwrap_or_else(|| "no report yet".to_owned());
                    let opened = it.opened_at.get(..19).unwrap_or(&it.opened_at);
                    (it.id.to_string(), format!("{opened}Z {outcome}: {}", it.question))
                });
                print::rows(&rows.collect::<Vec<_>>());
            }
        }
        InvestigationsCommand::Show { id, json } => {
            let (_, events) = investigations::show(app, &id).await?;
            if json.json {
                print::json_lines(&events);
            } else {
                print::investigation(&events)?;
            }
        }
        InvestigationsCommand::Resume { id, json } => {
            let resumed = investigations::resume(app, &id, at_hand(app, json).await?, on_interrupt()).await;
            let code = resumed.map(|(id, ended)| told(&id, ended, json));
            app.close().await;
            return code;
        }
        InvestigationsCommand::Replay { id, json } => {
            let (id, differences) = investigations::replay(app, &id).await?;
            if json.json {
                print::json_lines(&differences);
            } else {
                for it in &differences {
                    print::foreign(&format!(
                        "event {}, {}\n  then: {}\n  now:  {}",
                        it.seq, it.what, it.recorded, it.now
                    ));
                }
                print::line(&format!("{id}: {}.", counted(differences.len(), "difference")));
            }
            return Ok(u8::from(!differences.is_empty()));
        }
    }
    Ok(0)
}
