//! How a service calls another one: a JSON request with a deadline, counted and logged the same way everywhere.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::tls::TlsInfo;
use serde_json::{Value, json};
use warrant_kernel::domain::time::{rfc3339, short};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::demo::part::PartError;
use crate::demo::part::journal::{Journal, Level};
use crate::demo::part::metrics::Metrics;

/// A call that takes longer is worth a line in the log.
const SLOW: Duration = Duration::from_millis(1_500);
/// A certificate with less time left is worth a line in the log.
const EXPIRES_SOON: i64 = 3 * 86_400;
/// How often such a line is written.
const EVERY: Duration = Duration::from_millis(500);

/// A client for the other services.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    looked: Mutex<Option<Instant>>,
}

/// A call that brought no answer to go on with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// The other service took too long.
    #[error("upstream {target} timed out after {} ms", after.as_millis())]
    Timeout {
        /// The other service.
        target: &'static str,
        /// How long it was given.
        after: Duration,
    },
    /// It answered that it could not.
    #[error("{target} answered {status}: {error}")]
    Status {
        /// The other service.
        target: &'static str,
        /// The status code.
        status: u16,
        /// What it said.
        error: String,
    },
    /// It was not reached, or its answer broke off.
    #[error("request to {target} failed: {error}")]
    Broken {
        /// The other service.
        target: &'static str,
        /// What happened.
        error: String,
    },
}

/// One call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The other service.
    pub target: &'static str,
    /// Its base URL.
    pub base: &'a str,
    /// The path.
    pub path: String,
    /// What is posted; a GET where nothing is.
    pub body: Option<Value>,
    /// How long the other service is given.
    pub timeout: Duration,
}

impl Client {
    /// A client that trusts the CA of the shop and nothing else.
    ///
    /// # Errors
    /// [`PartError`] where the CA file is of no use.
    pub fn new(ca_file: &Path) -> Result<Self, PartError> {
        let pem = std::fs::read(ca_file).map_err(|source| PartError::Read { file: ca_file.to_path_buf(), source })?;
        let authority = reqwest::Certificate::from_pem(&pem).map_err(PartError::Client)?;
        let http = reqwest::Client::builder()
            .no_proxy()
            .tcp_nodelay(true)
            .tls_certs_only([authority])
            .tls_info(true)
            .connect_timeout(Duration::from_secs(2))
            .build()
            .map_err(PartError::Client)?;
        Ok(Self { http, looked: Mutex::new(None) })
    }

    /// Makes a call.
    ///
    /// # Errors
    /// [`CallFailure`], logged already.
    pub async fn call(&self, call: Call<'_>, metrics: &Metrics, log: &Journal) -> Result<Value, CallFailure> {
        let begun = Instant::now();
        let result = self.send(&call, log).await;
        let took = begun.elapsed();
        let outcome = match &result {
            Ok(_) => Ok(200),
            Err(CallFailure::Status { status, .. }) => Ok(*status),
            Err(CallFailure::Timeout { .. }) => Err("timeout"),
            Err(CallFailure::Broken { .. }) => Err("connection_error"),
        };
        metrics.called(call.target, outcome, took);
        let (target, path) = (call.target, call.path.as_str());
        match &result {
            Ok(_) if took > SLOW => {
                let message = format!("request to {target} took {} ms", took.as_millis());
                log.write(Level::Warn, &message, json!({ "path": path }));
            }
            Ok(_) => {}
            Err(CallFailure::Status { status, error, .. }) => {
                let fields = json!({ "path": path, "status": status, "error": error });
                log.write(Level::Error, &format!("{target} answered {status}"), fields);
            }
            Err(failure) => log.write(Level::Error, &failure.to_string(), json!({ "path": path })),
        }
        result
    }

    async fn send(&self, call: &Call<'_>, log: &Journal) -> Result<Value, CallFailure> {
        let target = call.target;
        let url = format!("{}{}", call.base, call.path);
        let request = match &call.body {
            None => self.http.get(url),
            Some(body) => self.http.post(url).json(body),
        };
        let failed = |error: &reqwest::Error| {
            if error.is_timeout() {
                CallFailure::Timeout { target, after: call.timeout }
            } else {
                CallFailure::Broken { target, error: error.to_string() }
            }
        };
        let response = request.timeout(call.timeout).send().await.map_err(|error| failed(&error))?;
        self.look_at_certificate(target, response.extensions().get(), log);
        let status = response.status();
        let body: Value = response.json().await.map_err(|error| failed(&error))?;
        if status.is_success() {
            return Ok(body);
        }
        let error = body.get("error").and_then(Value::as_str).unwrap_or("no reason given").to_owned();
        Err(CallFailure::Status { target, status: status.as_u16(), error })
    }

    fn look_at_certificate(&self, target: &str, tls: Option<&TlsInfo>, log: &Journal) {
        let Some(der) = tls.and_then(TlsInfo::peer_certificate) else { return };
        {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            if looked.is_some_and(|at| at.elapsed() < EVERY) {
                return;
            }
            *looked = Some(Instant::now());
        }
        let Some(expiry) = expiry_of(der) else { return };
        let left = expiry.duration_since(Timestamp::now());
        if left.as_secs() < EXPIRES_SOON {
            let fields = json!({ "not_after": rfc3339(expiry), "expires_in": short(left) });
            log.write(Level::Warn, &format!("certificate of {target} expires soon"), fields);
        }
    }
}

/// When a certificate (DER) expires.
#[must_use]
pub fn expiry_of(der: &[u8]) -> Option<Timestamp> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}
