//! Many approvals at once, as they are asked for: which they are is told by the index, and no more of them is read.

use crate::call::gate::objection::Objection;
use crate::domain::plan::ApprovalId;

use super::Sequencer;
use super::shown::{Counted, Listed, Mark, Since};

impl Sequencer {
    /// All approvals about which somebody still has something to do, and the `newest`; newest first.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where they can't be read.
    pub async fn list(&self, newest: usize) -> Result<Vec<Listed>, Objection> {
        let ids = self.index().newest(newest);
        self.lines(ids).await
    }

    /// How many approvals there are.
    #[must_use]
    pub fn total(&self) -> usize {
        self.index().total()
    }

    /// Approvals before one, where they stand at `state`; newest first.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where they can't be read.
    pub async fn page(
        &self,
        before: Option<ApprovalId>,
        state: Option<&str>,
        most: usize,
    ) -> Result<Vec<Listed>, Objection> {
        let now = self.watch.now();
        let ids = self.index().page(before, state, most, now);
        self.lines(ids).await
    }

    /// All approvals about which somebody still has something to do, and those that have changed since; newest first. The
    /// mark is what to ask from the next time.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where they can't be read.
    pub async fn changed(&self, since: Since) -> Result<(Vec<Listed>, Mark), Objection> {
        let (ids, mark) = self.index().changed(since);
        Ok((self.lines(ids).await?, mark))
    }

    /// One approval.
    ///
    /// # Errors
    /// [`Objection::NoSuch`]; [`Objection::Ledger`] where it can't be read.
    pub async fn line(&self, id: ApprovalId) -> Result<Listed, Objection> {
        Ok(Listed::of(&self.seen(id).await?))
    }

    /// Whether nothing more comes of an approval, unless a person takes it up again.
    #[must_use]
    pub fn is_settled(&self, id: ApprovalId) -> bool {
        self.index().is_settled(id)
    }

    /// All approvals in numbers.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let now = self.watch.now();
        self.index().counted(now)
    }

    async fn lines(&self, ids: Vec<ApprovalId>) -> Result<Vec<Listed>, Objection> {
        let mut lines = Vec::with_capacity(ids.len());
        for id in ids {
            lines.push(Listed::of(&self.seen(id).await?));
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests;
