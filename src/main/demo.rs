//! `warrant demo`: its flags become a run in a directory of its own.

use std::io::IsTerminal;
use std::path::Path;

use warrant::app::fault::Fault;
use warrant::app::print::{self, Form, Screen};
use warrant::app::writes::people::Answers;
use warrant::demo::run::{Deciding, Demo, Options, run};

use crate::commands::{INTERRUPTED, code_of, on_interrupt};
use crate::flags::{ApproveFlag, DemoFlags};

/// What `--approve none` says.
const NO: &str = "deny nothing is to be changed in this demo";

/// Runs it to its exit code.
pub async fn demo(flags: DemoFlags) -> Result<u8, Fault> {
    let form = if flags.json { Form::Json } else { Form::Text };
    let screen = print::screen(form);
    let deciding = deciding(&flags, screen.as_ref())?;
    let directory = tempfile::Builder::new().prefix("warrant-demo-").tempdir();
    let mut directory = directory.map_err(|error| Fault::Failed(format!("can't make a directory: {error}")))?;
    directory.disable_cleanup(flags.keep);
    let exe = std::env::current_exe().map_err(|error| Fault::Failed(format!("can't find this program: {error}")))?;
    let options = Options {
        fault: flags.fault,
        seed: flags.seed,
        without: flags.without,
        dir: directory.path().to_owned(),
        exe,
        deciding,
    };
    let quiet = flags.json && !std::io::stderr().is_terminal();
    let tell = |text: &str| {
        if !quiet {
            eprintln!("{text}");
        }
    };
    let cancel = on_interrupt();
    let ended = run(&options, print::watcher(screen.as_ref()), &tell, &cancel).await?;
    if flags.keep {
        told_where(directory.path());
    }
    match ended {
        Demo::Interrupted => Ok(INTERRUPTED),
        Demo::Done(done) => {
            if flags.json {
                print::json(&done);
            } else {
                eprintln!();
                print::report(&done.report);
            }
            Ok(code_of(&done.report))
        }
    }
}

fn told_where(dir: &Path) {
    let dir = dir.display();
    eprintln!(
        "Kept: {dir}\nThe trace: warrant --config {dir}/warrant.toml investigations list\nThe ledger: warrant --config \
         {dir}/warrant.toml audit verify"
    );
}

/// Who decides. Programs that read JSON get what they always got, unless they say who answers for people.
fn deciding(flags: &DemoFlags, screen: Option<&Screen>) -> Result<Deciding, Fault> {
    let screen = screen.cloned();
    if let Some(file) = &flags.answers {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Fault::Usage(format!("can't read `{}`: {error}", file.display())))?;
        return Ok(Deciding::Script(Answers::of(&text), screen));
    }
    Ok(match flags.approve {
        Some(ApproveFlag::All) => Deciding::Script(Answers::always("approve"), screen),
        Some(ApproveFlag::None) => Deciding::Script(Answers::always(NO), screen),
        None if flags.json => Deciding::Nobody,
        None => Deciding::AtTerminal(screen),
    })
}
