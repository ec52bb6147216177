//! One service of the shop in a process of its own. `warrant shop-part --spec FILE` runs [`serve_part`].
//!
//! A part listens on a port of the loopback interface, says which on its standard output, and serves until its standard
//! input closes, so that it never outlives the demo, however that ends. It reads its configuration when it starts, and again
//! when a line `reload` comes in there, as from a deploy; a file that is merely changed changes nothing.

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

mod watch;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::routing::get;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use client::{Call, CallFailure, Client};
use journal::{Journal, Level};
use metrics::{Gauges, Metrics};
use pool::{Connection, Pool};
use settings::{Settings, SettingsError, Values};
use spec::{Role, Spec};
use tls::{Keeper, TlsListener};

/// The line on the standard input by which a part is told to read its configuration again.
pub const RELOAD: &str = "reload";

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
    /// A file is not readable, or not writable.
    #[error("opening `{file}`")]
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
    /// What its configuration said when it was last read.
    config: Mutex<Values>,
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
    let listener = TcpListener::bind(("127.0.0.1", service.spec.port.unwrap_or(0))).await.map_err(PartError::Serve)?;
    let port = listener.local_addr().map_err(PartError::Serve)?.port();
    let router = service.router();
    let (ended, parent_gone) = oneshot::channel();
    let told = Arc::clone(&service);
    std::thread::spawn(move || {
        // An error of the pipe and its end mean the same: the parent is gone.
        for line in BufReader::new(std::io::stdin()).lines().map_while(Result::ok) {
            if line == RELOAD {
                told.reload();
            }
        }
        // Nobody listens only where serving has ended by itself, and the process with it.
        let _ = ended.send(());
    });
    service.log.write(Level::Info, "service started", json!({ "port": port }));
    say(Listening { port }).map_err(PartError::Serve)?;
    tokio::spawn(watch::watch(Arc::clone(&service)));
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
        let write = |file: &PathBuf, text: &str| {
            std::fs::write(file, text).map_err(|source| PartError::Read { file: file.clone(), source })
        };
        // A restart discards what was overridden.
        write(&spec.overrides, watch::NO_OVERRIDES)?;
        write(&spec.pid_file, &format!("{}\n", std::process::id()))?;
        let config = settings::read(&spec.config)?;
        let settings = Settings::of(&config, &Values::new(), &spec.keys)?;
        let log = Journal::open(&spec.log, spec.role.as_str())
            .map_err(|source| PartError::Read { file: spec.log.clone(), source })?;
        log.set_least(settings.log_level);
        Ok(Self {
            client: Client::new(&spec.ca_file)?,
            keeper: spec.certificate.as_deref().map(Keeper::open).transpose()?,
            pool: spec.role.has_pool().then(|| Pool::new(settings.pool_size)),
            metrics: Metrics::new(),
            config: Mutex::new(config),
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
}
