//! A warrant comes from the gate alone, for a receipt, and is there once.

use serde::Serialize;
use serde::de::DeserializeOwned;
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::domain::plan::Plan;
use warrant_kernel::ledger::receipt::Receipt;

fn issued(plan: Plan, receipt: Receipt) -> Option<Warrant> {
    Warrant::issue(plan, receipt)
}

fn clones<T: Clone>() {}

fn defaults<T: Default>() {}

fn writes<T: Serialize>() {}

fn reads<T: DeserializeOwned>() {}

fn main() {
    clones::<Warrant>();
    defaults::<Warrant>();
    writes::<Warrant>();
    reads::<Warrant>();
}
