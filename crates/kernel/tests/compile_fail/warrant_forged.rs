//! Nobody writes a warrant by hand.

use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::domain::plan::Plan;
use warrant_kernel::ledger::receipt::Receipt;

fn forged(plan: Plan, receipt: Receipt) -> Warrant {
    Warrant { plan, receipt }
}

fn main() {}
