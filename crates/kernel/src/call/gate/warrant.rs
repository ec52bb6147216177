//! The warrant: one write, once.
//!
//! Only the gate issues one, and only for a receipt of the ledger, so no write happens that the ledger does not know of.
//! It is spent by move.

use crate::domain::plan::Plan;
use crate::ledger::receipt::Receipt;

/// The permission for exactly one write.
#[must_use]
#[derive(Debug)]
pub struct Warrant {
    plan: Plan,
    receipt: Receipt,
}

impl Warrant {
    /// For a plan whose intent would survive a crash from here on; none where the receipt is for another plan.
    pub(in crate::call) fn issue(plan: Plan, receipt: Receipt) -> Option<Self> {
        (receipt.plan_digest() == Some(plan.digest.as_str())).then_some(Self { plan, receipt })
    }

    /// What it permits.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The ledger's record of the intent.
    #[must_use]
    pub fn intent(&self) -> u64 {
        self.receipt.seq()
    }

    /// Uses it up.
    #[must_use]
    pub fn spend(self) -> Plan {
        self.plan
    }
}
