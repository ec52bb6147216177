//! What is read from the directories that the config names: tools, policies, runbooks, and with them the model that goes by
//! runbooks. It is read whole or not at all, at the start and whenever it is read again.

use std::collections::BTreeSet;
use std::sync::Arc;

use warrant_kernel::call::definition::{DefinitionFile, Definitions, LoadContext, Standing};
use warrant_kernel::domain::name::{SourceName, ToolName};
use warrant_kernel::redact::KnownSecret;
use warrant_toolbox::runbook::library::Library;
use warrant_toolbox::tools::write::Hands;

use super::equipment::Equipment;
use super::files::{self, Found};
use super::marks::Marks;
use super::shell::Shell;
use super::{Env, builtin, policy, roles};
use crate::agent::investigate::Bench;
use crate::agent::model::Model;
use crate::config::Config;
use crate::model::config::RUNBOOK;
use crate::model::fallback::List;
use crate::model::retry::system_jitter;
use crate::model::runbook::RunbookModel;

/// What stays as long as the process runs.
pub(super) struct Ground<'a> {
    pub(super) config: &'a Config,
    pub(super) hands: &'a Hands,
    pub(super) shell: &'a Shell,
    pub(super) env: Env<'a>,
    pub(super) only_model: Option<&'a str>,
}

/// What may be read again.
pub(super) struct Sets {
    pub(super) bench: Bench,
    pub(super) model: Arc<dyn Model>,
    /// The keys of models.
    pub(super) secrets: Vec<KnownSecret>,
    pub(super) policies: Vec<Found>,
    /// The files as they looked before they were read.
    pub(super) marks: Marks,
}

impl Ground<'_> {
    pub(super) fn sets(&self, problems: &mut Vec<String>) -> Option<Sets> {
        let (config, marks) = (self.config, Marks::of(self.config));
        let library = Arc::new(Library::load(builtin::RUNBOOKS, &config.runbook_dirs));
        problems.extend(library.problems().iter().map(ToString::to_string));
        let definitions = definitions(config, problems);
        let policies = policy::load::texts(config, problems);
        let policy = definitions
            .as_ref()
            .and_then(|definitions| policy::load::tested(config, &policies, definitions, problems))
            .map(Arc::new);
        let registry = definitions.and_then(|mut definitions| {
            self.shell.leave_out(&mut definitions);
            let parts = Equipment { hands: self.hands, library: &library, shell: self.shell, policy: policy.as_ref() };
            parts.registry(definitions, problems)
        });
        let (model, secrets) = self.model(&library, problems);
        let catalog = Arc::clone(&self.hands.catalog);
        let bench = Bench { registry: Arc::new(registry?), catalog, library, policy: policy? };
        Some(Sets { bench, model: model?, secrets, policies, marks })
    }

    /// The models in their order, and their keys.
    fn model(&self, library: &Arc<Library>, problems: &mut Vec<String>) -> (Option<Arc<dyn Model>>, Vec<KnownSecret>) {
        let config = self.config;
        let mut secrets = Vec::new();
        let mut models: Vec<Arc<dyn Model>> = Vec::new();
        let order: Vec<&str> = match self.only_model {
            Some(only) => vec![only],
            None => config.model_order.iter().map(String::as_str).collect(),
        };
        for name in order {
            if name == RUNBOOK {
                models.push(Arc::new(RunbookModel::new(Arc::clone(&self.hands.catalog), Arc::clone(library))));
                continue;
            }
            let Some(section) = config.models.get(name) else {
                let known: Vec<&str> = config.models.keys().map(String::as_str).chain([RUNBOOK]).collect();
                problems.push(format!("there is no model `{name}`; there are: {}", known.join(", ")));
                continue;
            };
            match crate::model::config::build(name, section, self.env, system_jitter()) {
                Ok(built) => {
                    let label = format!("{name}_api_key");
                    secrets.extend(built.secrets.into_iter().map(|secret| KnownSecret::new(&label, secret)));
                    models.push(built.model);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        if models.len() < 2 {
            return (models.pop(), secrets);
        }
        let first = models.remove(0);
        (Some(Arc::new(List::new(first, models))), secrets)
    }
}

fn definitions(config: &Config, problems: &mut Vec<String>) -> Option<Definitions> {
    let found = files::read(&config.tool_dirs, "toml", builtin::TOOLS, problems);
    let http_sources: BTreeSet<SourceName> = config.catalog.sources().http.keys().cloned().collect();
    let context = LoadContext { http_sources: &http_sources, roles: &roles(config) };
    let files = found.iter().map(|file| DefinitionFile {
        name: &file.name,
        text: &file.text,
        standing: if file.is_builtin { Standing::BuiltIn } else { Standing::Operator },
    });
    let loaded = Definitions::load(files, &context);
    let mut definitions = loaded.map_err(|errors| problems.extend(errors.iter().map(ToString::to_string))).ok()?;
    for (role, tools) in &config.roles {
        if let Err(missing) = definitions.grant(role, tools) {
            let missing: Vec<&str> = missing.iter().map(ToolName::as_str).collect();
            problems.push(format!("`[roles.{role}]`: there is no tool `{}`", missing.join("`, `")));
        }
    }
    Some(definitions)
}
