//! What tools are made of, and the registry that joins them with their definitions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use warrant_kernel::call::definition::{Definition, Definitions};
use warrant_kernel::call::registry::{Code, Registry};
use warrant_kernel::call::tool::ReadTool;
use warrant_kernel::domain::name::ToolName;
use warrant_kernel::domain::tool::ToolRun;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;
use warrant_toolbox::tools::process::Program;
use warrant_toolbox::tools::sources::changes::Changes;
use warrant_toolbox::tools::sources::http::clients::HttpClients;
use warrant_toolbox::tools::workspace::Workspaces;
use warrant_toolbox::tools::read;
use warrant_toolbox::tools::write::Hands;

/// What tools are made of.
pub(super) struct Equipment<'a> {
    pub(super) catalog: &'a Arc<Catalog>,
    pub(super) clients: &'a Arc<HttpClients>,
    pub(super) workspaces: &'a Arc<Workspaces>,
    pub(super) library: &'a Arc<Library>,
    /// Where what edits replaced is kept.
    pub(super) kept: PathBuf,
}

impl Equipment<'_> {
    pub(super) fn registry(&self, definitions: Definitions, problems: &mut Vec<String>) -> Option<Registry> {
        let mut code: BTreeMap<ToolName, Code> =
            self.reads().into_iter().map(|(name, tool)| (name, Code::Read(tool))).collect();
        let hands = Hands {
            catalog: Arc::clone(self.catalog),
            workspaces: Arc::clone(self.workspaces),
            clients: Arc::clone(self.clients),
            kept: self.kept.clone(),
        };
        code.extend(hands.tools().into_iter().map(|(name, tool)| (name, Code::Write(tool))));
        for definition in definitions.iter().map(Definition::tool) {
            if matches!(definition.run, ToolRun::Http(_)) {
                match read::http_tool::http_tool(definition, Arc::clone(self.catalog), Arc::clone(self.clients)) {
                    Ok(tool) => drop(code.insert(definition.name.clone(), Code::Read(tool))),
                    Err(errors) => problems.extend(errors.iter().map(ToString::to_string)),
                }
            }
        }
        Registry::new(definitions, code).map_err(|errors| problems.extend(errors.iter().map(ToString::to_string))).ok()
    }

    fn reads(&self) -> BTreeMap<ToolName, Arc<dyn ReadTool>> {
        let catalog = || Arc::clone(self.catalog);
        let clients = || Arc::clone(self.clients);
        let workspaces = || Arc::clone(self.workspaces);
        let library = || Arc::clone(self.library);
        let changes = Changes::new(catalog(), workspaces(), Program::find("git"));
        let tools: [(&str, Arc<dyn ReadTool>); 16] = [
            ("active_alerts", read::active_alerts::active_alerts(catalog(), clients())),
            ("compare_logs", read::compare_logs::tool(catalog())),
            ("describe_service", read::describe_service::describe_service(catalog())),
            ("http_check", read::http_check::http_check(catalog(), clients())),
            ("list_files", read::list_files::list_files(workspaces())),
            ("list_metrics", read::list_metrics::list_metrics(catalog(), clients())),
            ("list_services", read::list_services::list_services(catalog())),
            ("query_metrics", read::query_metrics::query_metrics(catalog(), clients())),
            ("read_evidence", read::read_evidence::read_evidence()),
            ("read_file", read::read_file::read_file(workspaces())),
            ("read_runbook", read::read_runbook::read_runbook(library())),
            ("recent_changes", read::recent_changes::recent_changes(catalog(), changes)),
            ("scrape_metrics", read::scrape_metrics::scrape_metrics(catalog(), clients())),
            ("search_files", read::search_files::search_files(workspaces())),
            ("search_logs", read::search_logs::tool(catalog())),
            ("search_runbooks", read::search_runbooks::search_runbooks(library())),
        ];
        tools.into_iter().filter_map(|(name, tool)| Some((name.parse().ok()?, tool))).collect()
    }
}
