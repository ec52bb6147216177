//! Puts the parts together: the only module that names them all.
//!
//! [`App::open`] builds from a checked config what every command needs, and nothing that only some do: the store and the
//! models are opened by the commands that use them.

pub mod builtin;

pub mod fault;

pub mod files;

pub mod ask;

pub mod tools;

pub mod runbooks;

pub mod investigations;

pub mod policy;

pub mod check;

pub mod audit;

pub mod writes;

mod sight;

mod equipment;

pub mod launcher;

mod shell;

mod redaction;

mod spans;

pub mod sequencer;

pub mod approvals;

pub mod serve;

pub mod print;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use warrant_kernel::call::definition::{DefinitionFile, Definitions, LoadContext, Standing};
use warrant_kernel::call::tool::Clock;
use warrant_kernel::db::Database;
use warrant_kernel::domain::name::{RoleName, SourceName, ToolName};
use warrant_kernel::domain::run::Requester;
use warrant_kernel::ledger::Random;
use warrant_kernel::people::User;
use warrant_kernel::redact::{KnownSecret, RedactionKey, Redactor};
use warrant_kernel::store::Store;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;
use warrant_toolbox::tools::process::users;
use warrant_toolbox::tools::sources::http::clients::HttpClients;
use warrant_toolbox::tools::workspace::Workspaces;
use warrant_toolbox::tools::workspace::belongs::Belongings;
use warrant_toolbox::tools::workspace::protected::OwnFiles;
use warrant_toolbox::tools::write::Hands;

use crate::agent::investigate::Bench;
use crate::agent::model::Model;
use crate::agent::scheduler::SourceLimits;
use crate::config::{Config, ROLES, place};
use crate::model::config::RUNBOOK;
use crate::model::fallback::List;
use crate::model::retry::system_jitter;
use crate::model::runbook::RunbookModel;
use crate::telemetry;
use crate::telemetry::spans::Spans;

use equipment::Equipment;
use fault::Fault;
use files::Found;
use shell::Shell;

/// The system's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the one clock; all others are handed it")]
        Timestamp::now()
    }
}

/// What every command starts from.
pub struct App {
    /// The checked config.
    pub config: Config,
    /// Tools, services, runbooks, policy.
    pub bench: Bench,
    /// Masks with the secrets of config and environment; each investigation takes it with a key of its own.
    pub redactor: Redactor,
    /// What the write tools work with.
    pub hands: Hands,
    /// The model, and those that stand in for it.
    pub model: Arc<dyn Model>,
    /// How many reads of each source may run at once, over all investigations.
    pub limits: Arc<SourceLimits>,
    /// Where words that nobody may guess come from.
    pub random: Random,
    /// The texts of the policies in force.
    pub policies: Vec<Found>,
    /// Runs commands, where it may and can.
    pub(in crate::app) shell: Shell,
    /// Makes spans of investigations, where the config names a collector.
    spans: Option<Arc<Spans>>,
    /// What is not as the config says and yet no reason not to start.
    pub warnings: Vec<String>,
}

/// Looks up an environment variable.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Begins our own log, once, before anything can go wrong.
pub fn begin_log() {
    telemetry::begin();
}

