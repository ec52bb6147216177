//! What tools are made of, and the registry that joins them with their definitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use warrant_kernel::call::definition::{Definition, Definitions};
use warrant_kernel::call::registry::{Code, Registry};
use warrant_kernel::call::tool::ReadTool;
use warrant_kernel::domain::decision::Risk;
use warrant_kernel::domain::name::ToolName;
use warrant_kernel::domain::tool::ToolRun;
use warrant_kernel::policy::Policy;
use warrant_toolbox::runbook::library::Library;
use warrant_toolbox::tools::process::Program;
use warrant_toolbox::tools::read;
use warrant_toolbox::tools::read::command_tool::{OfCommands, command_tool};
use warrant_toolbox::tools::read::http_tool::http_tool;
use warrant_toolbox::tools::read::sight::Sight;
use warrant_toolbox::tools::sources::changes::Changes;
use warrant_toolbox::tools::write::Hands;
use warrant_toolbox::tools::write::http_write::http_write;

use super::shell::Shell;
use super::sight::{DESCRIBE, PolicySight};

/// What tools are made of.
pub(super) struct Equipment<'a> {
    pub(super) hands: &'a Hands,
    pub(super) library: &'a Arc<Library>,
    pub(super) shell: &'a Shell,
    pub(super) policy: Option<&'a Arc<Policy>>,
}

impl Equipment<'_> {
    pub(super) fn registry(&self, definitions: Definitions, problems: &mut Vec<String>) -> Option<Registry> {
        let mut code: BTreeMap<ToolName, Code> =
            self.reads(self.sight(&definitions)).into_iter().map(|(name, tool)| (name, Code::Read(tool))).collect();
        code.extend(self.hands.tools().into_iter().map(|(name, tool)| (name, Code::Write(tool))));
        if let Some((sandbox, commands)) = &self.shell.ready {
            let tool = read::run_command::run_command(
                Arc::clone(commands),
                Arc::clone(&self.hands.workspaces),
                sandbox.clone(),
            );
            code.extend("run_command".parse().map(|name| (name, Code::Read(tool))));
            let of = OfCommands { commands, workspaces: &self.hands.workspaces, sandbox };
            for definition in definitions.iter().map(Definition::tool) {
                let ToolRun::Command(run) = &definition.run else { continue };
                match command_tool(definition, run, of) {
                    Ok(made) => drop(code.insert(definition.name.clone(), Code::Read(made))),
                    Err(error) => problems.push(error.to_string()),
                }
            }
        }
        for definition in definitions.iter().map(Definition::tool) {
            let ToolRun::Http(_) = &definition.run else { continue };
            let (catalog, clients) = (Arc::clone(&self.hands.catalog), Arc::clone(&self.hands.clients));
            let made = match definition.risk {
                Risk::Read => http_tool(definition, catalog, clients).map(Code::Read),
                Risk::Write | Risk::Shell | Risk::Network | Risk::Dangerous => {
                    http_write(definition, catalog, &clients).map(Code::Write)
                }
            };
            match made {
                Ok(made) => drop(code.insert(definition.name.clone(), made)),
                Err(errors) => problems.extend(errors.iter().map(ToString::to_string)),
            }
        }
        Registry::new(definitions, code).map_err(|errors| problems.extend(errors.iter().map(ToString::to_string))).ok()
    }

    fn sight(&self, definitions: &Definitions) -> Arc<dyn Sight> {
        let mut all = definitions.iter().map(Definition::tool);
        Arc::new(PolicySight {
            catalog: Arc::clone(&self.hands.catalog),
            policy: self.policy.cloned(),
            describe: all.find(|tool| tool.name.as_str() == DESCRIBE).cloned(),
        })
    }

    fn reads(&self, sight: Arc<dyn Sight>) -> BTreeMap<ToolName, Arc<dyn ReadTool>> {
        let catalog = || Arc::clone(&self.hands.catalog);
        let clients = || Arc::clone(&self.hands.clients);
        let workspaces = || Arc::clone(&self.hands.workspaces);
        let library = || Arc::clone(self.library);
        let changes = Changes::new(catalog(), workspaces(), Program::find("git"));
        let tools: [(&str, Arc<dyn ReadTool>); 16] = [
            ("active_alerts", read::active_alerts::active_alerts(catalog(), clients())),
            ("compare_logs", read::compare_logs::tool(catalog())),
            ("describe_service", read::describe_service::describe_service(catalog())),
            ("http_check", read::http_check::http_check(catalog(), clients())),
            ("list_files", read::list_files::list_files(workspaces())),
            ("list_metrics", read::list_metrics::list_metrics(catalog(), clients())),
            ("list_services", read::list_services::list_services(catalog(), Arc::clone(&sight))),
            ("query_metrics", read::query_metrics::query_metrics(catalog(), clients())),
            ("read_evidence", read::read_evidence::read_evidence()),
            ("read_file", read::read_file::read_file(workspaces())),
            ("read_runbook", read::read_runbook::read_runbook(library())),
            ("recent_changes", read::recent_changes::recent_changes(catalog(), changes, sight)),
            ("scrape_metrics", read::scrape_metrics::scrape_metrics(catalog(), clients())),
            ("search_files", read::search_files::search_files(workspaces())),
            ("search_logs", read::search_logs::tool(catalog())),
            ("search_runbooks", read::search_runbooks::search_runbooks(library())),
        ];
        tools.into_iter().filter_map(|(name, tool)| Some((name.parse().ok()?, tool))).collect()
    }
}
