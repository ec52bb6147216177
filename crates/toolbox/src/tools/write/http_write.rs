//! `run = http` with risk `write`: a write that an operator defines as data.
//!
//! Before it, the definition's `preview` is read: what it names is what the plan is bound to, and the request itself, whole.
//! After it, its `probe` tells whether it took effect. What already is as it should be is not asked for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::tool::{Arguments, Problem};
use warrant_kernel::call::write::{Effect, Held, Looking, Probed, Verdict, WriteError, WriteTool};
use warrant_kernel::domain::name::{ServiceName, SourceName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::plan::{Facts, Plan, Preview};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::tool::{HttpExpect, HttpProbe, HttpRun, ToolDefinition, ToolRun};
use warrant_kernel::redact::guard::first_chars;

use crate::catalog::Catalog;
use crate::tools::read::http_tool::HttpToolProblem;
use crate::tools::read::http_tool::template::{Filled, Template};
use crate::tools::sources::http::HttpClient;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::sources::http::send::{Outgoing, backend};
use crate::tools::workspace::held::sha256;
use crate::tools::write::file::refused;

/// How long a write has to show in the probe.
const SHOWS_WITHIN: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
/// Characters of a fact that are shown; of a longer one its beginning and its digest.
const SHOWN: usize = 300;

pub(super) struct HttpWrite {
    catalog: Arc<Catalog>,
    client: Arc<HttpClient>,
    definition: ToolDefinition,
    run: HttpRun,
    request: Template,
    look: (Template, BTreeMap<String, String>, BTreeMap<String, String>),
    probe: (Template, HttpProbe),
}

/// The tool that `definition` describes.
///
/// # Errors
/// Everything in its `run.http` that leads nowhere or that an argument could break out of.
pub fn http_write(
    definition: &ToolDefinition,
    catalog: Arc<Catalog>,
    clients: &HttpClients,
) -> Result<Arc<dyn WriteTool>, Vec<HttpToolProblem>> {
    Ok(Arc::new(HttpWrite::new(definition, catalog, clients)?))
}

fn borrowed(filled: &Filled) -> (Vec<&str>, Vec<(&str, &str)>) {
    let query = filled.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    (filled.path.iter().map(String::as_str).collect(), query)
}

/// What a request is made of, ready to be sent.
struct Request {
    filled: Filled,
    body: Option<Value>,
}

impl HttpWrite {
    pub(super) fn new(
        definition: &ToolDefinition,
        catalog: Arc<Catalog>,
        clients: &HttpClients,
    ) -> Result<Self, Vec<HttpToolProblem>> {
        let problem = |why: String| HttpToolProblem { tool: definition.name.clone(), why };
        let ToolRun::Http(run) = &definition.run else {
            return Err(vec![problem("`run` is not `http`".to_owned())]);
        };
        let (Some(look), Some(probe)) = (&run.preview, &run.probe) else {
            return Err(vec![problem("a write needs `preview` and `probe`".to_owned())]);
        };
        let Some(client) = clients.http().get(&run.source).cloned() else {
            return Err(vec![problem(format!("`run.http.source`: there is no `[http.{}]` in the config", run.source))]);
        };
        let template = |path: &str, query: &BTreeMap<String, String>| {
            Template::of(path, query, &definition.args)
                .map_err(|whys| whys.into_iter().map(problem).collect::<Vec<_>>())
        };
        Ok(Self {
            catalog,
            client,
            definition: definition.clone(),
            request: template(&run.path, &run.query)?,
            look: (template(&look.path, &look.query)?, look.bound.clone(), look.shown.clone()),
            probe: (template(&probe.path, &probe.query)?, probe.clone()),
            run: run.as_ref().clone(),
        })
    }

    fn fill(template: &Template, args: &Arguments) -> Result<Filled, WriteError> {
        template.fill(args).map_err(|problems| {
            let told: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
            refused("ARGUMENTS", told.join("; "))
        })
    }

    fn made(&self, args: &Arguments) -> Result<Request, WriteError> {
        let fields: Map<String, Value> =
            self.run.body.iter().filter_map(|(name, value)| Some((name.clone(), filled(value, args)?))).collect();
        let body = (!self.run.body.is_empty()).then_some(Value::Object(fields));
        Ok(Request { filled: Self::fill(&self.request, args)?, body })
    }

    async fn get(&self, template: &Template, args: &Arguments) -> Result<(u16, Option<Value>), WriteError> {
        let filled = Self::fill(template, args)?;
        let (path, query) = borrowed(&filled);
        let answer = self.client.get(&path, &query).await.map_err(backend)?;
        if answer.status() == 404 {
            return Ok((404, None));
        }
        let good = answer.good().map_err(backend)?;
        Ok((good.status(), Some(good.json().map_err(backend)?)))
    }

    /// The facts before the write: those that bind and those that are shown.
    async fn facts(&self, args: &Arguments, request: &Request) -> Result<(Facts, Facts), WriteError> {
        let (template, bound, shown) = &self.look;
        let (_, answer) = self.get(template, args).await?;
        let Some(answer) = answer else {
            return Err(refused("NOT_FOUND", format!("`{}` has nothing there to change (404)", self.run.source)));
        };
        let named = |pointers: &BTreeMap<String, String>| -> Facts {
            pointers.iter().map(|(name, pointer)| (name.clone(), fact(answer.pointer(pointer)))).collect()
        };
        let mut bound = named(bound);
        let (path, query) = borrowed(&request.filled);
        bound.insert("request".to_owned(), format!("{} {}", self.run.method.as_str(), self.client.line(&path, &query)));
        bound.insert("server".to_owned(), self.client.url());
        if let Some(body) = &request.body {
            bound.insert("body".to_owned(), body.to_string());
        }
        Ok((bound, named(shown)))
    }

    /// Whether it is as the write would make it.
    async fn is_so(&self, args: &Arguments) -> Result<(bool, Facts), WriteError> {
        let (template, probe) = &self.probe;
        let (_, answer) = self.get(template, args).await?;
        let found = answer.as_ref().and_then(|answer| answer.pointer(&probe.at));
        let wanted = probe.value.as_ref().and_then(|value| filled(value, args));
        let so = match (probe.is, found, &wanted) {
            (HttpExpect::Eq, Some(found), Some(wanted)) => found == wanted,
            (HttpExpect::Contains, Some(Value::Array(items)), Some(wanted)) => items.contains(wanted),
            (HttpExpect::Contains, Some(Value::String(text)), Some(Value::String(wanted))) => {
                text.contains(wanted.as_str())
            }
            (HttpExpect::Present, found, _) => found.is_some_and(|found| !found.is_null()),
            (HttpExpect::Absent, found, _) => found.is_none_or(Value::is_null),
            (HttpExpect::Eq | HttpExpect::Contains, _, _) => false,
        };
        let name = if probe.at.is_empty() { "answer".to_owned() } else { probe.at.clone() };
        Ok((so, Facts::from([(name, fact(found))])))
    }

    /// Sends what a plan says, once.
    pub(super) async fn apply(&self, plan: &Plan) -> Result<Effect, WriteError> {
        let args = Arguments::checked(plan.arguments.clone());
        let request = self.made(&args)?;
        let (bound, _) = self.facts(&args, &request).await?;
        if bound != plan.preview.bound {
            return Err(refused("CHANGED", "what would be changed is no longer what was approved"));
        }
        let (path, query) = borrowed(&request.filled);
        let outgoing = Outgoing { method: self.run.method, path: &path, query: &query, body: request.body.as_ref() };
        let answer = self.client.change(outgoing).await?;
        let mut summary = Map::new();
        summary.insert("source".to_owned(), self.run.source.to_string().into());
        summary.insert("status".to_owned(), answer.status().into());
        summary.insert("done".to_owned(), plan.preview.effect.clone().into());
        // The facts after it are for the record; that they can't be read changes nothing about what was done.
        let after = self.facts(&args, &request).await.map_or_else(|_| bound, |(after, _)| after);
        let lines = answer.excerpt(2_000).lines().map(str::to_owned).collect();
        Ok(Effect {
            after,
            side_effects: vec![plan.preview.effect.clone()],
            output: Output::lines(Origin::Http, summary, lines),
            undo: None,
        })
    }

    fn service(&self, args: &Arguments) -> Result<Option<ServiceName>, Problem> {
        let Some(text) = args.text("service") else { return Ok(None) };
        let name = args.service("service").filter(|name| self.catalog.service(name).is_some());
        let unknown = || Problem::of("service", format!("there is no service `{}`", first_chars(text, 80)));
        name.ok_or_else(unknown).map(Some)
    }
}

/// A value with its placeholders filled; none where an argument is absent.
fn filled(value: &Value, args: &Arguments) -> Option<Value> {
    match value {
        Value::String(text) => match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => args.as_map().get(name).cloned(),
            None => Some(value.clone()),
        },
        Value::Array(items) => Some(items.iter().filter_map(|item| filled(item, args)).collect()),
        Value::Object(fields) => {
            let filled: Map<String, Value> =
                fields.iter().filter_map(|(name, field)| Some((name.clone(), filled(field, args)?))).collect();
            Some(Value::Object(filled))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.clone()),
    }
}

