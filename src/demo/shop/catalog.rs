//! The part of a Warrant configuration that describes the shop: its sources and services, as an operator would write them
//! for a shop of his own. Nothing in it depends on the fault.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use warrant_kernel::domain::name::{Environment, NameError, ServiceName, SourceName};
use warrant_toolbox::catalog::restart::Restart;
use warrant_toolbox::catalog::service::{LogFiles, RepoPaths, Service, WorkspaceFiles};
use warrant_toolbox::catalog::source::DirSource;

use crate::demo::fault::Source;
use crate::demo::part::spec::Role;

/// The workspace of the files of overrides.
const OVERRIDES: &str = "overrides";

/// Where the shop lies.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) logs: PathBuf,
    pub(super) config: PathBuf,
    /// The files of overrides.
    pub(super) overrides: PathBuf,
    /// Where services write their process ids.
    pub(super) run: PathBuf,
    pub(super) restart: Restarting,
    pub(super) ca_file: PathBuf,
    /// A directory that is not there, for sources that are taken down.
    pub(super) nowhere: PathBuf,
    pub(super) ports: BTreeMap<Role, u16>,
    /// The configuration file of each service, in the repository.
    pub(super) files: BTreeMap<Role, String>,
    pub(super) git: Git,
}

/// How services are restarted.
#[derive(Debug, Clone)]
pub(super) struct Restarting {
    /// This program.
    pub(super) exe: PathBuf,
    /// Where the shop listens.
    pub(super) socket: PathBuf,
}

/// Whether changes are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Git {
    Present,
    Missing,
}

#[derive(Serialize)]
struct Description {
    logs: BTreeMap<SourceName, DirSource>,
    workspaces: BTreeMap<SourceName, DirSource>,
    repositories: BTreeMap<SourceName, DirSource>,
    services: BTreeMap<ServiceName, Service>,
}

/// Why the description could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It cannot be written as TOML.
    #[error("writing the configuration of the shop")]
    Toml(#[from] toml::ser::Error),
}

/// The scheme that a service is reached by.
pub(super) fn scheme(role: Role) -> &'static str {
    match role {
        Role::Payments => "https",
        Role::Gateway | Role::Checkout | Role::Store => "http",
    }
}

/// The file of overrides of a service, beneath their directory.
pub(super) fn overrides(role: Role) -> String {
    format!("{role}.toml")
}

/// The file with the process id of a service.
pub(super) fn pid_file(run: &Path, role: Role) -> PathBuf {
    run.join(format!("{role}.pid"))
}

fn restart_command(restart: &Restarting, role: Role) -> Vec<String> {
    let words = [
        restart.exe.display().to_string(),
        "shop-restart".to_owned(),
        "--socket".to_owned(),
        restart.socket.display().to_string(),
        role.as_str().to_owned(),
    ];
    words.to_vec()
}

/// The configuration as TOML. What is in `down` leads nowhere.
pub(super) fn describe(places: &Places, down: &BTreeSet<Source>) -> Result<String, DescribeError> {
    let shop: SourceName = "shop".parse()?;
    let config: SourceName = "config".parse()?;
    let dir = |source, dir: &Path| {
        let dir = if down.contains(&source) {
            places.nowhere.join(dir.file_name().unwrap_or_default())
        } else {
            dir.to_owned()
        };
        DirSource { dir }
    };
    let repositories = match places.git {
        Git::Present => BTreeMap::from([(config.clone(), dir(Source::Changes, &places.config))]),
        Git::Missing => BTreeMap::new(),
    };
    let mut services = BTreeMap::new();
    for role in Role::ALL {
        services.insert(role.as_str().parse()?, service(places, role, &shop, &config, down)?);
    }
    let description = Description {
        logs: BTreeMap::from([(shop.clone(), dir(Source::Logs, &places.logs))]),
        workspaces: BTreeMap::from([
            (shop, dir(Source::Changes, &places.config)),
            (OVERRIDES.parse()?, DirSource { dir: places.overrides.clone() }),
        ]),
        repositories,
        services,
    };
    Ok(toml::to_string(&description)?)
}

fn service(
    places: &Places,
    role: Role,
    shop: &SourceName,
    config: &SourceName,
    down: &BTreeSet<Source>,
) -> Result<Service, NameError> {
    let port = places.ports.get(&role).copied().unwrap_or(9);
    // Nobody listens on the discard port of a loopback interface.
    let metrics_port = if down.contains(&Source::Metrics) { 9 } else { port };
    let scheme = scheme(role);
    let file = places.files.get(&role).cloned().unwrap_or_default();
    let environment: Environment = "demo".parse()?;
    Ok(Service {
        description: description(role).to_owned(),
        environment: Some(environment),
        owner: None,
        team: None,
        links: Vec::new(),
        depends_on: role.depends_on().iter().map(|other| other.as_str().parse()).collect::<Result<_, _>>()?,
        logs: vec![LogFiles { source: shop.clone(), file: format!("{role}/app.log") }],
        metrics: None,
        metrics_url: Some(format!("{scheme}://127.0.0.1:{metrics_port}/metrics")),
        health: vec![format!("{scheme}://127.0.0.1:{port}/healthz")],
        files: vec![WorkspaceFiles { workspace: shop.clone(), path: file.clone() }],
        validate: Vec::new(),
        restart: Some(Restart::Command {
            argv: restart_command(&places.restart, role),
            pid_file: pid_file(&places.run, role),
        }),
        temp_files: vec![WorkspaceFiles { workspace: OVERRIDES.parse()?, path: overrides(role) }],
        changes: match places.git {
            Git::Present => vec![RepoPaths { repository: config.clone(), paths: vec![file] }],
            Git::Missing => Vec::new(),
        },
        deploys: Vec::new(),
        ca_file: (scheme == "https").then(|| places.ca_file.clone()),
        addresses: Vec::new(),
    })
}

fn description(role: Role) -> &'static str {
    match role {
        Role::Gateway => "What customers talk to: passes orders and carts on to checkout.",
        Role::Checkout => "Takes orders: writes them to the store and has payments charge the card.",
        Role::Payments => "Charges cards through an outside card processor and writes payments to the store.",
        Role::Store => "Keeps orders and payments on disk.",
    }
}
