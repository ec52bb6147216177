//! What a child process of the shop is told when it starts: which service it is and where everything lies. The file lies
//! beside the shop, never in a directory that an investigation sees.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The services of the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What customers talk to.
    Gateway,
    /// Takes orders.
    Checkout,
    /// Charges cards.
    Payments,
    /// Keeps orders and payments on disk.
    Store,
}

impl Role {
    /// All services; each calls only services that stand after it.
    pub const ALL: [Self; 4] = [Self::Gateway, Self::Checkout, Self::Payments, Self::Store];

    /// The name of the service.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Checkout => "checkout",
            Self::Payments => "payments",
            Self::Store => "store",
        }
    }

    /// The services that it calls.
    #[must_use]
    pub fn depends_on(self) -> &'static [Self] {
        match self {
            Self::Gateway => &[Self::Checkout],
            Self::Checkout => &[Self::Payments, Self::Store],
            Self::Payments => &[Self::Store],
            Self::Store => &[],
        }
    }

    /// Whether it reaches the store through a pool of connections.
    #[must_use]
    pub fn has_pool(self) -> bool {
        self.depends_on().contains(&Self::Store)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Paths of the settings that a service obeys, in its configuration file: `pool.max`, `logging.log_level`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// The least important level that is logged.
    pub log_level: String,
    /// How long it waits for another service.
    pub request_timeout_ms: Option<String>,
    /// How many connections its pool has.
    pub pool_size: Option<String>,
    /// How long a request waits for one.
    pub acquire_timeout_ms: Option<String>,
}

/// Where a service finds what it calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstreams {
    /// The base URL of checkout.
    pub checkout: Option<String>,
    /// The base URL of payments.
    pub payments: Option<String>,
    /// The base URL of the store.
    pub store: Option<String>,
    /// The base URL of the card processor, which is not part of the shop.
    pub processor: Option<String>,
}

/// Everything that a service is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Which service it is.
    pub role: Role,
    /// Its configuration file.
    pub config: PathBuf,
    /// The settings in it.
    pub keys: Keys,
    /// Its file of overrides, read while it runs and emptied when it starts.
    pub overrides: PathBuf,
    /// Where it writes its process id.
    pub pid_file: PathBuf,
    /// The port that it had before; any that is free where it had none.
    pub port: Option<u16>,
    /// Its log file.
    pub log: PathBuf,
    /// What it calls.
    pub upstreams: Upstreams,
    /// The CA that signed the certificates of the shop.
    pub ca_file: PathBuf,
    /// Certificate and key in one PEM file, where it serves HTTPS.
    pub certificate: Option<PathBuf>,
    /// Where it keeps its data, where it has any.
    pub data: Option<DataDir>,
}

/// A directory of data with a quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataDir {
    /// The directory.
    pub dir: PathBuf,
    /// How many bytes its files may hold together.
    pub quota_bytes: u64,
}
