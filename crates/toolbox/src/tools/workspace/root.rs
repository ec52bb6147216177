//! One root: a directory held open, beneath which everything is opened.
//!
//! Every open goes through the held directory with the kernel's own rule that no step may leave it, so there is no
//! moment between a check and an open in which a link could be put in place. What was opened is looked at afterwards.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use jiff::Timestamp;
use rustix::fs::OFlags;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::name::SourceName;

use crate::tools::workspace::belongs::Belongings;
use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::protected::{OwnFiles, is_protected};
use crate::tools::workspace::walk::{Entry, Kind};

/// Why something beneath a root was not opened.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is nothing at this path.
    #[error("there is no `{0}`; `list_files` shows what is there")]
    NotFound(String),
    /// Its content is never shown.
    #[error("`{0}` is protected: keys, credentials, Git internals and Warrant's own files are never shown")]
    Protected(String),
    /// A directory, FIFO, socket or device.
    #[error("`{path}` is {what}, not a regular file")]
    NotRegular {
        /// As it was asked for.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// A link or a mount leads out of the root.
    #[error("`{0}` leads out of the workspace root; only what lies beneath it is read")]
    Outside(String),
    /// A link to what belongs to a restricted service.
    #[error("`{path}` is a link to `{real}`, which belongs to a restricted service; name that file itself")]
    Elsewhere {
        /// As it was asked for.
        path: String,
        /// Where it lies.
        real: String,
    },
    /// Too many links, or a loop of them.
    #[error("`{0}` is a chain of too many links")]
    Loop(String),
    /// The system refused.
    #[error("opening `{path}` failed: {source}")]
    Io {
        /// As it was asked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl FileError {
    fn of(path: &RelPath, source: io::Error) -> Self {
        let shown = path.to_string();
        match source.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
            Some(rustix::io::Errno::LOOP) => return Self::Loop(shown),
            Some(rustix::io::Errno::XDEV) => return Self::Outside(shown),
            Some(rustix::io::Errno::NXIO) => return Self::NotRegular { path: shown, what: "a socket or a device" },
            _ => {}
        }
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound(shown),
            // The held directory tells an escape this way, without a number from the system.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => Self::Outside(shown),
            _ => Self::Io { path: shown, source },
        }
    }
}

impl From<FileError> for ReadError {
    fn from(error: FileError) -> Self {
        let reason = match &error {
            FileError::NotFound(_) => "NOT_FOUND",
            FileError::Protected(_) => "PROTECTED_FILE",
            FileError::NotRegular { .. } => "NOT_A_REGULAR_FILE",
            FileError::Outside(_) => "OUTSIDE_WORKSPACE",
            FileError::Elsewhere { .. } => "LINK_TO_RESTRICTED",
            FileError::Loop(_) => "TOO_MANY_LINKS",
            FileError::Io { .. } => {
                return Self::Backend { reason: "FILE_ERROR", message: error.to_string(), retryable: false };
            }
        };
        Self::Invalid { reason, message: error.to_string() }
    }
}

/// A regular file beneath a root, open for reading.
#[derive(Debug)]
pub struct Opened {
    /// The file; reading it never blocks.
    pub file: File,
    /// Its size when it was opened.
    pub size: u64,
    /// When it was last written.
    pub modified: Timestamp,
    /// Where it really lies, links followed.
    pub real: PathBuf,
}

/// A directory held open.
#[derive(Debug)]
pub struct Root {
    name: SourceName,
    dir: Dir,
    own: Arc<OwnFiles>,
    belongings: Arc<Belongings>,
}

