//! Files whose content is never shown: keys, credentials, Git internals, and Warrant's own files.
//!
//! Names are compared after case folding and without invisible characters, because some file systems see no difference.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::tools::workspace::held::{Identity, identity_at};
use crate::tools::workspace::path::is_invisible;

/// Directories of which nothing is shown.
const DIRECTORIES: [&str; 3] = [".git", ".ssh", ".gnupg"];

/// Files by their whole name.
const NAMES: [&str; 19] = [
    ".env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".dockercfg",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".boto",
    ".s3cfg",
    "shadow",
    "shadow-",
    "gshadow",
    "gshadow-",
    "authorized_keys",
];

/// Files by their name and the directory they lie in.
const BENEATH: [(&str, &str); 4] =
    [(".aws", "credentials"), (".aws", "config"), (".kube", "config"), (".docker", "config.json")];

const PREFIXES: [&str; 5] = [".env.", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"];

const ENDINGS: [&str; 8] = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"];

fn fold(name: &str) -> String {
    name.chars().filter(|c| !is_invisible(*c)).collect::<String>().to_uppercase().to_lowercase()
}

/// Whether the content behind this path, with `/` between its parts, is never shown.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    let folded = fold(path);
    let mut parent = "";
    for part in folded.split('/') {
        // The kernel adds this to the name of a file that was removed while it was open.
        let part = part.strip_suffix(" (deleted)").unwrap_or(part);
        if DIRECTORIES.contains(&part)
            || NAMES.contains(&part)
            || BENEATH.contains(&(parent, part))
            || PREFIXES.iter().any(|prefix| part.starts_with(prefix))
            || ENDINGS.iter().any(|ending| part.ends_with(ending))
        {
            return true;
        }
        parent = part;
    }
    false
}

/// Warrant's own files and directories: config, store, policies.
#[derive(Debug, Clone, Default)]
pub struct OwnFiles(Vec<PathBuf>);

impl OwnFiles {
    /// Takes absolute paths; one that does not exist yet counts as well.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| real(&path)).collect())
    }

    /// Whether `path`, absolute and free of links, is one of them or lies beneath one.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        self.0.iter().any(|own| path.starts_with(own) || companion(own, path))
    }

    /// Whether a file that was reached through these directories, the root first, is one of them or lies beneath one,
    /// whatever its path is: behind a bind mount the same file has another path.
    #[must_use]
    pub fn holds_identity(&self, directories: &[Identity], name: &OsStr, file: Identity) -> bool {
        self.0.iter().any(|own| {
            let itself = identity_at(own).is_some_and(|own| own == file || directories.contains(&own));
            let beside = own.parent().and_then(identity_at).is_some_and(|parent| directories.last() == Some(&parent));
            itself || (beside && companion_name(own, name))
        })
    }
}

fn companion(own: &Path, path: &Path) -> bool {
    if own.parent() != path.parent() {
        return false;
    }
    path.file_name().is_some_and(|name| companion_name(own, name))
}

fn companion_name(own: &Path, name: &OsStr) -> bool {
    let Some(own) = own.file_name() else { return false };
    let (own, name) = (own.to_string_lossy(), name.to_string_lossy());
    // What is put beside a file bears its name and more: `-wal`, `.lock`, `.tmp`.
    name.strip_prefix(&*own).is_some_and(|more| more.is_empty() || more.starts_with(['-', '.']))
}

/// The path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    }
}
