//! What the config says of one service.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warrant_kernel::domain::name::{Environment, PersonId, ServiceName, SourceName};

use super::link::Link;
use super::network::Network;
use super::restart::Restart;

/// One service: `[services.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// One sentence for people and the model.
    #[serde(default)]
    pub description: String,
    /// Where it runs.
    #[serde(default)]
    pub environment: Option<Environment>,
    /// Who owns it.
    #[serde(default)]
    pub owner: Option<PersonId>,
    /// The group that owns it, as policies and Slack name groups.
    #[serde(default)]
    pub team: Option<String>,
    /// Pages about it, for people.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Services that it calls.
    #[serde(default)]
    pub depends_on: Vec<ServiceName>,
    /// Its log files.
    #[serde(default)]
    pub logs: Vec<LogFiles>,
    /// Its series in a metrics server.
    #[serde(default)]
    pub metrics: Option<Series>,
    /// Its own `/metrics` page in the Prometheus text format.
    #[serde(default)]
    pub metrics_url: Option<String>,
    /// URLs that answer 2xx when it is well.
    #[serde(default)]
    pub health: Vec<String>,
    /// Its configuration and other files, beneath workspace roots.
    #[serde(default)]
    pub files: Vec<WorkspaceFiles>,
    /// Overrides that its owner calls safe to change and that a restart discards; `edit_temp_config` changes these alone.
    #[serde(default)]
    pub temp_files: Vec<WorkspaceFiles>,
    /// Programs that say whether a changed file is good.
    #[serde(default)]
    pub validate: Vec<Validator>,
    /// How it is restarted; without it, it isn't.
    #[serde(default)]
    pub restart: Option<Restart>,
    /// Where its changes are committed.
    #[serde(default)]
    pub changes: Vec<RepoPaths>,
    /// Deploy logs that name it.
    #[serde(default)]
    pub deploys: Vec<SourceName>,
    /// A CA file (PEM) to trust for `health` and `metrics_url` beside the system's.
    #[serde(default)]
    pub ca_file: Option<std::path::PathBuf>,
    /// Loopback and private networks that the hosts of `health` and `metrics_url` may be in, where their names alone do
    /// not say so.
    #[serde(default)]
    pub addresses: Vec<Network>,
}

/// Log files of a service beneath a `[logs.NAME]` directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogFiles {
    /// The `[logs.NAME]` section.
    pub source: SourceName,
    /// A path beneath its directory, `checkout/app.log`; `*` stands for any part of a file name. Rotated
    /// neighbours (`app.log.1`, `.gz`, `.zst`, dated) belong to it.
    pub file: String,
}

/// Series of a service in a `[metrics.NAME]` server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The `[metrics.NAME]` section.
    pub source: SourceName,
    /// Labels that select the service's series.
    pub labels: BTreeMap<String, String>,
    /// Its main signals by name: `PromQL` queries that the opening sweep looks at.
    #[serde(default)]
    pub signals: BTreeMap<String, String>,
}

/// Files of a service beneath a `[workspaces.NAME]` root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceFiles {
    /// The `[workspaces.NAME]` section.
    pub workspace: SourceName,
    /// A path beneath its root; a directory stands for all beneath it.
    pub path: String,
}

/// A program that says whether a file is good, by ending with 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validator {
    /// The `[workspaces.NAME]` section.
    pub workspace: SourceName,
    /// The file, or a directory that stands for all beneath it.
    pub path: String,
    /// The program and its arguments, `["nginx", "-t", "-c", "{file}"]`; `{file}` stands for a copy with the change in it.
    pub argv: Vec<String>,
}

/// Paths of a service in a `[repositories.NAME]` Git repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepoPaths {
    /// The `[repositories.NAME]` section.
    pub repository: SourceName,
    /// Paths in it; the whole where empty.
    #[serde(default)]
    pub paths: Vec<String>,
}

impl Service {
    /// Each source it names, with the config section the source must stand in.
    pub(super) fn source_names(&self) -> Vec<(&'static str, &SourceName)> {
        let mut names: Vec<(&'static str, &SourceName)> = Vec::new();
        names.extend(self.logs.iter().map(|logs| ("logs", &logs.source)));
        names.extend(self.metrics.iter().map(|series| ("metrics", &series.source)));
        names.extend(self.files.iter().chain(&self.temp_files).map(|files| ("workspaces", &files.workspace)));
        names.extend(self.validate.iter().map(|validator| ("workspaces", &validator.workspace)));
        names.extend(self.changes.iter().map(|changes| ("repositories", &changes.repository)));
        names.extend(self.deploys.iter().map(|deploys| ("deploys", deploys)));
        names
    }
}
