//! Which service a path belongs to, as the catalog says, so that policy decides on a file as on its service.
//!
//! The deepest entry of `files` that covers a path says whose it is. What is restricted counts first, whether it lies above
//! or beneath: a search that begins above it would bring it, too.

use warrant_kernel::domain::name::{Environment, PersonId, ServiceName, SourceName};

use crate::catalog::Catalog;
use crate::catalog::service::Service;
use crate::tools::workspace::path::{PathError, RelPath};

/// The environment that the shipped policies close to all but its group.
const RESTRICTED: &str = "restricted";

/// What one service says is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belonging {
    workspace: SourceName,
    path: RelPath,
    /// The service.
    pub service: ServiceName,
    /// Where it runs.
    pub environment: Option<Environment>,
    /// Who owns it.
    pub owner: Option<PersonId>,
}

impl Belonging {
    fn is_restricted(&self) -> bool {
        self.environment.as_ref().is_some_and(|environment| environment.as_str() == RESTRICTED)
    }
}

/// A path of the catalog that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("service `{service}`: `files` names `{path}`: {source}")]
pub struct BelongsError {
    service: ServiceName,
    path: String,
    source: PathError,
}

/// All that services say is their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Belongings(Vec<Belonging>);

impl Belongings {
    /// As the catalog says.
    ///
    /// # Errors
    /// Every path that is none: left out, it would leave its files to everybody.
    pub fn of(catalog: &Catalog) -> Result<Self, Vec<BelongsError>> {
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        for (name, service) in catalog.services() {
            // Field by field, so that a further kind of files can't be forgotten: what belongs to nobody is no restricted
            // file, and runs in no production.
            let Service {
                files,
                temp_files,
                environment,
                owner,
                description: _,
                team: _,
                links: _,
                depends_on: _,
                logs: _,
                metrics: _,
                metrics_url: _,
                health: _,
                // What a validator is asked about lies in `files` or `temp_files`, or it is never asked.
                validate: _,
                restart: _,
                changes: _,
                deploys: _,
                ca_file: _,
                addresses: _,
            } = service;
            for files in files.iter().chain(temp_files) {
                match RelPath::parse(&files.path) {
                    Ok(path) => all.push(Belonging {
                        workspace: files.workspace.clone(),
                        path,
                        service: name.clone(),
                        environment: environment.clone(),
                        owner: owner.clone(),
                    }),
                    Err(source) => {
                        errors.push(BelongsError { service: name.clone(), path: files.path.clone(), source });
                    }
                }
            }
        }
        if errors.is_empty() { Ok(Self(all)) } else { Err(errors) }
    }

    /// Whose a path is; none where no service says it is its own.
    #[must_use]
    pub fn find(&self, workspace: &SourceName, path: &RelPath) -> Option<&Belonging> {
        let here = || self.0.iter().filter(move |it| it.workspace == *workspace);
        let touched = |it: &&Belonging| it.path.covers(path.as_str()) || path.covers(it.path.as_str());
        // Of several at the same place the one in production counts, so that nothing gets easier by sharing it.
        let weight = |it: &&Belonging| {
            let production = it.environment.as_ref().is_some_and(|environment| environment.as_str() == "production");
            (it.path.as_str().len(), production)
        };
        let restricted = here().filter(touched).find(|it| it.is_restricted());
        restricted.or_else(|| here().filter(|it| it.path.covers(path.as_str())).max_by_key(weight))
    }

    /// What counts for a call on everything.
    #[must_use]
    pub fn whole(&self) -> Option<&Belonging> {
        self.0.iter().find(|it| it.is_restricted())
    }

    /// Whether a link leads from a path that anybody may read to what is restricted.
    #[must_use]
    pub fn leads_astray(&self, workspace: &SourceName, named: &RelPath, real: &RelPath) -> bool {
        let is_restricted = |path| self.find(workspace, path).is_some_and(Belonging::is_restricted);
        is_restricted(real) && !is_restricted(named)
    }
}

#[cfg(test)]
mod tests;
