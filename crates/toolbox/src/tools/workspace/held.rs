//! A file that may be replaced: opened beneath its root without going through any link, and read whole.
//!
//! Reads may follow links that stay beneath the root; writes go through none, so the path that people approve is the file
//! that changes. What [`Root::hold`] gives has been looked at; [`super::replace`] looks again right before it acts.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use warrant_kernel::call::write::WriteError;
use warrant_kernel::domain::hex::hex;

use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::protected::is_protected;
use crate::tools::workspace::root::{Root, real_path};

/// Most bytes of a file that is edited: it is read whole, shown as a diff, and kept for an undo.
pub const MAX_FILE: u64 = 1024 * 1024;
/// Most bytes of all extended attributes of a file.
const MAX_ATTRIBUTES: usize = 64 * 1024;

/// Why a file is not held for a write.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// There is nothing at this path.
    #[error("there is no file `{0}`; `list_files` shows what is there")]
    NotFound(String),
    /// It is never changed.
    #[error("`{0}` is protected: keys, credentials, Git internals and Warrant's own files are never changed")]
    Protected(String),
    /// A directory, FIFO, socket or device.
    #[error("`{path}` is {what}, not a regular file")]
    NotRegular {
        /// As it was asked for.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// A link stands in the path, or another file system begins there.
    #[error("`{0}` is a link, or lies behind one or on another mount; writes go through none: name the file itself")]
    Link(String),
    /// Other names lead to the same file; replacing it would part them.
    #[error("`{path}` has {links} names (hard links), and replacing it would change one of them only")]
    HardLinks {
        /// As it was asked for.
        path: String,
        /// How many names.
        links: String,
    },
    /// More than [`MAX_FILE`].
    #[error("`{path}` has {size} bytes; files above {MAX_FILE} bytes are not edited")]
    TooLarge {
        /// As it was asked for.
        path: String,
        /// Its size.
        size: u64,
    },
    /// The system refused.
    #[error("opening `{path}` for an edit failed: {source}")]
    Io {
        /// As it was asked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl HoldError {
    fn of(path: &RelPath, error: Errno) -> Self {
        let shown = path.to_string();
        match error {
            Errno::NOENT | Errno::NOTDIR => Self::NotFound(shown),
            Errno::LOOP | Errno::XDEV => Self::Link(shown),
            other => Self::Io { path: shown, source: other.into() },
        }
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "NOT_FOUND",
            Self::Protected(_) => "PROTECTED_FILE",
            Self::NotRegular { .. } => "NOT_A_REGULAR_FILE",
            Self::Link(_) => "LINK",
            Self::HardLinks { .. } => "HARD_LINK",
            Self::TooLarge { .. } => "TOO_LARGE",
            Self::Io { .. } => "FILE_ERROR",
        }
    }
}

impl From<HoldError> for WriteError {
    fn from(error: HoldError) -> Self {
        let (reason, message) = (error.reason(), error.to_string());
        match error {
            HoldError::Io { .. } => Self::Backend { reason, message },
            HoldError::NotFound(_)
            | HoldError::Protected(_)
            | HoldError::NotRegular { .. }
            | HoldError::Link(_)
            | HoldError::HardLinks { .. }
            | HoldError::TooLarge { .. } => Self::Refused { reason, message },
        }
    }
}

/// Which file it is: device and inode.
pub type Identity = (u64, u64);

/// What is kept when a file is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// Permission bits, set-user-id and the like included.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Extended attributes, access lists and labels among them, by name.
    pub attributes: Vec<(CString, Vec<u8>)>,
}

/// A file as it was when it was looked at, and the directory it lies in, held open.
#[derive(Debug)]
pub struct Held {
    pub(super) dir: OwnedFd,
    pub(super) dir_identity: Identity,
    pub(super) name: String,
    pub(super) identity: Identity,
    path: RelPath,
    bytes: Vec<u8>,
    keep: Keep,
}

impl Held {
    /// Its path beneath the root.
    #[must_use]
    pub fn path(&self) -> &RelPath {
        &self.path
    }

    /// Its content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The SHA-256 of its content, in hex.
    #[must_use]
    pub fn sha256(&self) -> String {
        sha256(&self.bytes)
    }

    /// What is kept when it is replaced.
    #[must_use]
    pub fn keep(&self) -> &Keep {
        &self.keep
    }

    /// Whether both are the same file with the same content and the same rights.
    #[must_use]
    pub fn is_still(&self, other: &Self) -> bool {
        self.dir_identity == other.dir_identity
            && self.identity == other.identity
            && self.keep == other.keep
            && self.bytes == other.bytes
    }
}

/// The SHA-256 of some bytes, in hex.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

const WITHIN: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

