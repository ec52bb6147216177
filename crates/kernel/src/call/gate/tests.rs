//! The gate as a whole: over the real ledger in memory, real policies, and doubles of the world, the people and the clock.

pub(super) mod world;

mod approvals;

mod people;

mod tiers;

mod naming;

mod crashes;

mod again;

mod rules;

mod tokens;

mod history;

mod faults;

mod simulation;
