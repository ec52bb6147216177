//! `run = http`: a read tool that an operator defines as data.
//!
//! Path and query come from a template whose parts are checked when the definition is loaded; what a call
//! puts into them is encoded, so an argument can't leave its segment or its parameter.

pub(in crate::tools) mod template;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::ToolName;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::tool::{HttpMethod, HttpRun, TargetSpec, ToolDefinition, ToolRun};
use warrant_kernel::redact::guard::first_chars;

use super::metrics_source::{Servers, target, unfit, unknown, unless_cancelled};
use crate::catalog::Catalog;
use crate::tools::sources::http::HttpClient;
use crate::tools::sources::http::clients::HttpClients;
use template::Template;

/// A definition that can't be carried out over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}`: {why}")]
pub struct HttpToolProblem {
    /// The tool.
    pub tool: ToolName,
    /// What is wrong and what would do.
    pub why: String,
}

/// The tool that `definition` describes.
///
/// # Errors
/// Everything in its `run.http` that leads nowhere or that an argument could break out of.
pub fn http_tool(
    definition: &ToolDefinition,
    catalog: Arc<Catalog>,
    clients: Arc<HttpClients>,
) -> Result<Arc<dyn ReadTool>, Vec<HttpToolProblem>> {
    let problem = |why: String| HttpToolProblem { tool: definition.name.clone(), why };
    let ToolRun::Http(run) = &definition.run else {
        return Err(vec![problem("`run` is not `http`".to_owned())]);
    };
    let client = clients.http().get(&run.source).cloned().ok_or_else(|| {
        let names = clients.http().keys().map(warrant_kernel::domain::name::SourceName::as_str);
        problem(format!("`run.http.source`: {}", unknown("`[http.NAME]` source", run.source.as_str(), names)))
    });
    let template = Template::of(&run.path, &run.query, &definition.args);
    let pointed = if run.pointer.is_empty() || run.pointer.starts_with('/') {
        Ok(())
    } else {
        Err(problem(format!("`run.http.pointer`: `{}` is no JSON pointer; begin with `/`", run.pointer)))
    };
    match (client, template, pointed) {
        (Ok(client), Ok(template), Ok(())) => Ok(Arc::new(HttpTool {
            servers: Servers { catalog, clients },
            client,
            template,
            run: run.as_ref().clone(),
            target: definition.target.clone(),
        })),
        (client, template, pointed) => {
            let whys = template.err().unwrap_or_default().into_iter().map(problem);
            Err(client.err().into_iter().chain(whys).chain(pointed.err()).collect())
        }
    }
}

struct HttpTool {
    servers: Servers,
    client: Arc<HttpClient>,
    template: Template,
    run: HttpRun,
    target: TargetSpec,
}

#[async_trait]
impl ReadTool for HttpTool {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let filled = self.template.fill(args);
        let service = self.servers.service(args);
        match (filled, service) {
            (Ok(_), Ok(service)) => {
                let of_service = self.target.kind == TargetKind::Service;
                let mut resolved = target(service.filter(|_| of_service), self.client.name());
                if let Some(name) = self.target.arg.as_deref().and_then(|arg| args.text(arg)) {
                    resolved.kind = self.target.kind;
                    name.clone_into(&mut resolved.name);
                }
                Ok(resolved)
            }
            (filled, service) => Err(filled.err().unwrap_or_default().into_iter().chain(service.err()).collect()),
        }
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let filled = self.template.fill(args).map_err(|problems| {
            let message = problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ");
            unfit(Problem { pointer: String::new(), message })
        })?;
        let path: Vec<&str> = filled.path.iter().map(String::as_str).collect();
        let query: Vec<(&str, &str)> =
            filled.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = unless_cancelled(reading.cancel, async {
            match self.run.method {
                HttpMethod::Get => self.client.get(&path, &query).await,
                HttpMethod::Post => self.client.post(&path, &query).await,
                HttpMethod::Put | HttpMethod::Delete => Err(unfit(Problem {
                    pointer: String::new(),
                    message: format!("{} is no read", self.run.method.as_str()),
                })),
            }
        });
        let body: Value = answer.await?.good()?.json()?;
        self.output(body)
    }
}

impl HttpTool {
    fn output(&self, mut body: Value) -> Result<Output, ReadError> {
        let keys = shape(&body);
        let found = body.pointer_mut(&self.run.pointer).map(Value::take).ok_or_else(|| ReadError::Backend {
            reason: "POINTER_MISSING",
            message: format!("`{}` answered without `{}`; the answer is {keys}", self.run.source, self.run.pointer),
            retryable: false,
        })?;
        let rows = match found {
            Value::Array(rows) => rows,
            Value::Null => Vec::new(),
            single @ (Value::Object(_) | Value::String(_) | Value::Number(_) | Value::Bool(_)) => vec![single],
        };
        let mut summary = Map::new();
        summary.insert("source".to_owned(), Value::from(self.run.source.as_str()));
        summary.insert("rows".to_owned(), Value::from(rows.len()));
        Ok(Output::items(Origin::Http, summary, "rows", rows))
    }
}

/// What an answer looks like from above.
fn shape(body: &Value) -> String {
    match body {
        Value::Object(fields) => {
            let keys: Vec<&str> = fields.keys().take(10).map(|key| first_chars(key, 40)).collect();
            format!("an object with the keys `{}`", keys.join("`, `"))
        }
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "neither object nor array".to_owned(),
    }
}
