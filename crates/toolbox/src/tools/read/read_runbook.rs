//! `read_runbook`: one runbook whole, its checks and remedies in words.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;
use warrant_kernel::redact::guard::first_chars;

use crate::runbook::document::{Check, Deed, Runbook, Shows};
use crate::runbook::expect::{Expect, Test, Than};
use crate::runbook::library::Library;

use super::search_runbooks::target;

/// The tool over a library.
#[must_use]
pub fn read_runbook(library: Arc<Library>) -> Arc<dyn ReadTool> {
    Arc::new(ReadRunbook { library })
}

struct ReadRunbook {
    library: Arc<Library>,
}

impl ReadRunbook {
    fn runbook(&self, args: &Arguments) -> Result<&Runbook, Problem> {
        let id = args.text("id").unwrap_or_default();
        self.library.get(id).ok_or_else(|| {
            let shown = first_chars(id, 80);
            let near = self.library.nearest(id);
            let hint = if near.is_empty() {
                "`search_runbooks` finds ids".to_owned()
            } else {
                format!("did you mean {}?", near.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" or "))
            };
            Problem::of("id", format!("there is no runbook `{shown}`; {hint}"))
        })
    }
}

#[async_trait]
impl ReadTool for ReadRunbook {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let runbook = self.runbook(args).map_err(|problem| vec![problem])?;
        target(&runbook.id)
    }

    async fn read(&self, args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        let runbook = self
            .runbook(args)
            .map_err(|problem| ReadError::Invalid { reason: "NO_SUCH_RUNBOOK", message: problem.message })?;
        let mut summary = Map::new();
        summary.insert("id".to_owned(), Value::from(runbook.id.as_str()));
        summary.insert("title".to_owned(), Value::from(runbook.title.as_str()));
        summary.insert("alerts".to_owned(), Value::from(runbook.alerts.clone()));
        summary.insert("symptoms".to_owned(), Value::from(runbook.symptoms.clone()));
        summary.insert("checks".to_owned(), Value::from(runbook.checks.len()));
        let mut lines: Vec<String> = runbook.text.trim().lines().map(str::to_owned).collect();
        if !runbook.checks.is_empty() {
            lines.extend([String::new(), "## Checks".to_owned()]);
            lines.extend(runbook.checks.iter().map(described));
        }
        if !runbook.remedies.is_empty() {
            lines.extend([String::new(), "## Remedies".to_owned()]);
            for remedy in &runbook.remedies {
                lines.push(format!("- {}", remedy.text));
                let called = |deed: &Deed| format!("{} {}", deed.tool, Value::Object(deed.args.clone()));
                lines.extend(remedy.write.iter().map(|deed| format!("  by: {}", called(deed))));
                lines.extend(remedy.then.iter().map(|deed| format!("  then: {}, by: {}", deed.text, called(deed))));
                lines
                    .extend(remedy.lesser.iter().map(|deed| format!("  or less: {}, by: {}", deed.text, called(deed))));
                lines.extend(remedy.alternatives.iter().map(|other| format!("  or: {other}")));
            }
        }
        Ok(Output::lines(Origin::Runbook, summary, lines))
    }
}

/// One check as a sentence.
fn described(check: &Check) -> String {
    let shows = match check.shows {
        Shows::Cause => "cause",
        Shows::Mechanism => "mechanism",
        Shows::Symptom => "symptom",
    };
    let args = Value::Object(check.args.clone());
    let mut line =
        format!("- {} ({shows}): {} {args}, {}: {}", check.id, check.tool, expected(&check.expect), check.means);
    if let Some(rules_out) = &check.rules_out {
        line.push_str("; else: ");
        line.push_str(rules_out);
    }
    line
}

fn expected(expect: &Expect) -> String {
    let at = &expect.at;
    let than = |than: &Than| match than {
        Than::Previous => "the window before".to_owned(),
        Than::At(other) => format!("`{other}`"),
    };
    match &expect.test {
        Test::Equals(value) => format!("expect `{at}` to be {value}"),
        Test::Below(limit) => format!("expect `{at}` below {limit}"),
        Test::Above(limit) => format!("expect `{at}` above {limit}"),
        Test::Between(low, high) => format!("expect `{at}` from {low} to {high}"),
        Test::Contains(value) => format!("expect {value} in `{at}`"),
        Test::Absent => format!("expect nothing at `{at}`"),
        Test::Rises(other, factor) => format!("expect `{at}` above {factor} times {}", than(other)),
        Test::Falls(other, factor) => format!("expect `{at}` below 1/{factor} of {}", than(other)),
    }
}

#[cfg(test)]
mod tests;
