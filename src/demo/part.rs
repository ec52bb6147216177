//! One service of the shop in a process of its own. `warrant shop-part --spec FILE` runs [`serve_part`].
//!
//! A part listens on a free port of the loopback interface, says which on its standard output, and serves until its
//! standard input closes, so that it never outlives the demo, however that ends.

pub mod spec;

pub mod settings;

pub mod journal;

pub mod metrics;

pub mod pool;

pub mod client;

pub mod tls;

pub mod answer;

mod gateway;

mod checkout;

mod payments;

mod store;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::routing::get;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use warrant_kernel::domain::time::rfc3339;

use client::{Call, CallFailure, Client};
use journal::{Journal, Level};
use metrics::{Gauges, Metrics};
use pool::{Connection, Pool};
use settings::{Settings, SettingsError};
use spec::{Role, Spec};
use tls::{Keeper, TlsListener};

/// How often files are looked at.
const POLL: Duration = Duration::from_millis(100);

/// Flags of the hidden command that runs a part.
#[derive(Debug, Clone, clap::Args)]
pub struct PartOptions {
    /// What the service is told.
    #[arg(long)]
    pub spec: PathBuf,
}

/// Why a part does not start.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// A file is not readable.
    #[error("reading `{file}`")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file that tells it what to do is not well-formed.
    #[error("`{file}` does not say what to run")]
    Spec {
        /// The file.
        file: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// Its configuration is of no use.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A certificate is of no use.
    #[error("the certificate `{file}` is of no use: {what}")]
    Certificate {
        /// The file.
        file: PathBuf,
        /// Why.
        what: String,
    },
    /// The HTTP client could not be set up.
    #[error("setting up the HTTP client")]
    Client(#[source] reqwest::Error),
    /// Listening, or serving, failed.
    #[error("serving on the loopback interface")]
    Serve(#[source] std::io::Error),
}

/// What a part says on its standard output once it listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listening {
    /// The port on 127.0.0.1.
    pub port: u16,
}

/// A running service: what its handlers share.
#[derive(Debug)]
struct Part {
    spec: Spec,
    log: Journal,
    metrics: Metrics,
    settings: Mutex<Settings>,
    client: Client,
    pool: Option<Arc<Pool>>,
    keeper: Option<Arc<Keeper>>,
}

/// Runs a part until its standard input closes.
///
/// # Errors
/// [`PartError`] where it cannot start.
pub async fn serve_part(options: PartOptions) -> Result<(), PartError> {
    let file = options.spec;
    let text = std::fs::read(&file).map_err(|source| PartError::Read { file: file.clone(), source })?;
    let spec: Spec = serde_json::from_slice(&text).map_err(|source| PartError::Spec { file, source })?;
    let service = Arc::new(Part::open(spec)?);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(PartError::Serve)?;
    let port = listener.local_addr().map_err(PartError::Serve)?.port();
    let router = service.router();
    let (ended, parent_gone) = oneshot::channel();
    std::thread::spawn(move || {
        // An error of the pipe and its end mean the same: the parent is gone.
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        // Nobody listens only where serving has ended by itself, and the process with it.
        let _ = ended.send(());
    });
    service.log.write(Level::Info, "service started", json!({ "port": port }));
    say(Listening { port }).map_err(PartError::Serve)?;
    tokio::spawn(watch(Arc::clone(&service)));
    let served = async {
        match &service.keeper {
            None => axum::serve(listener, router).await,
            Some(keeper) => axum::serve(TlsListener::new(listener, Arc::clone(keeper))?, router).await,
        }
    };
    tokio::select! {
        served = served => served.map_err(PartError::Serve),
        _ = parent_gone => Ok(()),
    }
}

fn say(listening: Listening) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&listening)?)?;
    out.flush()
}

impl Part {
    fn open(spec: Spec) -> Result<Self, PartError> {
        let settings = Settings::read(&spec.config, &spec.keys)?;
        let log = Journal::open(&spec.log, spec.role.as_str())
            .map_err(|source| PartError::Read { file: spec.log.clone(), source })?;
        log.set_least(settings.log_level);
        Ok(Self {
            client: Client::new(&spec.ca_file)?,
            keeper: spec.certificate.as_deref().map(Keeper::open).transpose()?,
            pool: spec.role.has_pool().then(|| Pool::new(settings.pool_size)),
            metrics: Metrics::new(),
            settings: Mutex::new(settings),
            log,
            spec,
        })
    }

