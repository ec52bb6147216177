//! Nobody outside makes a warrant or a receipt: no constructor, no fields, no default, nothing read from JSON.

use serde::de::DeserializeOwned;
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::domain::digest::Digest;
use warrant_kernel::domain::plan::Plan;
use warrant_kernel::ledger::receipt::Receipt;

fn reads<T: DeserializeOwned>() {}

fn defaults<T: Default>() {}

fn issued(plan: Plan, receipt: Receipt) -> Option<Warrant> {
    Warrant::issue(plan, receipt)
}

fn put_together(plan: Plan, receipt: Receipt) -> Warrant {
    Warrant { plan, receipt }
}

fn received(hash: Digest) -> Receipt {
    Receipt::new(7, hash, None)
}

fn copied(earlier: Receipt) -> Receipt {
    Receipt { ..earlier }
}

fn main() {
    reads::<Warrant>();
    reads::<Receipt>();
    defaults::<Warrant>();
    defaults::<Receipt>();
}
