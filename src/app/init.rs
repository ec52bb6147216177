//! `warrant init`: a first config, from what somebody says and what is there.
//!
//! What it writes has been loaded as every other command loads it. A file that is there stays, unless it is to be replaced.

mod look;

pub mod ask;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warrant_kernel::domain::name::ServiceName;

use super::fault::Fault;
use super::{App, environment};
use crate::config::Config;
use crate::model::config::Provider;

pub use look::{Look, look};

/// What shall be in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The URL of a Prometheus.
    pub prometheus: Option<String>,
    /// The URL of an Alertmanager.
    pub alertmanager: Option<String>,
    /// The services.
    pub services: Vec<ServiceName>,
    /// Their log files.
    pub logs: Vec<Logs>,
    /// A model, beside the built-in one.
    pub model: Option<(Provider, String)>,
}

/// Log files of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// Whose.
    pub service: ServiceName,
    /// Where: an absolute path whose last part may hold `*`.
    pub file: PathBuf,
}

impl Logs {
    /// From `SERVICE=PATH`; the service may be left out where there is one only.
    ///
    /// # Errors
    /// [`Fault::Usage`].
    pub fn of(text: &str, services: &[ServiceName]) -> Result<Self, Fault> {
        let (service, file) = match (text.split_once('='), services) {
            (Some((service, file)), _) => {
                let service = service.parse().map_err(|error| Fault::Usage(format!("--logs {text}: {error}")))?;
                (service, file)
            }
            (None, [only]) => (only.clone(), text),
            (None, _) => {
                return Err(Fault::Usage(format!(
                    "--logs {text}: say whose they are, as in checkout=/var/log/checkout.log"
                )));
            }
        };
        let file = PathBuf::from(file);
        if !file.is_absolute() || file.file_name().is_none() {
            return Err(Fault::Usage(format!(
                "--logs {text}: write an absolute path of files, as in /var/log/checkout/*.log"
            )));
        }
        Ok(Self { service, file })
    }
}

/// A model from `anthropic:MODEL` or `openai:MODEL`.
///
/// # Errors
/// [`Fault::Usage`].
pub fn model(text: &str) -> Result<(Provider, String), Fault> {
    let odd = || Fault::Usage(format!("--model {text}: write anthropic:MODEL or openai:MODEL"));
    let (provider, model) = text.split_once(':').filter(|(_, model)| !model.is_empty()).ok_or_else(odd)?;
    let provider = match provider {
        "anthropic" => Provider::Anthropic,
        "openai" => Provider::OpenAi,
        _ => return Err(odd()),
    };
    Ok((provider, model.to_owned()))
}

/// Whether a file that is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays.
    Stays,
    /// It is replaced.
    Replaced,
}

/// The config as text.
///
/// # Errors
/// [`Fault::Failed`] where it can't be put into TOML.
pub fn text(wanted: &Wanted, look: &Look) -> Result<String, Fault> {
    let mut document = json!({});
    if let Some(url) = &wanted.prometheus {
        put(&mut document, "metrics", json!({ "main": { "url": url } }));
    }
    if let Some(url) = &wanted.alertmanager {
        put(&mut document, "alertmanagers", json!({ "main": { "url": url } }));
    }
    let mut dirs: Vec<&Path> = wanted.logs.iter().filter_map(|logs| logs.file.parent()).collect();
    dirs.sort_unstable();
    dirs.dedup();
    let name_of = |dir: &Path| {
        let at = dirs.iter().position(|it| *it == dir).unwrap_or_default();
        if at == 0 { "files".to_owned() } else { format!("files-{}", at + 1) }
    };
    if !dirs.is_empty() {
        let sources = dirs.iter().map(|dir| (name_of(dir), json!({ "dir": dir })));
        put(&mut document, "logs", Value::Object(sources.collect()));
    }
    if let Some((provider, model)) = &wanted.model {
        put(&mut document, "models", json!({ "main": { "provider": provider, "model": model } }));
    }
    let services = wanted.services.iter().map(|name| {
        let mut service = json!({});
        let logs = wanted.logs.iter().filter(|logs| logs.service == *name);
        let logs: Vec<Value> = logs
            .filter_map(|logs| {
                let file = logs.file.file_name()?.to_str()?;
                Some(json!({ "source": name_of(logs.file.parent()?), "file": file }))
            })
            .collect();
        if !logs.is_empty() {
            put(&mut service, "logs", Value::Array(logs));
        }
        if let (Some(label), Some(_)) = (look.label_of(name), &wanted.prometheus) {
            put(&mut service, "metrics", json!({ "source": "main", "labels": { label: name } }));
        }
        if let Some(restart) = look.restart_of(name) {
            put(&mut service, "restart", restart.clone());
        }
        (name.to_string(), service)
    });
    put(&mut document, "services", Value::Object(services.collect()));
    let failed = |error: toml::ser::Error| Fault::Failed(format!("the config can't be written as TOML: {error}"));
    Ok(format!(
        "# Every key: docs/CONFIG.md. `warrant check` tries all of it.\n\n{}",
        toml::to_string(&document).map_err(failed)?
    ))
}

fn put(document: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = document {
        fields.insert(key.to_owned(), value);
    }
}

/// Writes a config that loads; nothing where it would not.
///
/// # Errors
/// [`Fault::Config`] with what is wrong with it; [`Fault::Usage`] where a file is there that stays.
pub fn write(path: &Path, text: &str, existing: Existing) -> Result<(), Fault> {
    let is_there = || {
        let path = path.display();
        Fault::Usage(format!(
            "`{path}` is there and stays; name another file with --config, or replace it with --force"
        ))
    };
    if existing == Existing::Stays && path.exists() {
        return Err(is_there());
    }
    App::open(Config::parse(path, text)?, &environment, None)?;
    let put = || -> std::io::Result<()> {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir)?;
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        match existing {
            // Whoever made it meanwhile keeps it.
            Existing::Stays => file.persist_noclobber(path).map_err(|error| error.error)?,
            Existing::Replaced => file.persist(path).map_err(|error| error.error)?,
        };
        std::fs::File::open(dir)?.sync_all()
    };
    put().map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => is_there(),
        _ => Fault::Failed(format!("can't write `{}`: {error}", path.display())),
    })
}

#[cfg(test)]
mod tests;
