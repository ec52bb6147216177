//! Whom policy lets see which service, for tools whose answers speak of many.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Map;
use warrant_kernel::domain::decision::Action;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::run::Run;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::tool::ToolDefinition;
use warrant_kernel::policy::{Policy, Question};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::tools::read::sight::Sight;

use super::App;

/// Who may see a service is who may have it described.
pub(super) const DESCRIBE: &str = "describe_service";

/// Asks policy as if the service were to be described.
pub(super) struct PolicySight {
    pub(super) catalog: Arc<Catalog>,
    /// None where policies did not load: then nobody sees anything.
    pub(super) policy: Option<Arc<Policy>>,
    /// The definition of [`DESCRIBE`].
    pub(super) describe: Option<ToolDefinition>,
}

impl PolicySight {
    /// Who of an app's services may be seen.
    pub(super) fn of(app: &App) -> Self {
        let describe = app.bench.registry.get(DESCRIBE).map(|tool| tool.about().clone());
        Self { catalog: Arc::clone(&app.bench.catalog), policy: Some(Arc::clone(&app.bench.policy)), describe }
    }
}

impl Sight for PolicySight {
    fn sees(&self, run: &Run, now: Timestamp, name: &ServiceName) -> bool {
        let (Some(policy), Some(tool), Some(service)) = (&self.policy, &self.describe, self.catalog.service(name))
        else {
            return false;
        };
        let Ok(source) = "catalog".parse() else { return false };
        let target = Target {
            kind: TargetKind::Service,
            name: name.to_string(),
            service: Some(name.clone()),
            environment: service.environment.clone(),
            owner: service.owner.clone(),
            source,
        };
        let args = Map::from_iter([("service".to_owned(), name.to_string().into())]);
        policy.decide(&Question { run, tool, target: &target, args: &args, now }).action == Action::Allow
    }
}
