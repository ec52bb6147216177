//! `/warrant handover`: what happened in a shift, in ten lines.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use warrant_kernel::call::gate::approval::State as ApprovalState;
use warrant_kernel::call::gate::sequencer::shown::Listed;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::time::parse_duration;

use super::Slack;
use super::talk::{Later, key_of};
use crate::app::SystemClock;
use crate::chat::slack::incident::{Handover, handover};
use crate::chat::slack::incoming::By;
use crate::chat::slack::outbox::{Class, Thread};

/// How far it goes back, where nobody says.
const SHIFT: SignedDuration = SignedDuration::from_hours(8);

impl Slack {
    /// Tells it; of what not everybody may read who reads there, only how much there is.
    pub(super) async fn hand_over(&self, key: &str, by: &By, channel: &str, span: Option<&str>) -> Result<(), Later> {
        let Ok(span) = span.map_or(Ok(SHIFT), parse_duration) else {
            self.whisper(&by.user, Some(channel), None, "Write a span, as in: /warrant handover 8h").await;
            return Ok(());
        };
        let until = SystemClock.now();
        let since = until.checked_sub(span).unwrap_or(Timestamp::MIN);
        let begun = self.store.list(200).await?;
        let begun = begun.into_iter().filter(|it| it.opened_at.parse::<Timestamp>().is_ok_and(|at| at >= since));
        let (mut investigated, mut withheld) = (Vec::new(), BTreeSet::new());
        for it in begun {
            if !self.may_tell(channel, &it.id).await {
                withheld.insert(it.id);
                continue;
            }
            let outcome = it.outcome.as_deref().unwrap_or("runs");
            investigated.push(format!("{}: {}", outcome, it.question.lines().next().unwrap_or_default()));
        }
        if !withheld.is_empty() {
            investigated.push(format!("{} more, which not everybody may read who reads here", withheld.len()));
        }
        let approvals = self.hold.sequencer().list(200).await.map_err(|error| Later::Broken(error.to_string()))?;
        let (mut changed, mut waiting) = (Vec::new(), Vec::new());
        let is_told = |approval: &&Listed| match &approval.state {
            ApprovalState::Open | ApprovalState::Approved { .. } => true,
            _ => approval.requested_at >= since,
        };
        for approval in approvals.iter().filter(is_told) {
            let line = if self.may_tell_of(channel, approval).await {
                format!("{}: {}", approval.approval, approval.effect)
            } else {
                format!("{}, which not everybody may read who reads here", approval.approval)
            };
            match &approval.state {
                ApprovalState::Open | ApprovalState::Approved { .. } => waiting.push(line),
                ApprovalState::Executed { .. } if approval.requested_at >= since => changed.push(line),
                _ => {}
            }
        }
        let shift = Handover { since, until, investigated, changed, waiting };
        self.put(format!("handover-{}", key_of(key)), channel, Thread::None, Class::Report, &handover(&shift)).await
    }

    async fn may_tell(&self, channel: &str, id: &InvestigationId) -> bool {
        // What can't be looked up is not told.
        self.state(id).await.is_ok_and(|state| !self.is_withheld(channel, &state))
    }

    async fn may_tell_of(&self, channel: &str, approval: &Listed) -> bool {
        let hidden = || self.hidden(channel);
        let is_hidden = approval.service.as_ref().is_some_and(|service| hidden().contains(service));
        !is_hidden && self.may_tell(channel, &approval.investigation).await
    }
}
