//! `warrant runbooks list|search|lint`.

use serde_json::{Value, json};
use warrant_kernel::domain::name::ToolName;
use warrant_toolbox::runbook::document::Problem;
use warrant_toolbox::runbook::lint::ToolForm;
use warrant_toolbox::runbook::search::{Question, Why};

use super::App;

/// All runbooks.
#[must_use]
pub fn list(app: &App) -> Vec<Value> {
    let runbooks = app.bench.library.runbooks().iter();
    runbooks
        .map(|runbook| {
            json!({
                "id": runbook.id, "title": runbook.title, "alerts": runbook.alerts, "services": runbook.services,
                "checks": runbook.checks.len(), "file": runbook.file,
            })
        })
        .collect()
}

/// The runbooks for a question, best first; none where none fits.
#[must_use]
pub fn search(app: &App, text: &str, alert: Option<&str>, limit: usize) -> Vec<Value> {
    let hits = app.bench.library.search(Question { text, alert, service: None });
    hits.into_iter()
        .take(limit)
        .map(|hit| {
            let why = match hit.why {
                Why::ExactAlert => "exact alert",
                Why::Words => "words",
            };
            let section = hit.section.map(|section| section.heading.as_str());
            json!({
                "id": hit.runbook.id, "title": hit.runbook.title, "why": why, "section": section, "score": hit.score,
            })
        })
        .collect()
}

/// Everything wrong with the runbooks.
#[must_use]
pub fn lint(app: &App) -> Vec<Problem> {
    let form = |name: &ToolName| -> Option<ToolForm> {
        let about = app.bench.registry.get(name.as_str())?.about();
        Some(ToolForm { args: about.args.clone(), risk: about.risk })
    };
    app.bench.library.lint(&form)
}
