//! The built-in model: it follows runbooks. No key, no network, and the same answer for the same evidence.
//!
//! It looks at every service that the one in question depends on, ranks runbooks by what it sees, has their checks
//! carried out, proposes the remedy's writes where it is offered tools for them, and reports what held. What it may
//! conclude is what any model may: code checks its report like any other. Everything is decided anew in each turn from [`Request::seen`], so there is nothing to lose.

mod scene;

mod checks;

mod choose;

mod cause;

mod remedy;

mod looks;

mod draft;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;

use crate::agent::model::{Answer, Model, ModelCall, ModelError, Request, Stop, Usage};
use crate::agent::remedies::calls::Wanted;
use crate::agent::step::REPORT;
use scene::Scene;

/// Calls in one turn; below the least limit that a config may set would be pointless, above the usual one refused.
const CALLS_PER_TURN: usize = 12;

/// Its name in the config and in reports.
pub const NAME: &str = "runbook";

/// The model.
pub struct RunbookModel {
    catalog: Arc<Catalog>,
    library: Arc<Library>,
}

impl RunbookModel {
    /// A model over this catalog and these runbooks.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, library: Arc<Library>) -> Self {
        Self { catalog, library }
    }

    /// The next calls, or the report when there are none left to make.
    fn decide(&self, request: &Request<'_>) -> (String, Vec<Wanted>) {
        let scene = Scene::of(&self.catalog, request);
        let offered = |wanted: &Wanted| request.tools.iter().any(|tool| tool.name == wanted.tool);
        let open = |wanted: Vec<Wanted>| -> Vec<Wanted> {
            let mut open: Vec<Wanted> = Vec::new();
            for call in wanted.into_iter().filter(offered) {
                if !scene.has_seen(&call) && !open.contains(&call) {
                    open.push(call);
                }
            }
            open.truncate(CALLS_PER_TURN);
            open
        };
        let around = open(scene.look_around());
        if !around.is_empty() {
            return ("Looking at the services that it depends on.".to_owned(), around);
        }
        let mut candidates = choose::candidates(&scene, &self.library);
        loop {
            let checks = open(candidates.iter().flat_map(|candidate| checks::calls(&scene, candidate)).collect());
            if !checks.is_empty() {
                let titles = choose::titles(&candidates);
                return (format!("Checking what these runbooks name: {titles}."), checks);
            }
            // Ends: each step tries a runbook on a service where it had not been tried.
            let trail = cause::trail(&scene, &candidates);
            if trail.is_empty() {
                break;
            }
            candidates.extend(trail);
        }
        let (held, failed) = cause::weigh(&scene, &candidates);
        let best = held.first().filter(|best| best.explains());
        let course = match best.map(|best| remedy::next(&scene, best, request.tools)) {
            Some(remedy::Next::Calls(text, calls)) => return (text, calls),
            Some(remedy::Next::Report(course)) => course,
            None => remedy::Course::default(),
        };
        let counts = open(draft::counts(&scene, &course));
        if !counts.is_empty() {
            return ("Counting errors since then.".to_owned(), counts);
        }
        let draft = draft::write(&scene, &held, &failed, &course);
        let args = serde_json::to_value(&draft).unwrap_or(Value::Null);
        (String::new(), vec![Wanted { tool: REPORT.to_owned(), args }])
    }
}

#[async_trait]
impl Model for RunbookModel {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn answer(
        &self,
        request: Request<'_>,
        deltas: &UnboundedSender<String>,
        _cancel: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let (text, wanted) = self.decide(&request);
        if !text.is_empty() {
            // Nobody may be watching.
            let _unwatched = deltas.send(format!("{text}\n"));
        }
        let turn = request.messages.len();
        let calls = (1..)
            .zip(wanted)
            .map(|(number, wanted)| ModelCall {
                id: format!("runbook-{turn}-{number}"),
                name: wanted.tool,
                arguments: wanted.args.to_string(),
            })
            .collect();
        Ok(Answer {
            model: NAME.to_owned(),
            text,
            calls,
            opaque: Vec::new(),
            stop: Stop::Calls,
            usage: Usage::default(),
            cost: None,
            passed_over: Vec::new(),
        })
    }
}
