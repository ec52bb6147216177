//! A receipt comes from the ledger alone, is there once, and the ledger takes nothing from outside the kernel.

use serde::Serialize;
use serde::de::DeserializeOwned;
use warrant_kernel::domain::digest::Digest;
use warrant_kernel::ledger::Ledger;
use warrant_kernel::ledger::receipt::Receipt;
use warrant_kernel::ledger::record::{Entry, RecordKind};

fn made(hash: Digest) -> Receipt {
    Receipt::new(1, hash, None)
}

async fn intended(ledger: &Ledger) {
    let _receipt = ledger.intend(Vec::new(), Entry::new(RecordKind::Intent), Vec::new()).await;
}

async fn appended(ledger: &Ledger) {
    let _seqs = ledger.append(vec![Entry::new(RecordKind::Vote)], Vec::new()).await;
}

fn clones<T: Clone>() {}

fn defaults<T: Default>() {}

fn writes<T: Serialize>() {}

fn reads<T: DeserializeOwned>() {}

fn main() {
    clones::<Receipt>();
    defaults::<Receipt>();
    writes::<Receipt>();
    reads::<Receipt>();
}
