//! Replaces a held file whole, in steps after each of which a crash leaves the old file whole or the new file whole.
//!
//! [`Held::stage`] writes the new content beside the file, with its owner, mode and attributes, and makes it durable.
//! [`Staged::swap`] looks once more that the file is still the one that was held, then changes the two names over in one
//! step and looks at what came out: where that is not the file that was held, it is put back. [`Swapped::settle`]
//! removes the old content and makes the directory durable. A staged file that is not swapped is removed by
//! [`Staged::abandon`].
//!
//! What remains: a program that holds the old file open and writes into it in place, between the last look and the
//! exchange, writes into the old content, which then goes away (it is kept for the undo as it was looked at). On file
//! systems that can't exchange two names (NFS among them) a plain rename follows the look, and a file that another
//! program put in place in between is lost. Both take another writer in the same few microseconds.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags};
use rustix::io::Errno;
use warrant_kernel::call::write::WriteError;

use crate::tools::workspace::held::{Held, attributes, read};
use crate::tools::workspace::root::Root;

/// A step that failed.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The file is no longer the one that was looked at. Nothing was changed.
    #[error("`{0}` was changed by somebody else in the meantime; read it again")]
    Changed(String),
    /// A step before the exchange. Nothing was changed.
    #[error("{doing} beside `{path}` failed: {source}; nothing was changed")]
    Before {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A step after the exchange.
    #[error("`{path}` was replaced, and {doing} failed: {source}; whether it would survive a crash is not known")]
    After {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl From<ReplaceError> for WriteError {
    fn from(error: ReplaceError) -> Self {
        let message = error.to_string();
        match error {
            ReplaceError::Changed(_) => Self::Refused { reason: "CHANGED", message },
            ReplaceError::Before { .. } => Self::Backend { reason: "FILE_ERROR", message },
            ReplaceError::After { .. } => Self::Unknown { message },
        }
    }
}

/// The new content, durable beside the file.
#[derive(Debug)]
pub struct Staged<'h> {
    held: &'h Held,
    temporary: String,
    written: OwnedFd,
}

/// The new content under the file's name, the old one beside it.
#[derive(Debug)]
pub struct Swapped<'h> {
    held: &'h Held,
    temporary: Option<String>,
}

impl Held {
    /// Writes the new content to `temporary`, a name that nothing bears, in the same directory.
    ///
    /// # Errors
    /// [`ReplaceError::Before`]; the temporary file is gone then.
    pub fn stage(&self, temporary: &str, bytes: &[u8]) -> Result<Staged<'_>, ReplaceError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Nobody else reads it before it has the rights of the file.
        let written = rustix::fs::openat(&self.dir, temporary, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| self.before("creating a temporary file", error.into()))?;
        let staged = Staged { held: self, temporary: temporary.to_owned(), written };
        match staged.fill(bytes) {
            Ok(()) => Ok(staged),
            Err(error) => {
                staged.abandon();
                Err(error)
            }
        }
    }

    fn before(&self, doing: &'static str, source: io::Error) -> ReplaceError {
        ReplaceError::Before { doing, path: self.path().to_string(), source }
    }

    fn after(&self, doing: &'static str, source: io::Error) -> ReplaceError {
        ReplaceError::After { doing, path: self.path().to_string(), source }
    }

    fn changed(&self) -> ReplaceError {
        ReplaceError::Changed(self.path().to_string())
    }

    /// What bears `name` in the directory now.
    fn named(&self, name: &str) -> Option<Self> {
        let dir = self.dir.try_clone().ok()?;
        read(dir, self.dir_identity, name, self.path().clone()).ok()
    }
}

/// What became of a temporary file that a crash may have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// There is none.
    None,
    /// There was one, and it is gone.
    Cleared,
    /// Something bears its name that can't be removed, or is no file of ours.
    Stays,
}

impl Held {
    /// Removes what a write that will never go on left beside the file. `temporary` is the name that this very write gave
    /// it; nothing else bears it.
    #[must_use]
    pub fn clear(&self, temporary: &str) -> Leftover {
        let Ok(facts) = rustix::fs::statat(&self.dir, temporary, AtFlags::SYMLINK_NOFOLLOW) else {
            return Leftover::None;
        };
        let ours = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile && facts.st_nlink == 1;
        match ours.then(|| rustix::fs::unlinkat(&self.dir, temporary, AtFlags::empty())) {
            Some(Ok(())) => Leftover::Cleared,
            Some(Err(_)) | None => Leftover::Stays,
        }
    }
}

