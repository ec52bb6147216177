//! Stage 7: decisions and results are kept, and the span is closed.

use async_trait::async_trait;

use crate::domain::decision::Decision;
use crate::domain::event::Call;
use crate::domain::result::ToolResult;
use crate::store::capture::Captured;

use super::Desk;
use super::gate::card::Card;
use super::gate::deed::Deed;

/// Where an investigation's decisions and results go. It never fails: what can't be stored is kept in memory, and the
/// investigation is marked volatile.
#[async_trait]
pub trait Recorder: Send + Sync {
    /// Keeps a decision.
    async fn decided(&self, decision: &Decision);

    /// Whether whole outputs can be read again later; what the model is told hangs on it.
    fn keeps_wholes(&self) -> bool {
        true
    }

    /// Keeps that people are asked about a write.
    async fn asked(&self, _card: &Card) {}

    /// Keeps what came of a write, before its result.
    async fn wrote(&self, _deed: &Deed) {}

    /// Keeps a result, and the whole output where there is one.
    async fn answered(&self, call: &Call, result: &ToolResult, whole: Option<Captured>);
}

/// Keeps nothing; for single calls from the command line.
pub struct NotKept;

#[async_trait]
impl Recorder for NotKept {
    fn keeps_wholes(&self) -> bool {
        false
    }

    async fn decided(&self, _decision: &Decision) {}

    async fn answered(&self, _call: &Call, _result: &ToolResult, _whole: Option<Captured>) {}
}

/// Records the result and gives it back.
pub(super) async fn result(desk: Desk<'_>, call: &Call, result: ToolResult, whole: Option<Captured>) -> ToolResult {
    tracing::debug!(
        call = %call.id, tool = %result.tool, status = ?result.status, duration_ms = result.meta.duration_ms,
        "call carried out"
    );
    desk.recorder.answered(call, &result, whole).await;
    result
}
