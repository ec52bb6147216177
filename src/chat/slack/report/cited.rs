//! What a piece of evidence says, in a few lines.

use std::collections::BTreeMap;

use serde_json::Value;
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::result::{Origin, ToolResult};

use crate::agent::state::State;

/// Lines that are kept.
const LINES: usize = 12;

/// What a piece of evidence says, as the model saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cited {
    /// The tool that brought it.
    pub tool: String,
    /// Whose words it holds.
    pub origin: Origin,
    /// Its first lines.
    pub lines: Vec<String>,
    /// How many lines it has.
    pub of: usize,
}

impl Cited {
    /// Of one result: its rows, or its facts where it has none.
    #[must_use]
    pub fn of(result: &ToolResult) -> Self {
        let mut lines = Vec::new();
        if let Value::Object(fields) = &result.data {
            for row in fields.values().filter_map(Value::as_array).flatten() {
                match row {
                    Value::String(text) => lines.extend(text.lines().map(str::to_owned)),
                    other => lines.push(other.to_string()),
                }
            }
            if lines.is_empty() {
                let fact = |(name, value): (&String, &Value)| match value {
                    Value::String(text) => format!("{name}: {text}"),
                    other => format!("{name}: {other}"),
                };
                lines.extend(fields.iter().map(fact));
            }
        }
        let of = lines.len();
        lines.truncate(LINES);
        Self { tool: result.tool.clone(), origin: result.meta.origin, lines, of }
    }

    /// Of all evidence that a report lists.
    #[must_use]
    pub fn all(report: &Report, state: &State) -> BTreeMap<EvidenceId, Self> {
        let of = |id| state.evidence(id).map(|(_, result)| (id, Self::of(result)));
        report.evidence.iter().filter_map(|exhibit| of(exhibit.evidence)).collect()
    }
}
