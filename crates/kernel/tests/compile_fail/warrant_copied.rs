//! A warrant and a receipt are there once: neither copied nor written down.

use serde::Serialize;
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::ledger::receipt::Receipt;

fn clones<T: Clone>() {}

fn writes<T: Serialize>() {}

fn main() {
    clones::<Warrant>();
    clones::<Receipt>();
    writes::<Warrant>();
    writes::<Receipt>();
}
