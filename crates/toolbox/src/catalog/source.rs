//! The sources that the config names. URLs and paths come from here only, never from a call's arguments.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use warrant_kernel::domain::name::SourceName;

use super::network::Network;

/// An HTTP server that answers reads: `[metrics.NAME]`, `[alertmanagers.NAME]`, `[http.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSource {
    /// Its base URL, `http://127.0.0.1:9090`; no user, password, query or fragment in it.
    pub url: String,
    /// Name of the environment variable that holds a bearer token.
    #[serde(default)]
    pub bearer_token_env: Option<String>,
    /// File that holds a bearer token.
    #[serde(default)]
    pub bearer_token_file: Option<PathBuf>,
    /// User of basic authentication.
    #[serde(default)]
    pub basic_user: Option<String>,
    /// Name of the environment variable that holds its password.
    #[serde(default)]
    pub basic_password_env: Option<String>,
    /// A CA file (PEM) to trust beside the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Loopback and private networks that the host of `url` may be in, where its name alone does not say so.
    #[serde(default)]
    pub addresses: Vec<Network>,
    /// How many reads may be under way at once.
    #[serde(default = "four")]
    pub concurrency: usize,
}

fn four() -> usize {
    4
}

/// A directory: `[logs.NAME]`, `[workspaces.NAME]`, `[repositories.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirSource {
    /// An absolute path.
    pub dir: PathBuf,
}

/// A deploy log in JSON lines: `[deploys.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSource {
    /// An absolute path.
    pub file: PathBuf,
}

/// All sources of the config.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// Servers with the Prometheus HTTP API.
    #[serde(default)]
    pub metrics: BTreeMap<SourceName, HttpSource>,
    /// Servers with the Alertmanager API v2.
    #[serde(default)]
    pub alertmanagers: BTreeMap<SourceName, HttpSource>,
    /// Servers that `run = http` tools read.
    #[serde(default)]
    pub http: BTreeMap<SourceName, HttpSource>,
    /// Directories of log files.
    #[serde(default)]
    pub logs: BTreeMap<SourceName, DirSource>,
    /// Roots that `list_files`, `read_file` and `search_files` see.
    #[serde(default)]
    pub workspaces: BTreeMap<SourceName, DirSource>,
    /// Git repositories whose log is a source of changes.
    #[serde(default)]
    pub repositories: BTreeMap<SourceName, DirSource>,
    /// Deploy logs.
    #[serde(default)]
    pub deploys: BTreeMap<SourceName, FileSource>,
}

impl Sources {
    /// Whether a source stands in the config section `kind`.
    #[must_use]
    pub fn has(&self, kind: &str, name: &SourceName) -> bool {
        match kind {
            "metrics" => self.metrics.contains_key(name),
            "alertmanagers" => self.alertmanagers.contains_key(name),
            "http" => self.http.contains_key(name),
            "logs" => self.logs.contains_key(name),
            "workspaces" => self.workspaces.contains_key(name),
            "repositories" => self.repositories.contains_key(name),
            "deploys" => self.deploys.contains_key(name),
            _ => false,
        }
    }
}