    fn router(self: &Arc<Self>) -> Router {
        let own = match self.spec.role {
            Role::Gateway => gateway::router(),
            Role::Checkout => checkout::router(),
            Role::Payments => payments::router(),
            Role::Store => store::router(),
        };
        own.route("/healthz", get(answer::health)).route("/metrics", get(answer::metrics)).with_state(Arc::clone(self))
    }

    fn settings(&self) -> Settings {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gauges(&self) -> Gauges {
        Gauges {
            pool: self.pool.as_deref().map(Pool::census),
            filesystem: self.spec.data.as_ref().map(store::filesystem),
            certificate_expiry: self.keeper.as_deref().map(|keeper| keeper.expiry().as_second()),
        }
    }

    /// Calls another service.
    async fn call(
        &self,
        target: &'static str,
        base: Option<&str>,
        path: String,
        body: Option<Value>,
    ) -> Result<Value, CallFailure> {
        let base = base.unwrap_or("http://127.0.0.1:9");
        let call = Call { target, base, path, body, timeout: self.settings().request_timeout };
        self.client.call(call, &self.metrics, &self.log).await
    }

    /// Takes a connection to the store, or says in the log that there was none.
    async fn connection(&self) -> Result<Option<Connection>, answer::Refusal> {
        let Some(pool) = &self.pool else { return Ok(None) };
        match pool.acquire(self.settings().acquire_timeout).await {
            Ok(connection) => Ok(Some(connection)),
            Err(refused) => {
                let waited = u64::try_from(refused.waited.as_millis()).unwrap_or(u64::MAX);
                let fields = json!({ "pool": "store", "in_use": refused.in_use, "waiting": refused.waiting, "waited_ms": waited });
                self.log.write(Level::Error, "timed out waiting for a connection from the pool", fields);
                Err(answer::Refusal::unavailable(refused.to_string()))
            }
        }
    }

    fn reload(&self) {
        match Settings::read(&self.spec.config, &self.spec.keys) {
            Ok(settings) => {
                *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
                if let Some(pool) = &self.pool {
                    pool.resize(settings.pool_size);
                }
                self.log.write(Level::Info, "configuration reloaded", Value::Null);
                self.log.set_least(settings.log_level);
            }
            Err(error) => {
                let fields = json!({ "error": error.to_string() });
                self.log.write(Level::Error, "configuration not readable, the one in force stays", fields);
            }
        }
    }

    fn reload_certificate(&self, keeper: &Keeper) {
        match keeper.reload() {
            Ok(()) => {
                let fields = json!({ "not_after": rfc3339(keeper.expiry()) });
                self.log.write(Level::Info, "certificate loaded", fields);
            }
            Err(error) => {
                let fields = json!({ "error": error.to_string() });
                self.log.write(Level::Error, "certificate not readable, the one in force stays", fields);
            }
        }
    }
}

/// Reads files again when they change.
async fn watch(part: Arc<Part>) {
    let mut config = changed_at(&part.spec.config);
    let mut certificate = part.keeper.as_deref().and_then(|keeper| changed_at(keeper.file()));
    let mut ticks = tokio::time::interval(POLL);
    let mut passed: u64 = 0;
    loop {
        ticks.tick().await;
        passed += 1;
        let now = changed_at(&part.spec.config);
        if now != config {
            config = now;
            part.reload();
        }
        if let Some(keeper) = &part.keeper {
            let now = changed_at(keeper.file());
            if now != certificate {
                certificate = now;
                part.reload_certificate(keeper);
            }
        }
        // What every log has: a complaint that comes steadily and means nothing.
        if part.spec.role == Role::Gateway && passed.is_multiple_of(10) {
            let message = "address lookup fell back to the default region";
            part.log.write(Level::Warn, message, json!({ "region": "eu-west" }));
        }
    }
}

fn changed_at(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
