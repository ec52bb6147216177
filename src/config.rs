//! `warrant.toml`: read once, checked whole, every fault with its place.
//!
//! The parts own the types of their sections; this module puts them together and checks what spans several.

pub mod place;

pub mod ledger;

pub mod people;

pub mod commands;

pub mod serve;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warrant_kernel::domain::event::Budgets;
use warrant_kernel::domain::name::{PersonId, RoleName, ServiceName, SourceName, ToolName};
use warrant_kernel::domain::run::Writes;
use warrant_kernel::domain::time;
use warrant_kernel::people::{People, Person};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::catalog::service::Service;
use warrant_toolbox::catalog::source::{DirSource, FileSource, HttpSource, Sources};

use crate::alert::config::{LimitsSection, RouteSection};
use crate::chat::slack::config::Slack;
use crate::model::config::{ModelConfig, RUNBOOK};
use crate::telemetry::config::Telemetry;
use crate::web::config::WebConfig;

use commands::Shell;
use serve::Serve;

/// The roles that are built in.
pub const ROLES: [&str; 2] = ["explore", "general-purpose"];

/// Characters of conversation before older results shrink, where the config says nothing.
const CONTEXT_CHARS: usize = 240_000;

/// The file as it is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Document {
    metrics: BTreeMap<SourceName, HttpSource>,
    alertmanagers: BTreeMap<SourceName, HttpSource>,
    http: BTreeMap<SourceName, HttpSource>,
    logs: BTreeMap<SourceName, DirSource>,
    workspaces: BTreeMap<SourceName, DirSource>,
    repositories: BTreeMap<SourceName, DirSource>,
    deploys: BTreeMap<SourceName, FileSource>,
    services: BTreeMap<ServiceName, Service>,
    people: BTreeMap<PersonId, Person>,
    roles: BTreeMap<RoleName, RoleSection>,
    models: BTreeMap<String, ModelConfig>,
    investigation: InvestigationSection,
    store: StoreSection,
    ledger: ledger::Ledger,
    tools: Directories,
    policies: Directories,
    runbooks: Directories,
    redaction: RedactionSection,
    writes: WritesSection,
    commands: commands::Section,
    web: Option<WebConfig>,
    alerts: BTreeMap<String, RouteSection>,
    alerting: LimitsSection,
    slack: Option<Slack>,
    serve: serve::Section,
    telemetry: Option<Telemetry>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct InvestigationSection {
    models: Option<Vec<String>>,
    window: Option<String>,
    turns: Option<u32>,
    wall: Option<String>,
    tokens: Option<u64>,
    tokens_per_day: Option<u64>,
    cost: Option<f64>,
    calls_per_turn: Option<u32>,
    context_chars: Option<usize>,
}

/// A role of the operator's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleSection {
    tools: BTreeSet<ToolName>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StoreSection {
    path: Option<PathBuf>,
}

/// A section that names directories of more files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Directories {
    dirs: Vec<PathBuf>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RedactionSection {
    secrets_env: Vec<String>,
    dirs: Vec<PathBuf>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WritesSection {
    allow: bool,
}

/// The checked config.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it was read from.
    pub path: PathBuf,
    /// Services and sources.
    pub catalog: Catalog,
    /// Who is who.
    pub people: People,
    /// Roles beside the built-in ones, with the tools that each sees.
    pub roles: BTreeMap<RoleName, BTreeSet<ToolName>>,
    /// Models by name.
    pub models: BTreeMap<String, ModelConfig>,
    /// The models in the order in which they are tried; the last is the built-in one unless the config leaves it out.
    pub model_order: Vec<String>,
    /// Limits of an investigation.
    pub budgets: Budgets,
    /// Tokens of all investigations of a day (UTC), if there is a limit; then only the built-in model is asked.
    pub tokens_per_day: Option<u64>,
    /// How far an investigation looks back unless it is told.
    pub window: jiff::SignedDuration,
    /// The store's file.
    pub store: PathBuf,
    /// Where the ledger's key lies and its checkpoints go.
    pub ledger: ledger::Ledger,
    /// Directories of operators' tool definitions.
    pub tool_dirs: Vec<PathBuf>,
    /// Directories of operators' policies.
    pub policy_dirs: Vec<PathBuf>,
    /// Directories of operators' runbooks.
    pub runbook_dirs: Vec<PathBuf>,
    /// Environment variables whose values are never shown.
    pub secrets_env: Vec<String>,
    /// Directories of operators' redaction rules.
    pub rule_dirs: Vec<PathBuf>,
    /// Whether every investigation may ask for writes.
    pub writes: Writes,
    /// Whether programs are run that only look.
    pub shell: Shell,
    /// Directories of operators' grammars of commands.
    pub command_dirs: Vec<PathBuf>,
    /// What `warrant serve` serves.
    pub serve: Serve,
    /// Where spans of investigations go, if anywhere.
    pub telemetry: Option<Telemetry>,
}

