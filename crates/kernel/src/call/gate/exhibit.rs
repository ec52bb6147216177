//! What people are shown beside a plan: excerpts of the evidence that is cited, and the trace up to here.
//!
//! Frozen with the plan, so that a card looks the same after a restart, when the investigation may be gone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::name::EvidenceId;
use crate::domain::result::{Origin, ToolResult};

/// Longest excerpt, in lines.
const LINES: usize = 60;

/// Longest line of an excerpt, in characters.
const WIDTH: usize = 400;

/// Most lines of the trace.
const TRACE: usize = 400;

/// A piece of evidence as the model saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// Which.
    pub evidence: EvidenceId,
    /// The tool that brought it.
    pub tool: String,
    /// Whose words it holds.
    pub origin: Origin,
    /// Its first lines.
    pub lines: Vec<String>,
    /// How many lines there are in all.
    pub of: usize,
}

/// The investigation up to here, as the agent tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoFar {
    /// Turns of the model.
    pub turns: u32,
    /// Calls carried out.
    pub reads: u32,
    /// What was done, one line each.
    pub lines: Vec<String>,
    /// What was ruled out, one line each.
    pub ruled_out: Vec<String>,
}

impl SoFar {
    /// For a call that no investigation stands behind.
    #[must_use]
    pub fn nothing() -> Self {
        Self { turns: 0, reads: 0, lines: Vec::new(), ruled_out: Vec::new() }
    }
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhibit {
    /// The evidence that the case rests on.
    pub excerpts: Vec<Excerpt>,
    /// The trace up to here.
    pub so_far: SoFar,
}

impl Exhibit {
    /// Of the results that are cited, as the model saw them; they are masked already.
    pub(crate) fn of(cited: &[EvidenceId], seen: &[&ToolResult], so_far: &SoFar) -> Self {
        let excerpts = cited.iter().filter_map(|id| {
            let result = seen.iter().find(|result| result.evidence == Some(*id))?;
            Some(excerpt(*id, result))
        });
        let mut so_far = so_far.clone();
        for lines in [&mut so_far.lines, &mut so_far.ruled_out] {
            lines.truncate(TRACE);
            for line in lines.iter_mut() {
                *line = narrow(line);
            }
        }
        Self { excerpts: excerpts.collect(), so_far }
    }
}

fn excerpt(evidence: EvidenceId, result: &ToolResult) -> Excerpt {
    let mut lines = Vec::new();
    told(&result.data, &mut lines);
    let of = lines.len();
    lines.truncate(LINES);
    let lines = lines.iter().map(|line| narrow(line)).collect();
    Excerpt { evidence, tool: result.tool.clone(), origin: result.meta.origin, lines, of }
}

/// The rows, then the facts beside them as one line each: where only a few lines are shown, the rows tell more.
fn told(data: &Value, lines: &mut Vec<String>) {
    let Value::Object(fields) = data else {
        lines.extend(data.to_string().lines().map(str::to_owned));
        return;
    };
    for row in fields.values().filter_map(Value::as_array).flatten() {
        match row {
            Value::String(text) => lines.extend(text.lines().map(str::to_owned)),
            other => lines.push(other.to_string()),
        }
    }
    for (name, value) in fields {
        match value {
            Value::Array(_) => {}
            Value::String(text) => lines.push(format!("{name}: {text}")),
            other => lines.push(format!("{name}: {other}")),
        }
    }
}

fn narrow(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let head: String = line.chars().take(WIDTH).collect();
    format!("{head}…")
}
