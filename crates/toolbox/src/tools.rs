//! The tools, and what they read from.

pub mod workspace;

pub mod process;

pub mod command;

pub mod sources;

pub mod read;

pub mod write;

use warrant_kernel::call::tool::Services;
use warrant_kernel::domain::name::ServiceName;

use crate::catalog::Catalog;

// Here and not beside the catalog: the catalog knows the shared words, and nothing of calls.
impl Services for Catalog {
    fn names(&self) -> Vec<ServiceName> {
        self.services().keys().cloned().collect()
    }
}
