//! The services there are, and where their signals live.
//!
//! [`Service`] is what the config says of one service; [`Catalog`] is all of them, checked: every source that a service
//! names exists, every dependency is a service. Tools look up a service here and nowhere else.

pub mod network;

pub mod reach;

pub mod source;

pub mod restart;

pub mod link;

pub mod service;

pub mod import;

use std::collections::BTreeMap;

use warrant_kernel::domain::name::{ServiceName, SourceName};

use service::Service;
use source::Sources;

/// All services and the sources they name. Checked once, at start.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    services: BTreeMap<ServiceName, Service>,
    sources: Sources,
}

/// A service that names something that isn't there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// A source of this kind and name is not configured.
    #[error("service `{service}`: there is no `[{kind}.{source_name}]` in the config")]
    NoSource {
        /// The service.
        service: ServiceName,
        /// The config section.
        kind: &'static str,
        /// The name asked for.
        source_name: SourceName,
    },
    /// A dependency that is no service.
    #[error("service `{service}`: `depends_on` names `{dependency}`, which is not a service of the catalog")]
    NoDependency {
        /// The service.
        service: ServiceName,
        /// The name asked for.
        dependency: ServiceName,
    },
}

impl Catalog {
    /// Checks the services against the sources.
    ///
    /// # Errors
    /// Every reference that leads nowhere.
    pub fn new(services: BTreeMap<ServiceName, Service>, sources: Sources) -> Result<Self, Vec<CatalogError>> {
        let mut errors = Vec::new();
        for (name, service) in &services {
            for dependency in &service.depends_on {
                if !services.contains_key(dependency) {
                    errors.push(CatalogError::NoDependency { service: name.clone(), dependency: dependency.clone() });
                }
            }
            let missing = service.source_names().into_iter().filter(|(kind, source)| !sources.has(kind, source));
            errors.extend(missing.map(|(kind, source)| CatalogError::NoSource {
                service: name.clone(),
                kind,
                source_name: source.clone(),
            }));
        }
        if errors.is_empty() { Ok(Self { services, sources }) } else { Err(errors) }
    }

    /// One service.
    #[must_use]
    pub fn service(&self, name: &ServiceName) -> Option<&Service> {
        self.services.get(name)
    }

    /// All services by name.
    #[must_use]
    pub fn services(&self) -> &BTreeMap<ServiceName, Service> {
        &self.services
    }

    /// The configured sources.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The services that `name` depends on, and those that depend on it.
    #[must_use]
    pub fn neighbours(&self, name: &ServiceName) -> Vec<&ServiceName> {
        let mut found: Vec<&ServiceName> =
            self.services.get(name).map(|service| service.depends_on.iter().collect()).unwrap_or_default();
        found.extend(
            self.services.iter().filter(|(_, service)| service.depends_on.contains(name)).map(|(other, _)| other),
        );
        found.sort_unstable();
        found.dedup();
        found
    }
}
