//! Without a warrant there is no write: a plan alone permits nothing.

use warrant_kernel::call::write::{Looking, WriteTool};
use warrant_kernel::domain::plan::Plan;

async fn without(tool: &dyn WriteTool, plan: Plan, looking: Looking<'_>) {
    let _done = tool.write(plan, looking).await;
}

fn main() {}