impl Root {
    /// Looks at a file that is to be replaced.
    ///
    /// # Errors
    /// [`HoldError`].
    pub fn hold(&self, path: &RelPath) -> Result<Held, HoldError> {
        if is_protected(path.as_str()) {
            return Err(HoldError::Protected(path.to_string()));
        }
        let failed = |error: Errno| HoldError::of(path, error);
        let (parent, name) = match path.as_str().rsplit_once('/') {
            Some((parent, name)) => (parent, name),
            None if path.as_str().is_empty() => {
                return Err(HoldError::NotRegular { path: path.to_string(), what: "a directory" });
            }
            None => ("", path.as_str()),
        };
        let (dir, directories) = self.descend(parent).map_err(failed)?;
        // Looked at before it is opened: opening a device can already do something.
        let facts = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        regular(path, &facts)?;
        if self.is_own(&dir, &directories, name, identity(&facts)).map_err(|source| io_error(path, source))? {
            return Err(HoldError::Protected(path.to_string()));
        }
        let dir_identity = directories.last().copied().unwrap_or_default();
        read(dir, dir_identity, name, path.clone())
    }

    /// Whether this process may replace the file, or files in the directory, at `path`; gives where that is.
    ///
    /// # Errors
    /// What the system says against it.
    pub fn may_replace(&self, path: &RelPath) -> io::Result<String> {
        let parent = path.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
        // A file is replaced by a new one beside it, so what counts is the directory.
        let (dir, _) = self.descend(path.as_str()).or_else(|error| match error {
            Errno::NOTDIR => self.descend(parent),
            other => Err(other),
        })?;
        rustix::fs::accessat(&dir, ".", Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
        Ok(real_path(&dir)?.display().to_string())
    }

    /// The directory at `parent`, and every directory on the way to it, the root first.
    fn descend(&self, parent: &str) -> Result<(OwnedFd, Vec<Identity>), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut dir = rustix::fs::openat2(self.handle(), ".", flags, Mode::empty(), WITHIN)?;
        let mut passed = vec![identity(&rustix::fs::fstat(&dir)?)];
        for part in parent.split('/').filter(|part| !part.is_empty()) {
            dir = rustix::fs::openat2(&dir, part, flags, Mode::empty(), WITHIN)?;
            passed.push(identity(&rustix::fs::fstat(&dir)?));
        }
        Ok((dir, passed))
    }

    /// Whether it is Warrant's own or lies in a directory that is, by name or, behind a bind mount, by identity.
    fn is_own(&self, dir: &OwnedFd, directories: &[Identity], name: &str, file: Identity) -> io::Result<bool> {
        let location = real_path(dir)?;
        Ok(self.own().holds(&location.join(name)) || self.own().holds_identity(directories, OsStr::new(name), file))
    }
}

fn io_error(path: &RelPath, source: io::Error) -> HoldError {
    HoldError::Io { path: path.to_string(), source }
}

/// Which file an answer of `stat` is about.
#[must_use]
pub fn identity(facts: &Stat) -> Identity {
    (facts.st_dev, facts.st_ino)
}

/// Which file a path leads to.
pub(super) fn identity_at(path: &Path) -> Option<Identity> {
    rustix::fs::stat(path).ok().map(|facts| identity(&facts))
}

fn regular(path: &RelPath, facts: &Stat) -> Result<(), HoldError> {
    let not = |what| Err(HoldError::NotRegular { path: path.to_string(), what });
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(HoldError::Link(path.to_string())),
        FileType::Directory => return not("a directory"),
        FileType::Fifo => return not("a FIFO"),
        FileType::Socket => return not("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => return not("a device"),
    }
    if facts.st_nlink != 1 {
        return Err(HoldError::HardLinks { path: path.to_string(), links: facts.st_nlink.to_string() });
    }
    match u64::try_from(facts.st_size) {
        Ok(size) if size <= MAX_FILE => Ok(()),
        size => Err(HoldError::TooLarge { path: path.to_string(), size: size.unwrap_or_default() }),
    }
}

/// Reads the file `name` of a directory that was reached without links.
pub(super) fn read(dir: OwnedFd, dir_identity: Identity, name: &str, path: RelPath) -> Result<Held, HoldError> {
    let failed = |error: Errno| HoldError::of(&path, error);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat2(&dir, name, flags, Mode::empty(), WITHIN).map_err(failed)?;
    let facts = rustix::fs::fstat(&file).map_err(failed)?;
    regular(&path, &facts)?;
    let attributes = attributes(&file).map_err(failed)?;
    let mut bytes = Vec::new();
    File::from(file).take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|source| io_error(&path, source))?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > MAX_FILE {
        return Err(HoldError::TooLarge { path: path.to_string(), size });
    }
    let keep = Keep { mode: facts.st_mode & 0o7777, uid: facts.st_uid, gid: facts.st_gid, attributes };
    Ok(Held { dir, dir_identity, name: name.to_owned(), identity: identity(&facts), path, bytes, keep })
}

/// All extended attributes of an open file, by name; none where the file system knows none.
pub(super) fn attributes(file: &impl AsFd) -> Result<Vec<(CString, Vec<u8>)>, Errno> {
    let mut buffer = vec![0; MAX_ATTRIBUTES];
    let names = match rustix::fs::flistxattr(file, &mut *buffer) {
        Ok(length) => buffer.get(..length).unwrap_or_default().to_vec(),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut all = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(name) = CString::new(name) else { continue };
        let length = rustix::fs::fgetxattr(file, name.as_c_str(), &mut *buffer)?;
        all.push((name, buffer.get(..length).unwrap_or_default().to_vec()));
    }
    all.sort();
    Ok(all)
}
