//! What was cleared is carried out once: it goes by move.

use warrant_kernel::call::gate::Cleared;

fn spend(_: Cleared<'_>) {}

fn twice(cleared: Cleared<'_>) {
    spend(cleared);
    spend(cleared);
}

fn main() {}