/// What is wrong with the config.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error("can't read the config `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is none.
    #[error("there is no config; looked for {}\n`warrant init` writes a first one; or name one with --config", listed(.0))]
    Missing(Vec<PathBuf>),
    /// It is no TOML, or has a field that nobody knows.
    #[error("{}:{line}: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Its parts do not fit together.
    #[error("{}: {}", path.display(), problems.join("\n  "))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// All that is wrong.
        problems: Vec<String>,
    },
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl Config {
    /// Reads and checks the config at `path`.
    ///
    /// # Errors
    /// [`ConfigError`]: all faults of one kind at once.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// Checks the text of a config.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let document: Document = toml::from_str(text).map_err(|error| ConfigError::Parse {
            path: path.to_owned(),
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        document.check(path).map_err(|problems| ConfigError::Invalid { path: path.to_owned(), problems })
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

impl Document {
    fn check(self, path: &Path) -> Result<Config, Vec<String>> {
        let mut problems = Vec::new();
        self.check_paths(&mut problems);
        self.check_roles(&mut problems);
        self.ledger.check(&mut problems);
        self.telemetry.iter().for_each(|telemetry| telemetry.check(&mut problems));
        let model_order = self.model_order(&mut problems);
        let budgets = self.investigation.budgets(&mut problems);
        if budgets.cost.is_some() {
            let unpriced = |name: &&String| self.models.get(*name).is_some_and(|model| model.prices.is_none());
            problems.extend(model_order.iter().filter(unpriced).map(|name| {
                format!("`investigation.cost` is set, but `[models.{name}]` has no `prices` to reckon with")
            }));
        }
        let at_once = self.serve.check(&mut problems);
        let window = duration("investigation.window", self.investigation.window.as_deref(), "1h", &mut problems);
        let sources = Sources {
            metrics: self.metrics,
            alertmanagers: self.alertmanagers,
            http: self.http,
            logs: self.logs,
            workspaces: self.workspaces,
            repositories: self.repositories,
            deploys: self.deploys,
        };
        let catalog = Catalog::new(self.services, sources)
            .map_err(|errors| problems.extend(errors.iter().map(ToString::to_string)))
            .unwrap_or_default();
        let people = People::new(self.people).map_err(|error| problems.push(error.to_string())).unwrap_or_default();
        let store = self.store.path.or_else(place::default_store);
        let Some(store) = store else {
            problems.push("`store.path` is not set, and there is no home directory to put the store in".to_owned());
            return Err(problems);
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Config {
            path: path.to_owned(),
            catalog,
            people,
            roles: self.roles.into_iter().map(|(name, role)| (name, role.tools)).collect(),
            models: self.models,
            model_order,
            budgets,
            tokens_per_day: self.investigation.tokens_per_day,
            window,
            store,
            ledger: self.ledger,
            tool_dirs: self.tools.dirs,
            policy_dirs: self.policies.dirs,
            runbook_dirs: self.runbooks.dirs,
            secrets_env: self.redaction.secrets_env,
            rule_dirs: self.redaction.dirs,
            writes: if self.writes.allow { Writes::Allowed } else { Writes::Off },
            shell: self.commands.shell(),
            command_dirs: self.commands.dirs,
            serve: Serve {
                web: self.web.unwrap_or_else(WebConfig::standard),
                alerts: self.alerts,
                alerting: self.alerting,
                slack: self.slack,
                at_once,
            },
            telemetry: self.telemetry,
        })
    }

    fn check_roles(&self, problems: &mut Vec<String>) {
        for (name, role) in &self.roles {
            if ROLES.contains(&name.as_str()) {
                problems.push(format!("`[roles.{name}]`: `{name}` is built in; choose another name"));
            }
            if role.tools.is_empty() {
                problems.push(format!("`[roles.{name}]`: `tools` is empty; name the tools that it sees"));
            }
        }
    }

    fn check_paths(&self, problems: &mut Vec<String>) {
        let dirs = [("logs", &self.logs), ("workspaces", &self.workspaces), ("repositories", &self.repositories)];
        let sources = dirs
            .into_iter()
            .flat_map(|(kind, map)| map.iter().map(move |(name, source)| (format!("{kind}.{name}.dir"), &source.dir)));
        let files = self.deploys.iter().map(|(name, source)| (format!("deploys.{name}.file"), &source.file));
        let sections = [
            ("tools", &self.tools.dirs),
            ("policies", &self.policies.dirs),
            ("runbooks", &self.runbooks.dirs),
            ("redaction", &self.redaction.dirs),
            ("commands", &self.commands.dirs),
        ];
        let more =
            sections.into_iter().flat_map(|(kind, dirs)| dirs.iter().map(move |dir| (format!("{kind}.dirs"), dir)));
        let store = self.store.path.iter().map(|path| ("store.path".to_owned(), path));
        for (key, path) in sources.chain(files).chain(more).chain(store) {
            if !path.is_absolute() {
                problems.push(format!("`{key}` is `{}`; write an absolute path", path.display()));
            }
        }
    }

    /// The models in their order: as the config says, or else all of them by name; the built-in one is always last.
    fn model_order(&self, problems: &mut Vec<String>) -> Vec<String> {
        let named = self.investigation.models.clone();
        let order = named.unwrap_or_else(|| self.models.keys().cloned().chain([RUNBOOK.to_owned()]).collect());
        let mut seen = BTreeSet::new();
        for name in &order {
            if name != RUNBOOK && !self.models.contains_key(name) {
                problems.push(format!("`investigation.models` names `{name}`, but there is no `[models.{name}]`"));
            }
            if !seen.insert(name) {
                problems.push(format!("`investigation.models` names `{name}` twice"));
            }
        }
        if order.is_empty() {
            problems.push("`investigation.models` is empty; leave it out for the built-in `runbook`".to_owned());
        }
        order
    }
}

impl InvestigationSection {
    fn budgets(&self, problems: &mut Vec<String>) -> Budgets {
        let wall = duration("investigation.wall", self.wall.as_deref(), "15m", problems);
        let budgets = Budgets {
            turns: self.turns.unwrap_or(24),
            wall_s: u64::try_from(wall.as_secs()).unwrap_or(0),
            tokens: self.tokens.unwrap_or(1_000_000),
            cost: self.cost,
            calls_per_turn: self.calls_per_turn.unwrap_or(16),
            context_chars: self.context_chars.unwrap_or(CONTEXT_CHARS),
        };
        let least = [
            ("turns", u64::from(budgets.turns), 3),
            ("calls_per_turn", u64::from(budgets.calls_per_turn), 1),
            ("tokens", budgets.tokens, 1_000),
            ("wall", budgets.wall_s, 5),
            ("context_chars", u64::try_from(budgets.context_chars).unwrap_or(u64::MAX), 20_000),
        ];
        for (key, value, least) in least {
            if value < least {
                problems.push(format!("`investigation.{key}` is {value}; it must be at least {least}"));
            }
        }
        if self.cost.is_some_and(|cost| !(cost.is_finite() && cost > 0.0)) {
            problems.push("`investigation.cost` must be a positive number".to_owned());
        }
        budgets
    }
}

fn duration(key: &str, text: Option<&str>, default: &str, problems: &mut Vec<String>) -> jiff::SignedDuration {
    time::parse_duration(text.unwrap_or(default)).unwrap_or_else(|error| {
        problems.push(format!("`{key}`: {error}"));
        // The default stands in, so that what is wrong is told once.
        time::parse_duration(default).unwrap_or_default()
    })
}