impl<'h> Staged<'h> {
    fn fill(&self, bytes: &[u8]) -> Result<(), ReplaceError> {
        let failed = |doing: &'static str| move |error: Errno| self.held.before(doing, error.into());
        let keep = self.held.keep();
        let facts = rustix::fs::fstat(&self.written).map_err(failed("looking at the temporary file"))?;
        // Owner before mode: a change of owner takes set-user-id away.
        if (facts.st_uid, facts.st_gid) != (keep.uid, keep.gid) {
            let (uid, gid) = (Uid::from_raw(keep.uid), Gid::from_raw(keep.gid));
            rustix::fs::fchown(&self.written, Some(uid), Some(gid)).map_err(failed("keeping owner and group"))?;
        }
        let inherited = attributes(&self.written).map_err(failed("reading attributes"))?;
        for (name, _) in &inherited {
            if keep.attributes.iter().all(|(kept, _)| kept != name) {
                rustix::fs::fremovexattr(&self.written, name.as_c_str())
                    .map_err(failed("removing an inherited attribute"))?;
            }
        }
        for (name, value) in keep.attributes.iter().filter(|kept| !inherited.contains(kept)) {
            rustix::fs::fsetxattr(&self.written, name.as_c_str(), value, XattrFlags::empty())
                .map_err(failed("keeping an extended attribute"))?;
        }
        rustix::fs::fchmod(&self.written, Mode::from_raw_mode(keep.mode)).map_err(failed("keeping the mode"))?;
        let mut file = File::from(self.written.try_clone().map_err(|error| self.held.before("writing", error))?);
        file.write_all(bytes).map_err(|error| self.held.before("writing the temporary file", error))?;
        file.sync_all().map_err(|error| self.held.before("making the temporary file durable", error))
    }

    /// Changes the names over, if the file is still the one that was held and lies where it lay beneath `root`.
    ///
    /// # Errors
    /// [`ReplaceError::Changed`], [`ReplaceError::Before`]; the temporary file is gone then. [`ReplaceError::After`] where
    /// what somebody else put in place came out and could not be put back.
    pub fn swap(self, root: &Root) -> Result<Swapped<'h>, ReplaceError> {
        // The whole way from the root again: a directory may have been moved, and something else put in its place.
        if !root.hold(self.held.path()).is_ok_and(|now| now.is_still(self.held)) {
            let changed = self.held.changed();
            self.abandon();
            return Err(changed);
        }
        let (dir, name) = (&self.held.dir, self.held.name.as_str());
        let exchanged = rustix::fs::renameat_with(dir, &*self.temporary, dir, name, RenameFlags::EXCHANGE);
        match exchanged {
            Ok(()) => self.look_at_displaced(),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match rustix::fs::renameat(dir, &*self.temporary, dir, name) {
                    Ok(()) => Ok(Swapped { held: self.held, temporary: None }),
                    Err(error) => Err(self.not_renamed(error)),
                }
            }
            Err(error) => Err(self.not_renamed(error)),
        }
    }

    fn not_renamed(self, error: Errno) -> ReplaceError {
        let told = self.held.before("renaming the temporary file", error.into());
        self.abandon();
        told
    }

    fn look_at_displaced(self) -> Result<Swapped<'h>, ReplaceError> {
        if self.held.named(&self.temporary).is_some_and(|displaced| displaced.is_still(self.held)) {
            return Ok(Swapped { held: self.held, temporary: Some(self.temporary) });
        }
        let (dir, name) = (&self.held.dir, self.held.name.as_str());
        match rustix::fs::renameat_with(dir, &*self.temporary, dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => {
                let changed = self.held.changed();
                self.abandon();
                Err(changed)
            }
            Err(error) => Err(self.held.after("putting back what somebody else had put in place", error.into())),
        }
    }

    /// Removes the temporary file, if it is still ours.
    pub fn abandon(self) {
        let ours = rustix::fs::fstat(&self.written).map(|facts| super::held::identity(&facts));
        let named = rustix::fs::statat(&self.held.dir, &*self.temporary, AtFlags::SYMLINK_NOFOLLOW);
        if ours.is_ok() && ours == named.map(|facts| super::held::identity(&facts)) {
            // Where it can't be removed it stays, under a name that says whose it is.
            let _ = rustix::fs::unlinkat(&self.held.dir, &*self.temporary, AtFlags::empty());
        }
    }
}

impl Swapped<'_> {
    /// Removes the old content and makes the change durable.
    ///
    /// # Errors
    /// [`ReplaceError::After`].
    pub fn settle(self) -> Result<(), ReplaceError> {
        let dir = &self.held.dir;
        if let Some(temporary) = &self.temporary {
            rustix::fs::unlinkat(dir, &**temporary, AtFlags::empty())
                .map_err(|error| self.held.after("removing the old content", error.into()))?;
        }
        rustix::fs::fsync(dir.as_fd()).map_err(|error| self.held.after("making the directory durable", error.into()))
    }
}

#[cfg(test)]
mod tests;
