//! `restore_config`: takes back one of our own edits.
//!
//! It puts back bytes that were kept when we replaced them, into the file they came from, and only while that file is what
//! an edit of ours made of it: what somebody else wrote since is not thrown away.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Deserialize;
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::tool::{Arguments, Problem};
use warrant_kernel::call::write::{Effect, Looking, Probed, Verdict, WriteError, WriteTool};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::plan::{Facts, Plan, Preview, Proposal};
use warrant_kernel::domain::target::Target;

use crate::tools::workspace::Place;
use crate::tools::workspace::held::{Held, sha256};
use crate::tools::write::file::{Files, blocking, bound, cant_look, refused, unfit};
use crate::tools::write::kept::Kept;
use crate::tools::write::owned::target;

pub(super) struct Restore {
    files: Arc<Files>,
}

/// The tool.
#[must_use]
pub fn restore_config(files: Arc<Files>) -> Arc<dyn WriteTool> {
    Arc::new(Restore { files })
}

#[derive(Debug, Clone, Deserialize)]
struct Args {
    path: String,
    sha256: String,
}

/// The content to put back.
fn content(kept: &Kept, place: &Place, wanted: &str, held: &Held) -> Result<Vec<u8>, WriteError> {
    let path = place.path.as_str();
    let edits = kept.edits(place);
    let now = held.sha256();
    if now == wanted {
        return Err(refused("NOOP", format!("`{path}` already has this content")));
    }
    let bytes = edits.iter().filter(|edit| edit.before == wanted).find_map(|edit| kept.content(place, edit));
    let Some(bytes) = bytes else {
        let message = format!(
            "no content of `{path}` with this digest is kept: only what our own edits replaced is, for a while"
        );
        return Err(refused("NOT_KEPT", message));
    };
    if edits.iter().any(|edit| edit.after == now) {
        return Ok(bytes);
    }
    let message = format!(
        "`{path}` was changed by somebody else since our edit, and restoring would throw that away; change it with \
         `edit_config`"
    );
    Err(refused("CHANGED_SINCE", message))
}

impl Restore {
    fn place(&self, args: &Args) -> Result<Place, WriteError> {
        self.files.workspaces.place("path", &args.path).map_err(unfit)
    }

    async fn look(&self, arguments: &Arguments) -> Result<(Place, Held, Vec<u8>), WriteError> {
        let args: Args = arguments.parse().map_err(unfit)?;
        let place = self.place(&args)?;
        let kept = self.files.kept.clone();
        blocking(move || {
            let held = place.root.hold(&place.path)?;
            let bytes = content(&kept, &place, &args.sha256, &held)?;
            Ok((place, held, bytes))
        })
        .await
    }

    /// Puts back what a plan says.
    pub(super) async fn apply(&self, plan: Plan) -> Result<Effect, WriteError> {
        let args: Args = Arguments::checked(plan.arguments.clone()).parse().map_err(unfit)?;
        let place = self.place(&args)?;
        target(&self.files.catalog, &place).map_err(unfit)?;
        let files = Arc::clone(&self.files);
        blocking(move || files.put(&plan, &place, |held| content(&files.kept, &place, &args.sha256, held))).await
    }

    fn place_of(&self, plan: &Plan) -> Result<Place, WriteError> {
        self.place(&Arguments::checked(plan.arguments.clone()).parse().map_err(unfit)?)
    }
}

#[async_trait]
impl WriteTool for Restore {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let digest = args.text("sha256").unwrap_or_default();
        let hex = digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let digest = if hex {
            None
        } else {
            Some(Problem::of("sha256", "must be a SHA-256 in 64 hexadecimal digits, as an edit's undo names it"))
        };
        let place = self.files.workspaces.place("path", args.text("path").unwrap_or_default());
        let target = place.and_then(|place| Ok(target(&self.files.catalog, &place)?.0));
        match (target, digest) {
            (Ok(target), None) => Ok(target),
            (target, digest) => Err(target.err().into_iter().chain(digest).collect()),
        }
    }

    async fn preview(&self, args: &Arguments, _target: &Target, _looking: Looking<'_>) -> Result<Preview, WriteError> {
        let (place, held, bytes) = self.look(args).await?;
        let (_, owned) = target(&self.files.catalog, &place).map_err(unfit)?;
        let mut preview = self.files.preview(&place, owned, &held, &bytes).await?;
        preview.notes.insert(0, "puts back the content from before an edit of ours".to_owned());
        preview.floor = Some(Tier::Medium);
        Ok(preview)
    }

    async fn bound(&self, plan: &Plan, _looking: Looking<'_>) -> Result<Facts, WriteError> {
        let (place, held, bytes) = self.look(&Arguments::checked(plan.arguments.clone())).await?;
        Ok(bound(&place, &held.sha256(), &sha256(&bytes)))
    }

    async fn write(&self, warrant: Warrant, looking: Looking<'_>) -> Result<Effect, WriteError> {
        if looking.cancel.is_cancelled() {
            return Err(WriteError::Backend { reason: "CANCELLED", message: "ended before it began".to_owned() });
        }
        self.apply(warrant.spend()).await
    }

    async fn probe(&self, plan: &Plan, _looking: Looking<'_>) -> Probed {
        let (files, plan, place) = (Arc::clone(&self.files), plan.clone(), self.place_of(plan));
        let looked = blocking(move || Ok(files.probe(&plan, &place?)));
        looked.await.unwrap_or_else(|error| Probed::CantTell { because: error.to_string() })
    }

    async fn verify(&self, plan: &Plan, _effect: &Effect, _looking: Looking<'_>) -> Verdict {
        let (files, plan, place) = (Arc::clone(&self.files), plan.clone(), self.place_of(plan));
        let looked = blocking(move || Ok(files.verify(&plan, &place?)));
        looked.await.unwrap_or_else(|error| cant_look(&error))
    }

    fn follow_ups(&self, plan: &Plan) -> Vec<Proposal> {
        self.place_of(plan).map(|place| self.files.follow_ups(plan, &place)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
