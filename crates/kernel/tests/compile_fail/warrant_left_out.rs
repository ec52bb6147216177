//! No write without a warrant, and no way to one past the sequencer.

use warrant_kernel::call::gate::sequencer::Sequencer;
use warrant_kernel::call::registry::Registry;
use warrant_kernel::call::write::{Looking, WriteTool};
use warrant_kernel::domain::plan::{ApprovalId, Plan};
use warrant_kernel::ledger::Ledger;
use warrant_kernel::ledger::record::Entry;

async fn by_plan(tool: &dyn WriteTool, plan: Plan, looking: Looking<'_>) {
    let _ = tool.write(plan, looking).await;
}

async fn by_nothing(tool: &dyn WriteTool, looking: Looking<'_>) {
    let _ = tool.write((), looking).await;
}

async fn by_the_ledger(ledger: &Ledger, entry: Entry) {
    let _ = ledger.intend(Vec::new(), entry.clone(), Vec::new()).await;
    let _ = ledger.append(vec![entry.clone()], Vec::new()).await;
    let _ = ledger.close(7, entry, Vec::new()).await;
}

async fn by_the_sequencer(sequencer: &Sequencer, id: ApprovalId) {
    let granted = sequencer.grant(id, &[]).await;
    let _ = sequencer.perform(granted.unwrap()).await;
}

fn by_the_registry(registry: &Registry) {
    let _ = registry.get("restart_service").unwrap().write_code();
}

fn main() {}
