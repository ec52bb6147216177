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

pub mod catalog;

pub mod init;

mod sight;

mod equipment;

mod marks;

mod sets;

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
use warrant_kernel::call::tool::Clock;
use warrant_kernel::db::Database;
use warrant_kernel::domain::name::RoleName;
use warrant_kernel::domain::run::Requester;
use warrant_kernel::ledger::Random;
use warrant_kernel::people::User;
use warrant_kernel::redact::{KnownSecret, RedactionKey, Redactor};
use warrant_kernel::store::Store;
use warrant_toolbox::catalog::Catalog;
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
use crate::model::runbook::RunbookModel;
use crate::telemetry;
use crate::telemetry::spans::Spans;

use fault::Fault;
use files::Found;
use marks::Marks;
use sets::Ground;
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
    /// What the files from which tools, policies and runbooks were read looked like.
    pub(in crate::app) marks: Marks,
    /// Runs commands, where it may and can.
    pub(in crate::app) shell: Shell,
    /// Makes spans of investigations, where the config names a collector.
    spans: Option<Arc<Spans>>,
    /// The only model that is asked, where one was named.
    only_model: Option<String>,
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
        let shell = Shell::open(&config, &mut problems);
        let hands =
            Hands { catalog: Arc::clone(&catalog), workspaces, clients: Arc::clone(&clients), kept: kept(&config) };
        let sets = Ground { config: &config, hands: &hands, shell: &shell, env, only_model }.sets(&mut problems);
        let mut secrets = sets.as_ref().map(|sets| sets.secrets.clone()).unwrap_or_default();
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
        match (sets, redactor) {
            (Some(sets), Some(redactor)) if problems.is_empty() => {
                let spans = telemetry.map(|(settings, _)| {
                    let tools = sets.bench.registry.iter().map(|tool| tool.about().name.to_string()).collect();
                    spans::spans(&config, settings, &redactor, tools)
                });
                Ok(Self {
                    limits: Arc::new(limits(&catalog)),
                    bench: sets.bench,
                    redactor,
                    hands,
                    model: sets.model,
                    random: Arc::new(getrandom::fill),
                    policies: sets.policies,
                    marks: sets.marks,
                    shell,
                    spans,
                    only_model: only_model.map(str::to_owned),
                    warnings,
                    config,
                })
            }
            _ => Err(Fault::Config { path: config.path, problems }),
        }
    }

    /// The same with tools, policies and runbooks as their files say now. Config, secrets, redaction and commands stay as
    /// they were at the start, and so does what this one runs.
    ///
    /// # Errors
    /// [`Fault::Config`] with all that is wrong, a line each.
    pub fn renewed(&self, env: Env<'_>) -> Result<Self, Fault> {
        let mut problems = Vec::new();
        let only_model = self.only_model.as_deref();
        let ground = Ground { config: &self.config, hands: &self.hands, shell: &self.shell, env, only_model };
        match ground.sets(&mut problems) {
            Some(sets) if problems.is_empty() => Ok(Self {
                config: self.config.clone(),
                bench: sets.bench,
                redactor: self.redactor.clone(),
                hands: self.hands.clone(),
                model: sets.model,
                limits: Arc::clone(&self.limits),
                random: Arc::clone(&self.random),
                policies: sets.policies,
                marks: sets.marks,
                shell: self.shell.clone(),
                spans: self.spans.clone(),
                only_model: self.only_model.clone(),
                warnings: self.warnings.clone(),
            }),
            _ => Err(Fault::Config { path: self.config.path.clone(), problems }),
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
