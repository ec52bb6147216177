//! `warrant catalog import`: services of other catalogs as `[services.NAME]` of the config.
//!
//! Nothing is written before the whole of it, with what is there, is a config that loads.

mod paths;

mod file;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use serde::Serialize;
use toml::Value;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::{Environment, ServiceName, SourceName};
use warrant_toolbox::catalog::import::{Imported, LeftOut, backstage, labels};
use warrant_toolbox::tools::sources::prometheus::Prometheus;
use warrant_toolbox::tools::sources::prometheus::selector::is_label;

use super::fault::{Fault, told};
use super::{App, SystemClock, files};
use crate::config::{Config, ConfigError, place};

/// The labels whose values are services, where none is named.
const LABELS: [&str; 2] = ["service", "job"];

/// How far back values of labels are looked for.
const BACK: SignedDuration = SignedDuration::from_hours(1);

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Brought {
    /// The services as TOML.
    pub toml: String,
    /// Their names.
    pub services: Vec<ServiceName>,
    /// What was not taken over.
    pub left_out: Vec<LeftOut>,
    /// The file to which they were added, if one was named.
    pub added_to: Option<PathBuf>,
}

/// The config that there may be.
enum Around {
    /// One that loads, with its text.
    Config(Box<Config>, String),
    /// None.
    Nothing,
}

impl Around {
    fn of(named: Option<PathBuf>) -> Result<Self, Fault> {
        match place::find(named) {
            Ok(path) => Self::at(&path),
            Err(ConfigError::Missing(_)) => Ok(Self::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    fn at(path: &Path) -> Result<Self, Fault> {
        let text = files::text(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Ok(Self::Config(Box::new(Config::parse(path, &text)?), text))
    }

    fn known(&self) -> BTreeSet<ServiceName> {
        match self {
            Self::Config(config, _) => config.catalog.services().keys().cloned().collect(),
            Self::Nothing => BTreeSet::new(),
        }
    }
}

/// Imports from files of Backstage; directories are searched for `catalog-info.yaml`.
///
/// # Errors
/// [`Fault::Usage`] with all that is wrong with the files; then nothing was imported.
pub fn backstage(
    named: Option<PathBuf>,
    from: &[PathBuf],
    environment: Option<&str>,
    into: Option<&Path>,
) -> Result<Brought, Fault> {
    let environment: Option<Environment> =
        environment.map(str::parse).transpose().map_err(|error| Fault::Usage(format!("--environment: {error}")))?;
    let around = match into {
        Some(into) => Around::at(into)?,
        None => Around::of(named)?,
    };
    let texts = paths::read(from).map_err(|problems| Fault::Usage(problems.join("\n  ")))?;
    let files: Vec<backstage::File<'_>> =
        texts.iter().map(|file| backstage::File { name: &file.name, text: &file.text }).collect();
    let imported = backstage::services(&files, &around.known(), environment.as_ref())
        .map_err(|problems| Fault::Usage(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")))?;
    brought(imported, &around, into)
}

/// Imports the values of labels of a `[metrics.NAME]` of the config.
///
/// # Errors
/// [`Fault::Usage`] for a source or label that there is not; [`Fault::Failed`] where the server does not answer.
pub async fn prometheus(app: &App, source: &str, from: &[String], into: Option<&Path>) -> Result<Brought, Fault> {
    let servers = app.hands.clients.metrics();
    let known: Vec<&str> = servers.keys().map(SourceName::as_str).collect();
    let no_source = || Fault::Usage(format!("there is no `[metrics.{source}]`; there are: {}", known.join(", ")));
    let source: SourceName = source.parse().map_err(|_| no_source())?;
    let server = servers.get(&source).ok_or_else(no_source)?;
    let from: Vec<String> = if from.is_empty() { LABELS.map(str::to_owned).to_vec() } else { from.to_vec() };
    let around = Around::at(into.unwrap_or(&app.config.path))?;
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for label in from {
        if !is_label(&label) {
            return Err(Fault::Usage(format!("--label: `{label}` is no name of a label, as `service` and `job` are")));
        }
        let values = Prometheus(server).values(&label, SystemClock.now(), BACK).await;
        let told = values.map_err(|error| Fault::Failed(told(&error)))?;
        left_out.extend(told.warnings.into_iter().map(|why| LeftOut { what: format!("values of {label}"), why }));
        let mut plain = Vec::new();
        for value in told.data {
            // A value that would be masked elsewhere does not go into a file.
            match app.redactor.redact_text(&value) {
                Ok(masked) if masked.text == value => plain.push(value),
                Ok(masked) => left_out.push(LeftOut {
                    what: format!("{label}=\"{}\"", masked.text),
                    why: "it looks like a secret".to_owned(),
                }),
                Err(error) => return Err(Fault::Failed(error.to_string())),
            }
        }
        all.push((label, plain));
    }
    let mut imported = labels::services(&source, &all, &around.known());
    imported.left_out.extend(left_out);
    brought(imported, &around, into)
}

/// The services as a config has them, once that config is known to load.
fn brought(imported: Imported, around: &Around, into: Option<&Path>) -> Result<Brought, Fault> {
    let Imported { services, left_out } = imported;
    if services.is_empty() {
        let why: Vec<String> = left_out.iter().map(|it| format!("{}: {}", it.what, it.why)).collect();
        let why = if why.is_empty() { "nothing is there".to_owned() } else { why.join("\n  ") };
        return Err(Fault::Failed(format!("no service is taken over\n  {why}")));
    }
    let toml = written(&services)?;
    let (path, whole) = match around {
        Around::Config(config, text) => (config.path.clone(), joined(text, &toml)),
        Around::Nothing => (PathBuf::from("warrant.toml"), toml.clone()),
    };
    Config::parse(&path, &whole)?;
    let added_to = match (into, around) {
        (Some(into), Around::Config(_, before)) => Some(file::replace(into, before, &whole)?),
        (Some(_), Around::Nothing) | (None, _) => None,
    };
    Ok(Brought { toml, services: services.into_keys().collect(), left_out, added_to })
}

fn joined(before: &str, more: &str) -> String {
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{end}\n{more}")
}

/// `[services.NAME]` tables with what is stated in them, and nothing else.
fn written(services: &impl Serialize) -> Result<String, Fault> {
    let failed = |error: toml::ser::Error| Fault::Failed(format!("the services can't be written as TOML: {error}"));
    let stated = stated(Value::try_from(services).map_err(failed)?);
    let document = toml::Table::from_iter([("services".to_owned(), stated)]);
    toml::to_string(&document).map_err(failed)
}

/// Services without what is empty in them; one without anything stays, since its name is something.
fn stated(value: Value) -> Value {
    match value {
        Value::Table(services) => {
            Value::Table(services.into_iter().map(|(name, service)| (name, pruned(service))).collect())
        }
        other => other,
    }
}

/// A table without what is empty in it, however deep.
fn pruned(value: Value) -> Value {
    match value {
        Value::Table(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (name, pruned(field)));
            Value::Table(fields.filter(|(_, field)| !is_empty(field)).collect())
        }
        other => other,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Table(fields) => fields.is_empty(),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => false,
    }
}

#[cfg(test)]
mod tests;
