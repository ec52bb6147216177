//! The Unix socket beside the store, at which whoever holds the lease answers other processes.
//!
//! Anybody whom the store's directory lets in may connect; who they are the kernel tells, and what they may is decided
//! behind it. A peer that says nothing, too much or nonsense costs a connection for a few seconds and no more.

use std::collections::HashMap;
use std::future::Future;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::frame::{self, ANSWER_BYTES, ANSWER_TIME, FrameError, LINE_TIME, REQUEST_BYTES};
use super::wire::{Answer, Ask, Refused, Request, VERSION};

/// Connections at once.
const CONNECTIONS: usize = 32;

/// Connections of one user at once, so that nobody holds up the others.
const PER_USER: usize = 4;

/// Longest path that fits into an address.
const PATH_BYTES: usize = 107;

/// Who is at the other end, as the kernel tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Their user.
    pub uid: u32,
}

/// Why there is no socket, or nobody behind it.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Its path can't be an address.
    #[error("the socket `{}` has a path longer than {PATH_BYTES} bytes; put the store into a directory with a shorter one", .0.display())]
    LongPath(PathBuf),
    /// Something else stands in its place.
    #[error("`{}` is in the place of the sequencer's socket and is none; remove it", .0.display())]
    InTheWay(PathBuf),
    /// It could not be opened.
    #[error("can't open the socket `{}`", path.display())]
    Bind {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is one that can't be reached.
    #[error("can't reach the sequencer at `{}`", path.display())]
    Connect {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Somebody answers there who has no business to.
    #[error("the user {found} answers at `{}`, and the store belongs to {owner}; nothing was sent", path.display())]
    Impostor {
        /// Where.
        path: PathBuf,
        /// Who answers.
        found: u32,
        /// Whose the store is.
        owner: u32,
    },
    /// The conversation broke.
    #[error("the sequencer did not answer as it should")]
    Frame(#[from] FrameError),
}

/// Where the socket of a store is.
#[must_use]
pub fn path_beside(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".sock");
    PathBuf::from(name)
}

/// An open socket; it goes when this does.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Opens it, in place of one that a dead process left. Only for who holds the lease of the store.
    ///
    /// # Errors
    /// [`SocketError`].
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        if path.as_os_str().len() > PATH_BYTES {
            return Err(SocketError::LongPath(path.to_owned()));
        }
        let failed = |source| SocketError::Bind { path: path.to_owned(), source };
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path).map_err(failed)?,
            Ok(_) => return Err(SocketError::InTheWay(path.to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let socket = Self { listener, path: path.to_owned() };
        // Whom the directory lets in may knock; what they may is decided by who they are.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).map_err(failed)?;
        Ok(socket)
    }

    /// Answers until `cancel` fires; then lets those end that are being answered.
    pub async fn serve<F, A>(self, answer: F, cancel: CancellationToken)
    where
        F: Fn(Peer, Option<String>, Ask) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        let (tasks, seats) = (TaskTracker::new(), Seats::default());
        loop {
            let stream = tokio::select! {
                () = cancel.cancelled() => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::warn!(%error, "a connection to the sequencer's socket failed");
                        // Out of descriptors, most likely; to ask again at once would only burn time.
                        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                        continue;
                    }
                },
            };
            // Who can't be known, and who holds too many seats, is not answered.
            let Ok(uid) = stream.peer_cred().map(|peer| peer.uid()) else { continue };
            let Some(seat) = seats.take(uid) else { continue };
            let answer = answer.clone();
            tasks.spawn(async move {
                if let Err(error) = attend(stream, Peer { uid }, answer).await {
                    tracing::debug!(%error, uid, "a request to the sequencer was dropped");
                }
                drop(seat);
            });
        }
        tasks.close();
        tasks.wait().await;
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // One that stays is replaced by the next who holds the lease.
        let _stays = std::fs::remove_file(&self.path);
    }
}

async fn attend<F, A>(mut stream: UnixStream, peer: Peer, answer: F) -> Result<(), FrameError>
where
    F: Fn(Peer, Option<String>, Ask) -> A,
    A: Future<Output = Answer>,
{
    let answered = match frame::read::<Request>(&mut stream, REQUEST_BYTES, LINE_TIME).await {
        Ok(request) if request.version == VERSION => answer(peer, request.token, request.ask).await,
        Ok(request) => Answer::Refused(Refused::new(
            "VERSION",
            format!(
                "version {} was asked and {VERSION} is spoken here; use the same release on both sides",
                request.version
            ),
        )),
        Err(error @ (FrameError::Garbled(_) | FrameError::Long(_))) => {
            Answer::Refused(Refused::new("GARBLED", error.to_string()))
        }
        Err(error) => return Err(error),
    };
    frame::write(&mut stream, &answered).await
}

/// Who sits where; a seat is given back when it is dropped.
#[derive(Clone, Default)]
struct Seats(Arc<Mutex<HashMap<u32, usize>>>);

struct Seat {
    seats: Seats,
    uid: u32,
}

impl Seats {
    fn take(&self, uid: u32) -> Option<Seat> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        let own = taken.entry(uid).or_insert(0);
        if all >= CONNECTIONS || *own >= PER_USER {
            return None;
        }
        *own += 1;
        Some(Seat { seats: self.clone(), uid })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.uid) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                taken.remove(&self.uid);
            }
        }
    }
}

/// Whether somebody listens for the store.
///
/// # Errors
/// [`SocketError::Connect`] where that can't be found out.
pub async fn is_answered(store: &Path) -> Result<bool, SocketError> {
    Ok(connect(&path_beside(store)).await?.is_some())
}

async fn connect(path: &Path) -> Result<Option<UnixStream>, SocketError> {
    match UnixStream::connect(path).await {
        Ok(stream) => Ok(Some(stream)),
        // A socket without anybody behind it was left by a process that died.
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused) => {
            Ok(None)
        }
        Err(source) => Err(SocketError::Connect { path: path.to_owned(), source }),
    }
}

/// Asks whoever holds the lease of `store`; `None` where nobody listens.
///
/// # Errors
/// [`SocketError`]. Where the answer was lost the request may have been carried out.
pub async fn ask(store: &Path, token: Option<String>, ask: Ask) -> Result<Option<Answer>, SocketError> {
    let path = path_beside(store);
    let Some(mut stream) = connect(&path).await? else { return Ok(None) };
    // A token must not be told to somebody who put a socket into the sequencer's place.
    let failed = |source| SocketError::Connect { path: path.clone(), source };
    let found = stream.peer_cred().map_err(failed)?.uid();
    let owner = std::fs::metadata(store).map_err(failed)?.uid();
    if !trusted(found, owner) {
        return Err(SocketError::Impostor { path, found, owner });
    }
    frame::write(&mut stream, &Request { version: VERSION, token, ask }).await?;
    Ok(Some(frame::read(&mut stream, ANSWER_BYTES, ANSWER_TIME).await?))
}

/// Whether a user may answer for a store: its owner, and root, who could read it anyway.
fn trusted(found: u32, owner: u32) -> bool {
    found == owner || found == 0
}

#[cfg(test)]
mod tests;
