//! The write tools, one file a tool, and what they share.
//!
//! A tool says what would happen and, handed a warrant, does it once. It decides nothing: whether it may is the gate's to
//! say. What a tool does with a plan stands in functions of its own over the plan, so that tests reach it without a warrant.
//! [`Hands::tools`] makes those that are built in, [`check::check`] proves them dry.

#[cfg(test)]
mod trying;

pub mod kept;

pub mod change;

pub mod parsed;

pub mod diff;

pub mod names;

pub mod owned;

pub mod validate;

pub mod seen;

pub mod file;

pub mod edit_config;

pub mod restore_config;

pub mod restart;

pub mod restart_service;

pub mod matchers;

pub mod create_silence;

pub mod http_write;

pub mod check;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use warrant_kernel::call::write::WriteTool;
use warrant_kernel::domain::name::ToolName;

use crate::catalog::Catalog;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::workspace::Workspaces;
use file::Files;
use kept::Kept;

/// What the write tools work with.
#[derive(Clone)]
pub struct Hands {
    /// The services.
    pub catalog: Arc<Catalog>,
    /// Their files.
    pub workspaces: Arc<Workspaces>,
    /// Their servers.
    pub clients: Arc<HttpClients>,
    /// A directory of Warrant's own beside its store, for what edits replace. It must be among its own files.
    pub kept: PathBuf,
}

impl Hands {
    /// The built-in tools, by name.
    #[must_use]
    pub fn tools(&self) -> BTreeMap<ToolName, Arc<dyn WriteTool>> {
        let kept = Kept::at(self.kept.clone());
        let (catalog, workspaces) = (Arc::clone(&self.catalog), Arc::clone(&self.workspaces));
        let files = Arc::new(Files { catalog, workspaces, kept: kept.clone() });
        let (catalog, clients) = (|| Arc::clone(&self.catalog), || Arc::clone(&self.clients));
        let tools: [(&str, Arc<dyn WriteTool>); 5] = [
            ("create_silence", create_silence::create_silence(catalog(), clients())),
            ("edit_config", edit_config::edit_config(Arc::clone(&files))),
            ("edit_temp_config", edit_config::edit_temp_config(Arc::clone(&files))),
            ("restart_service", restart_service::restart_service(catalog(), clients(), kept)),
            ("restore_config", restore_config::restore_config(files)),
        ];
        tools.into_iter().filter_map(|(name, tool)| Some((name.parse().ok()?, tool))).collect()
    }
}
