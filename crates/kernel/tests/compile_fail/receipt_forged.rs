//! Nobody writes a receipt by hand.

use warrant_kernel::domain::digest::Digest;
use warrant_kernel::ledger::receipt::Receipt;

fn forged(hash: Digest) -> Receipt {
    Receipt { seq: 1, hash, plan_digest: None }
}

fn renewed(earlier: Receipt) -> Receipt {
    Receipt { ..earlier }
}

fn main() {}
