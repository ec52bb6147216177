//! `edit_config` and `edit_temp_config`: one replacement in a file of a service.
//!
//! The two differ in what they take: the second takes only files that the catalog lists as temporary overrides, so that a
//! change of configuration never passes as one.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Deserialize;
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::tool::{Arguments, Problem};
use warrant_kernel::call::write::{Effect, Looking, Probed, Verdict, WriteError, WriteTool};
use warrant_kernel::domain::plan::{Facts, Plan, Preview, Proposal};
use warrant_kernel::domain::target::Target;

use crate::tools::workspace::Place;
use crate::tools::workspace::held::{Held, sha256};
use crate::tools::write::change::{Change, change};
use crate::tools::write::file::{Files, blocking, bound, cant_look, refused, unfit};
use crate::tools::write::owned::{Listed, target};
use crate::tools::write::seen;

/// What every mask begins with.
const MASK: &str = "[secret:";

pub(super) struct Edit {
    files: Arc<Files>,
    only: Option<Listed>,
}

/// `edit_config`.
#[must_use]
pub fn edit_config(files: Arc<Files>) -> Arc<dyn WriteTool> {
    Arc::new(Edit { files, only: None })
}

/// `edit_temp_config`.
#[must_use]
pub fn edit_temp_config(files: Arc<Files>) -> Arc<dyn WriteTool> {
    Arc::new(Edit { files, only: Some(Listed::Temporary) })
}

#[derive(Debug, Clone, Deserialize)]
struct Args {
    path: String,
    old_string: String,
    new_string: String,
}

impl Args {
    fn of(arguments: &Arguments) -> Result<Self, WriteError> {
        let args: Self = arguments.parse().map_err(unfit)?;
        if args.old_string.contains(MASK) || args.new_string.contains(MASK) {
            let message = "`old_string` or `new_string` holds a masked secret (`[secret:...]`); what was masked can't be \
                           written back, so leave the masked line out of the edit";
            return Err(refused("PLACEHOLDER", message));
        }
        Ok(args)
    }

    fn change(&self, held: &Held) -> Result<Change, WriteError> {
        change(held.bytes(), &self.old_string, &self.new_string)
            .map_err(|error| refused(error.reason(), format!("`{}`: {error}", self.path)))
    }
}

impl Edit {
    fn place(&self, args: &Args) -> Result<Place, WriteError> {
        self.files.workspaces.place("path", &args.path).map_err(unfit)
    }

    fn resolved(&self, path: &str) -> Result<Target, Problem> {
        let place = self.files.workspaces.place("path", path)?;
        let (target, owned) = target(&self.files.catalog, &place)?;
        match self.only {
            Some(only) if only != owned.listed => {
                let message = format!(
                    "`{}` is configuration of `{}` and no temporary override (`temp_files`); use `edit_config`",
                    target.name, owned.name
                );
                Err(Problem::of("path", message))
            }
            Some(_) | None => Ok(target),
        }
    }

    async fn look(&self, arguments: &Arguments) -> Result<(Place, Held, Change), WriteError> {
        let args = Args::of(arguments)?;
        self.resolved(&args.path).map_err(unfit)?;
        let place = self.place(&args)?;
        blocking(move || {
            let held = place.root.hold(&place.path)?;
            let change = args.change(&held)?;
            Ok((place, held, change))
        })
        .await
    }

    /// Makes the change that a plan says.
    pub(super) async fn apply(&self, plan: Plan) -> Result<Effect, WriteError> {
        let args = Args::of(&Arguments::checked(plan.arguments.clone()))?;
        self.resolved(&args.path).map_err(unfit)?;
        let place = self.place(&args)?;
        let files = Arc::clone(&self.files);
        blocking(move || files.put(&plan, &place, |held| Ok(args.change(held)?.after))).await
    }

    fn place_of(&self, plan: &Plan) -> Result<Place, WriteError> {
        self.place(&Arguments::checked(plan.arguments.clone()).parse().map_err(unfit)?)
    }
}

#[async_trait]
impl WriteTool for Edit {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        self.resolved(args.text("path").unwrap_or_default()).map_err(|problem| vec![problem])
    }

    async fn preview(&self, args: &Arguments, _target: &Target, looking: Looking<'_>) -> Result<Preview, WriteError> {
        let (place, held, change) = self.look(args).await?;
        seen::check(looking.seen, &self.files.workspaces, &place, &held, &change.lines)?;
        let (_, owned) = target(&self.files.catalog, &place).map_err(unfit)?;
        self.files.preview(&place, owned, &held, &change.after).await
    }

    async fn bound(&self, plan: &Plan, _looking: Looking<'_>) -> Result<Facts, WriteError> {
        let (place, held, change) = self.look(&Arguments::checked(plan.arguments.clone())).await?;
        Ok(bound(&place, &held.sha256(), &sha256(&change.after)))
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