/// A value as a fact. One that is too long to show is still bound whole, by its digest.
fn fact(value: Option<&Value>) -> String {
    let text = match value {
        None => return "(not there)".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    if text.chars().count() <= SHOWN {
        return text;
    }
    let head = first_chars(&text, SHOWN);
    format!("{head}... (sha256 {})", sha256(text.as_bytes()))
}

#[async_trait]
impl WriteTool for HttpWrite {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let mut problems = Vec::new();
        for template in [&self.request, &self.look.0, &self.probe.0] {
            problems.extend(template.fill(args).err().unwrap_or_default());
        }
        problems.dedup();
        let service = self.service(args).map_err(|problem| problems.push(problem)).ok().flatten();
        if !problems.is_empty() {
            return Err(problems);
        }
        let source: SourceName = self.client.name().clone();
        let kind = self.definition.target.kind;
        let named = self.definition.target.arg.as_deref().and_then(|arg| args.text(arg));
        let of_service = service.as_ref().and_then(|name| self.catalog.service(name));
        Ok(Target {
            kind: if named.is_some() { kind } else { TargetKind::Source },
            name: named.map_or_else(|| source.to_string(), str::to_owned),
            environment: of_service.and_then(|service| service.environment.clone()),
            owner: of_service.and_then(|service| service.owner.clone()),
            service,
            source,
        })
    }

    async fn preview(&self, args: &Arguments, _target: &Target, _looking: Looking<'_>) -> Result<Preview, WriteError> {
        let request = self.made(args)?;
        let (bound, shown) = self.facts(args, &request).await?;
        let (so, found) = self.is_so(args).await?;
        if so {
            let found: Vec<String> = found.into_iter().map(|(name, value)| format!("`{name}` is {value}")).collect();
            return Err(refused("NOOP", format!("it is already as it would be then: {}", found.join(", "))));
        }
        let line = bound.get("request").cloned().unwrap_or_default();
        Ok(Preview {
            effect: format!("sends {line} to `{}`", self.run.source),
            bound,
            shown,
            diff: Vec::new(),
            notes: self.definition.side_effects.clone(),
            floor: None,
        })
    }

    async fn bound(&self, plan: &Plan, _looking: Looking<'_>) -> Result<Facts, WriteError> {
        let args = Arguments::checked(plan.arguments.clone());
        Ok(self.facts(&args, &self.made(&args)?).await?.0)
    }

    async fn write(&self, warrant: Warrant, looking: Looking<'_>) -> Result<Effect, WriteError> {
        if looking.cancel.is_cancelled() {
            return Err(WriteError::Backend { reason: "CANCELLED", message: "ended before it began".to_owned() });
        }
        self.apply(&warrant.spend()).await
    }

    async fn probe(&self, plan: &Plan, _looking: Looking<'_>) -> Probed {
        let args = Arguments::checked(plan.arguments.clone());
        let cant = |error: WriteError| Probed::CantTell { because: error.to_string() };
        let so = match self.is_so(&args).await {
            Ok((so, _)) => so,
            Err(error) => return cant(error),
        };
        let now = match self.made(&args) {
            Ok(request) => self.facts(&args, &request).await.map(|(bound, _)| bound),
            Err(error) => return cant(error),
        };
        match (so, now) {
            (true, now) => Probed::Took {
                after: now.unwrap_or_else(|_| plan.preview.bound.clone()),
                because: "the probe of its definition holds, and did not before".to_owned(),
            },
            (false, Ok(now)) if now == plan.preview.bound => Probed::DidNot {
                because: "the probe of its definition does not hold, and nothing has changed".to_owned(),
            },
            (false, Ok(_)) => Probed::CantTell {
                because: "the probe of its definition does not hold, and yet something has changed".to_owned(),
            },
            (false, Err(error)) => cant(error),
        }
    }

    async fn verify(&self, plan: &Plan, _effect: &Effect, looking: Looking<'_>) -> Verdict {
        let args = Arguments::checked(plan.arguments.clone());
        let until = Instant::now() + SHOWS_WITHIN;
        loop {
            let over = looking.cancel.is_cancelled() || Instant::now() >= until;
            match self.is_so(&args).await {
                Ok((true, facts)) => {
                    let because = "the probe of its definition holds".to_owned();
                    return Verdict { held: Held::Held, because, facts };
                }
                Ok((false, facts)) if over => {
                    let because = "the probe of its definition does not hold".to_owned();
                    return Verdict { held: Held::Failed, because, facts };
                }
                Err(error) if over => return super::file::cant_look(&error),
                Ok((false, _)) | Err(_) => {}
            }
            tokio::select! {
                () = looking.cancel.cancelled() => {}
                () = sleep(BETWEEN_LOOKS) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