impl Root {
    /// Opens the directory. It is found through `path` this once; a later rename does not matter.
    ///
    /// # Errors
    /// What the system said.
    pub fn open(name: SourceName, path: &Path, own: Arc<OwnFiles>) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
        Ok(Self { name, dir, own, belongings: Arc::default() })
    }

    /// The root with what services say is their own.
    #[must_use]
    pub fn shared(self, belongings: &Arc<Belongings>) -> Self {
        Self { belongings: Arc::clone(belongings), ..self }
    }

    /// Its name in the config.
    #[must_use]
    pub fn name(&self) -> &SourceName {
        &self.name
    }

    /// The held directory itself.
    pub(super) fn handle(&self) -> &Dir {
        &self.dir
    }

    /// Warrant's own files.
    pub(super) fn own(&self) -> &OwnFiles {
        &self.own
    }

    /// Where it lies now.
    ///
    /// # Errors
    /// Without a process file system.
    pub fn real(&self) -> io::Result<PathBuf> {
        real_path(&self.dir)
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn file(&self, path: &RelPath) -> Result<Opened, FileError> {
        if is_protected(path.as_str()) {
            return Err(FileError::Protected(path.to_string()));
        }
        let failed = |source| FileError::of(path, source);
        let mut options = OpenOptions::new();
        // Opening a FIFO would wait for a writer, opening a terminal would take it over.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        options.read(true).custom_flags(i32::try_from(flags).unwrap_or_default());
        let file = self.dir.open_with(path.for_open(), &options).map_err(failed)?.into_std();
        let facts = file.metadata().map_err(failed)?;
        if !facts.is_file() {
            return Err(FileError::NotRegular { path: path.to_string(), what: what_is(facts.file_type()) });
        }
        let real = self.checked(path.for_open(), &file)?;
        let modified = facts.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        Ok(Opened { file, size: facts.len(), modified: modified.unwrap_or_default(), real })
    }

    /// Opens a directory for listing.
    ///
    /// # Errors
    /// [`FileError`]; also for one that is protected.
    pub fn directory(&self, path: &RelPath) -> Result<Dir, FileError> {
        if is_protected(path.as_str()) {
            return Err(FileError::Protected(path.to_string()));
        }
        let dir = self.dir.open_dir(path.for_open()).map_err(|source| FileError::of(path, source))?;
        self.checked(path.for_open(), &dir)?;
        Ok(dir)
    }

    /// What a path is that is no directory, without opening it; none for a directory.
    ///
    /// # Errors
    /// [`FileError`] where there is nothing.
    pub fn entry(&self, path: &RelPath) -> Result<Option<Entry>, FileError> {
        let facts = self.dir.metadata(path.for_open()).map_err(|source| FileError::of(path, source))?;
        let name = path.as_str().to_owned();
        let entry = Entry::of(name, &facts, is_protected(path.as_str()));
        Ok((entry.kind != Kind::Directory).then_some(entry))
    }

    /// When a path was last written; for one that is gone, when the directory was in which it lay.
    #[must_use]
    pub fn touched(&self, path: &str) -> Option<Timestamp> {
        let mut path = Path::new(path);
        loop {
            let there = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            if let Ok(facts) = self.dir.symlink_metadata(there) {
                return facts.modified().ok().and_then(|time| Timestamp::try_from(time.into_std()).ok());
            }
            path = path.parent()?;
        }
    }

    /// A small text file, whole; none where it is not readable here or bigger than `limit` bytes.
    #[must_use]
    pub fn text(&self, path: &str, limit: u64) -> Option<String> {
        let opened = self.file(&RelPath::parse(path).ok()?).ok()?;
        let mut bytes = Vec::new();
        opened.file.take(limit + 1).read_to_end(&mut bytes).ok()?;
        let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= limit);
        fits.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Opens a directory in `dir`, which was opened here; `path` is its path from the root.
    pub(super) fn inner(&self, dir: &Dir, name: &OsStr, path: &str) -> Result<Dir, FileError> {
        let failed = |source| FileError::Io { path: path.to_owned(), source };
        let inner = dir.open_dir(name).map_err(failed)?;
        self.checked(path, &inner)?;
        Ok(inner)
    }

    /// Whether the content of `path` is never shown: `name` in the directory that lies at `location`.
    #[must_use]
    pub fn protects(&self, location: &Path, path: &str, name: &str) -> bool {
        is_protected(path) || self.own.holds(&location.join(name))
    }

    /// Asks the kernel what was really opened: a link beneath the root may lead to a protected file beneath it.
    fn checked(&self, path: &str, opened: &impl AsFd) -> Result<PathBuf, FileError> {
        let failed = |source| FileError::Io { path: path.to_owned(), source };
        let (root, real) = (self.real().map_err(failed)?, real_path(opened).map_err(failed)?);
        let beneath = real.strip_prefix(&root).map_err(|_| FileError::Outside(path.to_owned()))?;
        if is_protected(&beneath.to_string_lossy()) || self.own.holds(&real) {
            return Err(FileError::Protected(path.to_owned()));
        }
        // Policy decided on the path that was named; a link must not bring what it would have refused.
        if let (Ok(named), Ok(lies)) = (RelPath::parse(path), RelPath::parse(&beneath.to_string_lossy()))
            && self.belongings.leads_astray(&self.name, &named, &lies)
        {
            return Err(FileError::Elsewhere { path: path.to_owned(), real: lies.to_string() });
        }
        Ok(real)
    }
}

/// Where an open file or directory lies now, links followed.
pub(super) fn real_path(opened: &impl AsFd) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd()))
}

fn what_is(kind: std::fs::FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
