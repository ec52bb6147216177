//! The roots that tools may read files beneath.
//!
//! Opened once, at start. A path in a call is `ROOT:path/beneath/it`, or the path alone where there is one root; it is
//! looked at as text first ([`path`]), opened beneath the held root ([`root`]), and what was opened is looked at again.

pub mod path;

pub mod protected;

pub mod root;

pub mod held;

pub mod replace;

pub mod walk;

pub mod lines;

pub mod belongs;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use warrant_kernel::call::tool::{Problem, ReadError};
use warrant_kernel::domain::name::SourceName;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::redact::guard::first_chars;

use crate::catalog::source::DirSource;
use crate::tools::workspace::belongs::{Belonging, Belongings};
use crate::tools::workspace::path::RelPath;
pub use crate::tools::workspace::protected::OwnFiles;
use crate::tools::workspace::root::Root;

/// A root that can't be opened.
#[derive(Debug, thiserror::Error)]
#[error("`[{section}.{name}]`: `dir` is `{}`, which can't be opened as a directory: {source}; create it, or correct the config", dir.display())]
pub struct RootError {
    section: &'static str,
    name: SourceName,
    dir: PathBuf,
    source: io::Error,
}

/// All roots, open.
#[derive(Debug, Default)]
pub struct Workspaces {
    roots: BTreeMap<SourceName, Arc<Root>>,
    own: Arc<OwnFiles>,
    belongings: Arc<Belongings>,
}

/// A place beneath one root.
#[derive(Debug, Clone)]
pub struct Place {
    /// The root.
    pub root: Arc<Root>,
    /// The path beneath it.
    pub path: RelPath,
}

impl Place {
    /// The root itself.
    #[must_use]
    pub fn top(root: &Arc<Root>) -> Self {
        Self { root: Arc::clone(root), path: RelPath::root() }
    }
}

impl Workspaces {
    /// Opens the roots. `own` are Warrant's own files: config, store, policies.
    ///
    /// # Errors
    /// Every root that can't be opened, with its config section.
    pub fn open(sources: &BTreeMap<SourceName, DirSource>, own: OwnFiles) -> Result<Self, Vec<RootError>> {
        let (opened, errors) = Self::open_each(sources, own);
        if errors.is_empty() { Ok(opened) } else { Err(errors) }
    }

    /// As [`Self::open`], with the roots that can be opened, and the errors of the others beside them.
    #[must_use]
    pub fn open_each(sources: &BTreeMap<SourceName, DirSource>, own: OwnFiles) -> (Self, Vec<RootError>) {
        Self::open_for(sources, own, Belongings::default())
    }

    /// As [`Self::open_each`]; policy decides on what belongs to a service as on the service.
    #[must_use]
    pub fn open_for(
        sources: &BTreeMap<SourceName, DirSource>,
        own: OwnFiles,
        belongings: Belongings,
    ) -> (Self, Vec<RootError>) {
        let (own, belongings) = (Arc::new(own), Arc::new(belongings));
        let (mut roots, mut errors) = (BTreeMap::new(), Vec::new());
        for (name, source) in sources {
            match Root::open(name.clone(), &source.dir, Arc::clone(&own)) {
                Ok(root) => {
                    roots.insert(name.clone(), Arc::new(root.shared(&belongings)));
                }
                Err(error) => errors.push(RootError {
                    section: "workspaces",
                    name: name.clone(),
                    dir: source.dir.clone(),
                    source: error,
                }),
            }
        }
        (Self { roots, own, belongings }, errors)
    }

    /// Warrant's own files.
    #[must_use]
    pub fn own(&self) -> &Arc<OwnFiles> {
        &self.own
    }

    /// One root by its name in the config.
    #[must_use]
    pub fn root(&self, name: &SourceName) -> Option<&Arc<Root>> {
        self.roots.get(name)
    }

    /// All roots by name.
    #[must_use]
    pub fn roots(&self) -> &BTreeMap<SourceName, Arc<Root>> {
        &self.roots
    }

    /// The place that the argument `arg` names.
    ///
    /// # Errors
    /// What is wrong with it, with a near root name where one was mistyped.
    pub fn place(&self, arg: &str, text: &str) -> Result<Place, Problem> {
        // The longest name first: names may hold `:`.
        let mut named = self.roots.values().rev().filter_map(|root| {
            let rest = text.strip_prefix(root.name().as_str())?.strip_prefix(':')?;
            Some((root, rest))
        });
        let mut roots = self.roots.values();
        let (root, rest) = match (named.next(), roots.next(), roots.next()) {
            (Some(found), _, _) => found,
            (None, Some(only), None) => (only, text),
            (None, None, _) => {
                return Err(Problem::of(arg, "no workspace is configured; an operator adds `[workspaces.NAME]`"));
            }
            (None, Some(_), Some(_)) => return Err(Problem::of(arg, self.no_root(text))),
        };
        let path =
            RelPath::parse(rest).map_err(|error| Problem::of(arg, format!("`{}`: {error}", first_chars(text, 120))))?;
        Ok(Place { root: Arc::clone(root), path })
    }

    fn no_root(&self, text: &str) -> String {
        let names: Vec<&str> = self.roots.keys().map(SourceName::as_str).collect();
        let asked = first_chars(text.split(':').next().unwrap_or_default(), 80);
        let near = names
            .iter()
            .map(|name| (strsim::jaro_winkler(name, asked), name))
            .filter(|(likeness, _)| text.contains(':') && *likeness > 0.8)
            .max_by(|(a, _), (b, _)| a.total_cmp(b));
        let shown = names.join("`, `");
        match near {
            Some((_, name)) => {
                format!("there is no workspace root `{asked}`; did you mean `{name}:`? The roots are `{shown}`")
            }
            None => format!("write `ROOT:path` with one of the workspace roots `{shown}`"),
        }
    }

    /// How a path is written so that a later call finds it.
    #[must_use]
    pub fn shown(&self, root: &Root, path: &str) -> String {
        if self.roots.len() > 1 { format!("{}:{path}", root.name()) } else { path.to_owned() }
    }

    /// The target of a call on `place`, or on all roots where none is named.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn target(&self, place: Option<&Place>) -> Result<Target, Problem> {
        let (name, source, belonging) = match place {
            Some(Place { root, path }) => {
                (format!("{}:{path}", root.name()), root.name().clone(), self.belongings.find(root.name(), path))
            }
            None => ("*".to_owned(), all_roots()?, self.belongings.whole()),
        };
        let (service, environment, owner) = match belonging.cloned() {
            Some(Belonging { service, environment, owner, .. }) => (Some(service), environment, owner),
            None => (None, None, None),
        };
        Ok(Target { kind: TargetKind::Path, name, service, environment, owner, source })
    }
}

fn all_roots() -> Result<SourceName, Problem> {
    "workspaces".parse().map_err(|error| Problem::of("path", format!("{error}")))
}

/// Runs blocking work on files; it must look at the token that it was given.
///
/// # Errors
/// Those of the work itself.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(ReadError::Backend {
            reason: "INTERNAL",
            message: format!("the read broke off: {error}"),
            retryable: false,
        })
    })
}

#[cfg(test)]
mod tests;
