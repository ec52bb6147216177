//! What a run command tells: how it ended, what it complained of, and its lines.

use serde_json::{Map, Value, json};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;

use crate::tools::process::sandbox::capture::Text;
use crate::tools::process::sandbox::{Ended, Ran};

/// Makes the output of a command from what it wrote; `argv` is what was run.
#[must_use]
pub fn output(argv: &[String], ran: Ran) -> Output {
    let mut left_out = Vec::new();
    let (exit, ended) = match ran.ended {
        Ended::Exited(status) => (Some(status), None),
        Ended::Killed(signal) => {
            (None, Some(format!("ended by signal {signal}; it may have used up what it is allowed")))
        }
        Ended::TimedOut => {
            left_out
                .push("all that it would have written had it not been ended: its time was up; ask for less".to_owned());
            (None, Some("TIMEOUT: ended because its time was up".to_owned()))
        }
        Ended::TooMuch => {
            left_out.push("all that it would have written had it not been ended: it wrote without end".to_owned());
            (None, Some("TRUNCATED: ended because it wrote without end".to_owned()))
        }
    };
    let (stdout, stderr) = (ran.stdout.text(), ran.stderr.text());
    let mut summary: Map<String, Value> = Map::new();
    summary.insert("argv".to_owned(), json!(argv));
    summary.insert("exit".to_owned(), exit.into());
    if let Some(ended) = ended {
        summary.insert("ended".to_owned(), ended.into());
    }
    if stderr.total > 0 {
        summary.insert("stderr".to_owned(), complaint(&stderr).into());
    }
    if stdout.left_out > 0 {
        left_out.insert(0, format!(
            "{} of the {} bytes that it wrote, from the middle, and the lines that were cut there; ask for less, or for a part",
            stdout.left_out, stdout.total
        ));
    }
    if stderr.left_out > 0 {
        left_out.push(format!("{} bytes of its complaints", stderr.left_out));
    }
    let mut output = Output::lines(Origin::Command, summary, stdout.lines);
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    output
}

/// Most characters of complaints; a text of the summary is short.
const MAX_COMPLAINT: usize = 1500;

fn complaint(text: &Text) -> String {
    let mut told = String::new();
    for line in &text.lines {
        if told.chars().count() + line.chars().count() > MAX_COMPLAINT {
            told.push_str("[more]");
            break;
        }
        told.push_str(line);
        told.push('\n');
    }
    told.trim_end().to_owned()
}
