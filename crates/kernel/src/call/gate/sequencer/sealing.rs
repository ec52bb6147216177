//! Sealing a value of the ledger: two persons ask for the same, each of whom policy lets.

use crate::call::gate::objection::Objection;
use crate::call::gate::vote::Claimant;
use crate::ledger::seal::{Consent, Sealed, Sealing};
use crate::people::directory::Freshness;
use crate::policy::standing::Verb;

use super::Sequencer;
use super::kept::unread;

impl Sequencer {
    /// Asks for a sealing, or does it as the second person.
    ///
    /// # Errors
    /// Why the person may not, or why it is not possible.
    pub async fn seal(&self, by: &Claimant, sealing: &Sealing) -> Result<Sealed, Objection> {
        self.eligible(by, Verb::Seal, None, Freshness::Now, self.watch.now()).await?;
        let sealing = Sealing { reason: self.mask(&sealing.reason)?, ..sealing.clone() };
        let consent = Consent { person: by.person.clone(), proved: by.proof.to_string() };
        self.ledger.seal(&sealing, &consent).await.map_err(unread)
    }
}
