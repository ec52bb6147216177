//! The receipt for an intent that would survive a crash.

/// Proof that the intent of one write is durable. Only the ledger makes one.
#[must_use]
#[derive(Debug)]
pub struct Receipt {
    intent: u64,
}

impl Receipt {
    /// For the intent with this number, once its record is durable.
    pub(super) fn new(intent: u64) -> Self {
        Self { intent }
    }

    /// The number of the intent's record.
    pub(crate) fn intent(&self) -> u64 {
        self.intent
    }
}
