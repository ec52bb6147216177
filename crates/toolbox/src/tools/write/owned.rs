//! Whose a file is: the service of the catalog that lists it, and whether as configuration or as a temporary override.
//!
//! The longest entry that covers a path decides. What two services list alike belongs to neither for certain, and a file
//! that is listed both as configuration and as an override is configuration.

use std::cmp::Ordering;

use warrant_kernel::call::tool::Problem;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::target::{Target, TargetKind};

use crate::catalog::Catalog;
use crate::catalog::service::{Service, WorkspaceFiles};
use crate::tools::workspace::Place;
use crate::tools::workspace::path::RelPath;

/// As what a file is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listed {
    /// In `temp_files`.
    Temporary,
    /// In `files`.
    Configuration,
}

/// The entry of the catalog that covers a file.
#[derive(Debug, Clone, Copy)]
pub struct Owned<'c> {
    /// The service.
    pub name: &'c ServiceName,
    /// What the catalog says of it.
    pub service: &'c Service,
    /// As what.
    pub listed: Listed,
    /// The entry.
    pub entry: &'c WorkspaceFiles,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy)]
pub enum Owner<'c> {
    /// No service lists it.
    Nobody,
    /// This one does.
    One(Owned<'c>),
    /// Several do, equally closely.
    Several(&'c ServiceName, &'c ServiceName),
}

/// Finds the entry that covers `place`.
#[must_use]
pub fn owner<'c>(catalog: &'c Catalog, place: &Place) -> Owner<'c> {
    let mut found = Owner::Nobody;
    let mut longest = 0;
    for (name, service) in catalog.services() {
        let files = service.files.iter().map(|entry| (Listed::Configuration, entry));
        let overrides = service.temp_files.iter().map(|entry| (Listed::Temporary, entry));
        for (listed, entry) in files.chain(overrides) {
            let Some(length) = covered(entry, place) else { continue };
            let this = Owned { name, service, listed, entry };
            found = match (found, (length + 1).cmp(&longest)) {
                (found, Ordering::Less) => found,
                (_, Ordering::Greater) | (Owner::Nobody, Ordering::Equal) => Owner::One(this),
                (Owner::One(other), Ordering::Equal) if other.name == name => {
                    Owner::One(if listed > other.listed { this } else { other })
                }
                (Owner::One(other), Ordering::Equal) => Owner::Several(other.name, name),
                (several @ Owner::Several(..), Ordering::Equal) => several,
            };
            longest = longest.max(length + 1);
        }
    }
    found
}

/// How long the entry's path is, if it covers the place.
fn covered(entry: &WorkspaceFiles, place: &Place) -> Option<usize> {
    let path = RelPath::parse(&entry.path).ok()?;
    (entry.workspace == *place.root.name() && path.covers(place.path.as_str())).then(|| path.as_str().len())
}

/// The target of a write on `place`.
///
/// # Errors
/// Where no service lists it, or several do: nobody could say whose rules hold.
pub fn target<'c>(catalog: &'c Catalog, place: &Place) -> Result<(Target, Owned<'c>), Problem> {
    let name = format!("{}:{}", place.root.name(), place.path);
    let owned = match owner(catalog, place) {
        Owner::One(owned) => owned,
        Owner::Nobody => {
            let message = format!(
                "no service lists `{name}` in its `files` or `temp_files`; only what the catalog lists is changed"
            );
            return Err(Problem::of("path", message));
        }
        Owner::Several(one, other) => {
            let message = format!("`{one}` and `{other}` both list `{name}`; an operator must say whose it is");
            return Err(Problem::of("path", message));
        }
    };
    let target = Target {
        kind: TargetKind::Path,
        name,
        service: Some(owned.name.clone()),
        environment: owned.service.environment.clone(),
        owner: owned.service.owner.clone(),
        source: place.root.name().clone(),
    };
    Ok((target, owned))
}
