//! Who restarts services: the shop itself, when a line comes in on its socket. The catalog of the shop names a command that
//! sends one, as an operator's would name `systemctl`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use warrant_kernel::redact::guard::first_chars;

use super::child::Part;
use crate::demo::part::spec::Role;

/// Longest line.
const LINE: u64 = 100;

/// How long a restart may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The parts of a shop, shared with whoever restarts them.
pub(super) type Parts = Arc<Mutex<Vec<Part>>>;

/// Flags of the hidden command that asks for a restart.
#[derive(Debug, Clone, clap::Args)]
pub struct RestartOptions {
    /// The socket of the shop.
    #[arg(long)]
    pub socket: PathBuf,
    /// The service.
    pub service: String,
}

/// Serves the socket until it is dropped.
#[derive(Debug)]
pub(super) struct Staff {
    task: JoinHandle<()>,
}

impl Staff {
    pub(super) fn start(socket: &Path, exe: &Path, private: &Path, parts: &Parts) -> std::io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let (exe, private, parts) = (exe.to_owned(), private.to_owned(), Arc::clone(parts));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, &exe, &private, &parts).await;
            }
        });
        Ok(Self { task })
    }
}

impl Drop for Staff {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: UnixStream, exe: &Path, private: &Path, parts: &Parts) {
    let (reader, mut writer) = stream.into_split();
    let mut line = String::new();
    let read = timeout(PATIENCE, BufReader::new(reader.take(LINE)).read_line(&mut line)).await;
    let answer = match read {
        Ok(Ok(_)) => restart(line.trim(), exe, private, parts).await,
        Ok(Err(_)) | Err(_) => return,
    };
    // Whoever asked may be gone; the restart is done all the same.
    drop(writer.write_all(answer.as_bytes()).await);
}

async fn restart(service: &str, exe: &Path, private: &Path, parts: &Parts) -> String {
    let Some(role) = Role::ALL.into_iter().find(|role| role.as_str() == service) else {
        return format!("there is no service `{service}`\n");
    };
    let mut parts = parts.lock().await;
    let Some(part) = parts.iter_mut().find(|part| part.role() == role) else {
        return format!("`{service}` does not run\n");
    };
    match part.restart(exe, private).await {
        Ok(()) => match part.pid() {
            Some(pid) => format!("ok {pid}\n"),
            None => format!("`{service}` has ended again\n"),
        },
        Err(error) => format!("{error}\n"),
    }
}

/// Why a service was not restarted.
#[derive(Debug, thiserror::Error)]
pub enum RestartError {
    /// The shop is not there, or does not answer.
    #[error("asking the shop on `{socket}`")]
    Socket {
        /// Its socket.
        socket: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It says no.
    #[error("{0}")]
    Refused(String),
}

/// Asks a shop to restart one of its services, and waits until it listens again.
///
/// # Errors
/// [`RestartError`] where it does not.
pub async fn ask_for_restart(options: RestartOptions) -> Result<(), RestartError> {
    let failed = |source| RestartError::Socket { socket: options.socket.clone(), source };
    let mut answer = String::new();
    let asking = async {
        let mut stream = UnixStream::connect(&options.socket).await?;
        stream.write_all(format!("{}\n", options.service).as_bytes()).await?;
        stream.take(LINE * 10).read_to_string(&mut answer).await
    };
    match timeout(PATIENCE, asking).await {
        Ok(asked) => asked.map_err(failed)?,
        Err(_elapsed) => return Err(failed(std::io::ErrorKind::TimedOut.into())),
    };
    let said = answer.trim();
    if said.starts_with("ok ") { Ok(()) } else { Err(RestartError::Refused(first_chars(said, 400).to_owned())) }
}
