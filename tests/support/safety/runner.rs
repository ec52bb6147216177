//! Runs cases against an adapter, several at once, and tells what came of each in a table.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;

use super::adapter::{Adapter, Said};
use super::case::{Case, fits};

/// Cases at once: they mostly wait for disks and for each other's processes.
const AT_ONCE: usize = 4;

/// Longer takes none.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a row ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Green,
    Red,
    /// Not judged: this agent or this machine has no such thing.
    Absent,
}

/// One row of the table.
#[derive(Debug, Clone)]
pub struct Row {
    pub id: String,
    pub attack: String,
    pub about: String,
    pub expected: String,
    pub seen: String,
    pub verdict: Verdict,
}

/// Runs all cases; rows come in the order of the cases.
pub async fn run(adapter: Arc<dyn Adapter>, cases: Vec<Case>) -> Vec<Row> {
    let rows = stream::iter(cases).map(|case| {
        let adapter = Arc::clone(&adapter);
        async move {
            let judged = tokio::time::timeout(PATIENCE, judge(adapter.as_ref(), &case)).await;
            let (verdict, seen) = judged.unwrap_or_else(|_| (Verdict::Red, "it did not end".to_owned()));
            Row { expected: expected(&case), id: case.id, attack: case.attack, about: case.about, seen, verdict }
        }
    });
    rows.buffered(AT_ONCE).collect().await
}

fn expected(case: &Case) -> String {
    let last = case.attempt.iter().rev().find_map(|step| step.expect.clone());
    let last = last.map(|last| format!("{last}; ")).unwrap_or_default();
    format!("{last}effect {}, asked {}", case.expect.effect, case.expect.asked)
}

async fn judge(adapter: &dyn Adapter, case: &Case) -> (Verdict, String) {
    let mut stage = match adapter.set_up(&case.situation).await {
        Ok(stage) => stage,
        Err(error) => return (Verdict::Red, format!("not set up: {error}")),
    };
    let (mut wrong, mut last) = (Vec::new(), String::new());
    for (number, step) in (1..).zip(&case.attempt) {
        let said = match stage.act(step).await {
            Ok(said) => said,
            Err(error) => {
                wrong.push(format!("step {number} failed: {error}"));
                break;
            }
        };
        if let Said::NotHere(why) = said {
            return (Verdict::Absent, why);
        }
        if let Said::Shown(text) = &said {
            wrong.extend(step.shows.iter().filter(|it| !text.contains(*it)).map(|it| format!("`{it}` is not shown")));
            wrong.extend(step.lacks.iter().filter(|it| text.contains(*it)).map(|it| format!("`{it}` is shown")));
        } else if !(step.shows.is_empty() && step.lacks.is_empty()) {
            wrong.push(format!("step {number} showed nothing"));
        }
        let text = said.text();
        if let Some(expected) = &step.expect {
            if !fits(expected, &text) {
                wrong.push(format!("step {number}: {text}"));
            }
            last = text;
        }
    }
    let observed = match stage.end().await {
        Ok(observed) => observed,
        Err(error) => return (Verdict::Red, format!("not seen: {error}; {}", wrong.join("; "))),
    };
    if !fits(&case.expect.effect, &observed.effect) {
        wrong.push(format!("effect {}", observed.effect));
    }
    if observed.asked != case.expect.asked {
        wrong.push(format!("asked {}", observed.asked));
    }
    wrong.extend(observed.unsound.map(|why| format!("the record is unsound: {why}")));
    let held = |what: &&String| observed.recorded.contains(*what);
    wrong.extend(case.expect.recorded.iter().filter(|it| !held(it)).map(|it| format!("`{it}` is not recorded")));
    wrong.extend(case.expect.unrecorded.iter().filter(held).map(|it| format!("`{it}` is recorded")));
    if wrong.is_empty() {
        let last = if last.is_empty() { last } else { format!("{last}; ") };
        return (Verdict::Green, format!("{last}effect {}, asked {}", observed.effect, observed.asked));
    }
    (Verdict::Red, wrong.join("; "))
}

/// The table, red rows with what was seen in place of what was expected.
pub fn table(agent: &str, rows: &[Row]) -> String {
    let width = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (id, attack) = (width(|row| &row.id), width(|row| &row.attack));
    let mut text = format!("approval safety of {agent}\n");
    for row in rows {
        let verdict = match row.verdict {
            Verdict::Green => "green",
            Verdict::Red => "RED  ",
            Verdict::Absent => "n/a  ",
        };
        // Writing to a text never fails.
        let _ = writeln!(text, "{verdict}  {:<id$}  {:<attack$}  {}", row.id, row.attack, row.about);
        let indent = id + attack + 11;
        let _ = writeln!(text, "{:indent$}expected {}", "", row.expected);
        let _ = writeln!(text, "{:indent$}seen     {}", "", row.seen);
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let _ = writeln!(
        text,
        "{} rows: {} green, {} red, {} not judged",
        rows.len(),
        count(Verdict::Green),
        count(Verdict::Red),
        count(Verdict::Absent)
    );
    text
}
