//! HTTPS for a service: a listener whose certificate is read again when its file changes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::serve::Listener;
use jiff::Timestamp;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::demo::part::PartError;
use crate::demo::part::client::expiry_of;

/// How long connections that were made under an older certificate are sent away for.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a client may take for a handshake.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// The certificate in force.
#[derive(Debug)]
pub struct Keeper {
    file: PathBuf,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    config: Arc<ServerConfig>,
    expiry: Timestamp,
    replaced: Option<Instant>,
}

impl Keeper {
    /// Reads the certificate and its key.
    ///
    /// # Errors
    /// [`PartError`] where the file is of no use.
    pub fn open(file: &Path) -> Result<Arc<Self>, PartError> {
        let (config, expiry) = load(file)?;
        Ok(Arc::new(Self { file: file.to_path_buf(), held: Mutex::new(Held { config, expiry, replaced: None }) }))
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Reads the file again.
    ///
    /// # Errors
    /// [`PartError`] where the file is of no use; the certificate in force stays.
    pub fn reload(&self) -> Result<(), PartError> {
        let (config, expiry) = load(&self.file)?;
        *self.held() = Held { config, expiry, replaced: Some(Instant::now()) };
        Ok(())
    }

    /// When the certificate expires.
    #[must_use]
    pub fn expiry(&self) -> Timestamp {
        self.held().expiry
    }

    /// Whether answers should end their connection, so that clients come back under the new certificate.
    #[must_use]
    pub fn draining(&self) -> bool {
        self.held().replaced.is_some_and(|at| at.elapsed() < DRAIN)
    }

    fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.held().config))
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn load(file: &Path) -> Result<(Arc<ServerConfig>, Timestamp), PartError> {
    let of_no_use = |what: String| PartError::Certificate { file: file.to_path_buf(), what };
    let pem = std::fs::read(file).map_err(|source| PartError::Read { file: file.to_path_buf(), source })?;
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().map_err(|error| of_no_use(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|error| of_no_use(error.to_string()))?;
    let expiry = chain.first().and_then(|leaf| expiry_of(leaf));
    let expiry = expiry.ok_or_else(|| of_no_use("it holds no certificate".to_owned()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| of_no_use(error.to_string()))?;
    Ok((Arc::new(config), expiry))
}

/// Hands out connections whose handshake is done; a slow handshake holds up no other.
#[derive(Debug)]
pub struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Takes over a listener.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn new(mut plain: TcpListener, keeper: Arc<Keeper>) -> std::io::Result<Self> {
        let address = plain.local_addr()?;
        let (send, ready) = mpsc::channel(64);
        tokio::spawn(async move {
            loop {
                let (stream, peer) = Listener::accept(&mut plain).await;
                let (acceptor, send) = (keeper.acceptor(), send.clone());
                tokio::spawn(async move {
                    // A client that breaks off its handshake is not heard of again; there is nobody to tell.
                    if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                        drop(send.send((stream, peer)).await);
                    }
                });
            }
        });
        Ok(Self { ready, address })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            // The task above never ends before the process does.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        Ok(self.address)
    }
}