/// The environment of this process.
#[must_use]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl App {
    /// Reads the config, the one named or the first there is, and opens what it asks for; our own log is masked with its
    /// secrets from here on.
    ///
    /// # Errors
    /// Where no config is found, or with all that is wrong in it.
    pub fn begin(named: Option<PathBuf>, only_model: Option<&str>) -> Result<Self, Fault> {
        let config = Config::load(&place::find(named)?)?;
        let app = Self::open(config, &environment, only_model)?;
        telemetry::mask_with(app.redactor.clone());
        for warning in app.warnings.iter().chain(&app.shell.why_not) {
            tracing::warn!("{warning}");
        }
        Ok(app)
    }

    /// Builds everything that a config asks for.
    ///
    /// # Errors
    /// [`Fault::Config`] with all that is wrong, a line each.
    pub fn open(config: Config, env: Env<'_>, only_model: Option<&str>) -> Result<Self, Fault> {
        let mut problems = Vec::new();
        let catalog = Arc::new(config.catalog.clone());
        let clients = HttpClients::new(&catalog, env).unwrap_or_else(|errors| {
            problems.extend(errors.iter().map(ToString::to_string));
            HttpClients::default()
        });
        let clients = Arc::new(clients);
        let mut warnings = Vec::new();
        let workspaces = workspaces(&config, &mut warnings, &mut problems);
        let library = Arc::new(Library::load(builtin::RUNBOOKS, &config.runbook_dirs));
        problems.extend(library.problems().iter().map(ToString::to_string));
        let definitions = definitions(&config, &mut problems);
        let shell = Shell::open(&config, &mut problems);
        let hands =
            Hands { catalog: Arc::clone(&catalog), workspaces, clients: Arc::clone(&clients), kept: kept(&config) };
        let policies = policy::load::texts(&config, &mut problems);
        let policy = definitions
            .as_ref()
            .and_then(|definitions| policy::load::tested(&config, &policies, definitions, &mut problems))
            .map(Arc::new);
        let registry = definitions.and_then(|mut definitions| {
            shell.leave_out(&mut definitions);
            let parts = Equipment { hands: &hands, library: &library, shell: &shell, policy: policy.as_ref() };
            parts.registry(definitions, &mut problems)
        });
        let (model, mut secrets) = model(&config, &catalog, &library, env, only_model, &mut problems);
        secrets.extend(clients.secrets().into_iter().map(|secret| KnownSecret::new("source_credential", secret)));
        for name in &config.secrets_env {
            match env(name) {
                Some(value) => secrets.push(KnownSecret::new(name, value)),
                None => problems.push(format!("`redaction.secrets_env`: `{name}` is not set in the environment")),
            }
        }
        // Where one is not set, serving says so; everything else goes on without.
        let of_serving = config.serve.secrets(env);
        secrets.extend(of_serving.into_iter().map(|(name, secret)| KnownSecret::new(&name, secret)));
        let telemetry = spans::settings(&config, env, &mut problems);
        let of_telemetry = telemetry.iter().flat_map(|(_, secrets)| secrets);
        secrets.extend(of_telemetry.map(|secret| KnownSecret::new("telemetry_header", secret.clone())));
        let rules = redaction::rules(&config, &mut problems);
        let redactor = RedactionKey::random().and_then(|key| Redactor::with_rules(key, secrets, rules));
        let redactor = redactor.map_err(|error| problems.push(error.to_string())).ok();
        match (registry, policy, redactor, model) {
            (Some(registry), Some(policy), Some(redactor), Some(model)) if problems.is_empty() => {
                let limits = Arc::new(limits(&catalog));
                let bench = Bench { registry: Arc::new(registry), catalog, library, policy };
                let random: Random = Arc::new(getrandom::fill);
                let spans = telemetry.map(|(settings, _)| {
                    let tools = bench.registry.iter().map(|tool| tool.about().name.to_string()).collect();
                    spans::spans(&config, settings, &redactor, tools)
                });
                Ok(Self { config, bench, redactor, hands, model, limits, random, policies, shell, spans, warnings })
            }
            _ => Err(Fault::Config { path: config.path, problems }),
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// [`Fault::Store`].
    pub async fn store(&self) -> Result<Store, Fault> {
        Ok(Store::new(Database::open(&self.config.store).await.map_err(Fault::Database)?))
    }

    /// The built-in model, which costs nothing.
    #[must_use]
    pub fn runbook_model(&self) -> Arc<dyn Model> {
        Arc::new(RunbookModel::new(Arc::clone(&self.bench.catalog), Arc::clone(&self.bench.library)))
    }

    /// The person at this terminal.
    ///
    /// # Errors
    /// [`Fault::Usage`] where their user name can't be a person's.
    pub async fn requester(&self) -> Result<Requester, Fault> {
        let uid = users::current();
        let name = users::name(uid).await;
        let user = User { uid, name: name.as_deref() };
        self.config.people.requester(user).map_err(|error| Fault::Usage(error.to_string()))
    }

    /// A role by its name.
    ///
    /// # Errors
    /// [`Fault::Usage`] for any other.
    pub fn role(&self, name: &str) -> Result<RoleName, Fault> {
        let roles = roles(&self.config);
        let known = roles.iter().find(|role| role.as_str() == name).cloned();
        let names: Vec<&str> = roles.iter().map(RoleName::as_str).collect();
        known.ok_or_else(|| Fault::Usage(format!("there is no role `{name}`; there are: {}", names.join(", "))))
    }
}

/// How many reads of each source may run at once.
fn limits(catalog: &Catalog) -> SourceLimits {
    let sources = catalog.sources();
    let servers = [&sources.metrics, &sources.alertmanagers, &sources.http];
    let limits = servers.into_iter().flatten().map(|(name, source)| (name.clone(), source.concurrency));
    SourceLimits::new(limits.collect())
}

fn roles(config: &Config) -> BTreeSet<RoleName> {
    ROLES.iter().filter_map(|name| name.parse().ok()).chain(config.roles.keys().cloned()).collect()
}

/// The roots there are. One that is missing is a source that is down: its tools say so, and all others work.
fn workspaces(config: &Config, warnings: &mut Vec<String>, problems: &mut Vec<String>) -> Arc<Workspaces> {
    let dirs =
        config.policy_dirs.iter().chain(&config.tool_dirs).chain(&config.runbook_dirs).chain(&config.command_dirs);
    // The config, the store and whatever else is Warrant's own: no tool reads them.
    let (kept, key) = (kept(config), config.ledger.key(&config.store));
    let own = [&config.path, &config.store, &kept, &key].into_iter().chain(&config.ledger.publish_dir).chain(dirs);
    let own: Vec<PathBuf> = own.cloned().collect();
    let belongings = Belongings::of(&config.catalog).unwrap_or_else(|errors| {
        problems.extend(errors.iter().map(ToString::to_string));
        Belongings::default()
    });
    let sources = &config.catalog.sources().workspaces;
    let (opened, errors) = Workspaces::open_for(sources, OwnFiles::new(own), belongings);
    warnings.extend(errors.iter().map(ToString::to_string));
    Arc::new(opened)
}

/// Where what edits replaced is kept: a directory beside the store.
fn kept(config: &Config) -> PathBuf {
    let mut beside = config.store.as_os_str().to_owned();
    beside.push(".kept");
    PathBuf::from(beside)
}

fn definitions(config: &Config, problems: &mut Vec<String>) -> Option<Definitions> {
    let found = files::read(&config.tool_dirs, "toml", builtin::TOOLS, problems);
    let http_sources: BTreeSet<SourceName> = config.catalog.sources().http.keys().cloned().collect();
    let context = LoadContext { http_sources: &http_sources, roles: &roles(config) };
    let files = found.iter().map(|file| DefinitionFile {
        name: &file.name,
        text: &file.text,
        standing: if file.is_builtin { Standing::BuiltIn } else { Standing::Operator },
    });
    let loaded = Definitions::load(files, &context);
    let mut definitions = loaded.map_err(|errors| problems.extend(errors.iter().map(ToString::to_string))).ok()?;
    for (role, tools) in &config.roles {
        if let Err(missing) = definitions.grant(role, tools) {
            let missing: Vec<&str> = missing.iter().map(ToolName::as_str).collect();
            problems.push(format!("`[roles.{role}]`: there is no tool `{}`", missing.join("`, `")));
        }
    }
    Some(definitions)
}

/// The models in their order, and their keys.
fn model(
    config: &Config,
    catalog: &Arc<Catalog>,
    library: &Arc<Library>,
    env: Env<'_>,
    only: Option<&str>,
    problems: &mut Vec<String>,
) -> (Option<Arc<dyn Model>>, Vec<KnownSecret>) {
    let mut secrets = Vec::new();
    let mut models: Vec<Arc<dyn Model>> = Vec::new();
    let order: Vec<&str> = match only {
        Some(only) => vec![only],
        None => config.model_order.iter().map(String::as_str).collect(),
    };
    for name in order {
        if name == RUNBOOK {
            models.push(Arc::new(RunbookModel::new(Arc::clone(catalog), Arc::clone(library))));
            continue;
        }
        let Some(section) = config.models.get(name) else {
            let known: Vec<&str> = config.models.keys().map(String::as_str).chain([RUNBOOK]).collect();
            problems.push(format!("there is no model `{name}`; there are: {}", known.join(", ")));
            continue;
        };
        match crate::model::config::build(name, section, env, system_jitter()) {
            Ok(built) => {
                let label = format!("{name}_api_key");
                secrets.extend(built.secrets.into_iter().map(|secret| KnownSecret::new(&label, secret)));
                models.push(built.model);
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    if models.len() < 2 {
        return (models.pop(), secrets);
    }
    let first = models.remove(0);
    (Some(Arc::new(List::new(first, models))), secrets)
}
