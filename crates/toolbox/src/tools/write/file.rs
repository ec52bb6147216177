//! What all writes on files share: the preview, the replacement, and the looks after it.
//!
//! A plan is bound to the path and the digests before and after; everything else that is shown may change without harm.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::Problem;
use warrant_kernel::call::write::{Effect, Held as IsHeld, Probed, Verdict, WriteError};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::plan::{Facts, Plan, Preview, Proposal};
use warrant_kernel::domain::result::Origin;

use crate::catalog::Catalog;
use crate::catalog::service::Service;
use crate::tools::workspace::held::{Held, sha256};
use crate::tools::workspace::replace::Leftover;
use crate::tools::workspace::{Place, Workspaces};
use crate::tools::write::diff::{counts, diff};
use crate::tools::write::kept::Kept;
use crate::tools::write::names::{group_name, user_name};
use crate::tools::write::owned::{Listed, Owned};
use crate::tools::write::parsed::Form;
use crate::tools::write::validate::{Said, ask, validator};

/// What the tools that write files work with.
#[derive(Debug, Clone)]
pub struct Files {
    /// Whose files these are.
    pub catalog: Arc<Catalog>,
    /// The roots.
    pub workspaces: Arc<Workspaces>,
    /// Where what was replaced is kept.
    pub kept: Kept,
}

/// The names of the bound facts.
pub const PATH: &str = "path";
/// SHA-256 of the content as it is.
pub const BEFORE: &str = "sha256";
/// SHA-256 of the content as it will be.
pub const AFTER: &str = "sha256_after";
/// A shown fact: the line at which the change begins.
const FROM_LINE: &str = "from_line";

/// A refusal.
pub fn refused(reason: &'static str, message: impl Into<String>) -> WriteError {
    WriteError::Refused { reason, message: message.into() }
}

/// What a check let pass and the write finds otherwise.
#[must_use]
pub fn unfit(problem: Problem) -> WriteError {
    refused("ARGUMENTS", problem.message)
}

/// Runs work on files off the async threads.
///
/// # Errors
/// Those of the work itself.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WriteError> + Send + 'static,
) -> Result<T, WriteError> {
    let broken = |error| Err(WriteError::Unknown { message: format!("the work broke off: {error}") });
    tokio::task::spawn_blocking(work).await.unwrap_or_else(broken)
}

/// What a plan on a file is bound to.
#[must_use]
pub fn bound(place: &Place, before: &str, after: &str) -> Facts {
    let path = format!("{}:{}", place.root.name(), place.path);
    [(PATH, path), (BEFORE, before.to_owned()), (AFTER, after.to_owned())]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

fn fact<'p>(plan: &'p Plan, name: &str) -> &'p str {
    plan.preview.bound.get(name).map(String::as_str).unwrap_or_default()
}

impl Files {
    /// Says what replacing the content of a held file would do.
    ///
    /// # Errors
    /// [`WriteError::Refused`] where the file is good now and would not be then.
    pub async fn preview(
        &self,
        place: &Place,
        owned: Owned<'_>,
        held: &Held,
        after: &[u8],
    ) -> Result<Preview, WriteError> {
        let mut shown = facts(held, after);
        let mut notes = Vec::new();
        let (path, before, then) = (held.path().to_string(), held.bytes().to_vec(), after.to_vec());
        let compare = move || Ok((check_form(&path, &before, &then)?, diff(&before, &then)));
        let (form, diff) = blocking(compare).await?;
        if let Some(parsed) = form {
            shown.extend([parsed.fact]);
            notes.extend(parsed.note);
        }
        self.check_validator(place, owned.service, held, after, &mut shown, &mut notes).await?;
        match owned.listed {
            Listed::Temporary => notes.push(format!("an override of `{}`; a restart of it discards this", owned.name)),
            Listed::Configuration => notes.push(format!("configuration of `{}`", owned.name)),
        }
        notes.extend(dependents(&self.catalog, owned));
        let (gone, come) = counts(&diff);
        let path = format!("{}:{}", place.root.name(), place.path);
        if let Some(line) = first_line(held.bytes(), after) {
            shown.insert(FROM_LINE.to_owned(), line.to_string());
        }
        Ok(Preview {
            effect: format!("overwrites {path}: {} removed, {} added", lines(gone), lines(come)),
            bound: bound(place, &held.sha256(), &sha256(after)),
            shown,
            diff,
            notes,
            floor: match owned.listed {
                Listed::Temporary => None,
                Listed::Configuration => Some(Tier::Medium),
            },
        })
    }

    async fn check_validator(
        &self,
        place: &Place,
        service: &Service,
        held: &Held,
        after: &[u8],
        shown: &mut Facts,
        notes: &mut Vec<String>,
    ) -> Result<(), WriteError> {
        let Some(validator) = validator(service, place) else { return Ok(()) };
        let name = validator.argv.first().cloned().unwrap_or_default();
        let said = match ask(validator, &self.kept, place, after).await? {
            Said::Good => "accepts it".to_owned(),
            Said::Bad(why) => match ask(validator, &self.kept, place, held.bytes()).await? {
                Said::Good => {
                    let message = format!("`{name}` would no longer accept `{}`: {why}", held.path());
                    return Err(refused("VALIDATOR_REFUSES", message));
                }
                Said::Bad(_) => {
                    notes.push(format!("`{name}` does not accept the file now, and would not then"));
                    format!("does not accept it: {why}")
                }
            },
        };
        shown.insert("validator".to_owned(), format!("`{name}` {said}"));
        Ok(())
    }

    /// Puts the content in place, if the file is still what the plan is bound to. `after` is made from the file as it is.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn put(
        &self,
        plan: &Plan,
        place: &Place,
        after: impl FnOnce(&Held) -> Result<Vec<u8>, WriteError>,
    ) -> Result<Effect, WriteError> {
        let held = place.root.hold(&place.path)?;
        let after = after(&held)?;
        let now = bound(place, &held.sha256(), &sha256(&after));
        if now != plan.preview.bound {
            return Err(refused("CHANGED", format!("`{}` is no longer what was approved to be changed", place.path)));
        }
        self.kept.keep(place, held.bytes(), fact(plan, AFTER)).map_err(|error| WriteError::Backend {
            reason: "NOT_KEPT",
            message: format!("keeping the content for an undo failed: {error}; nothing was changed"),
        })?;
        held.stage(&temporary(plan), &after)?.swap(&place.root)?.settle()?;
        Ok(self.effect(plan, place, &held))
    }

    fn effect(&self, plan: &Plan, place: &Place, held: &Held) -> Effect {
        let path = self.workspaces.shown(&place.root, place.path.as_str());
        let mut summary = Map::new();
        summary.insert(PATH.to_owned(), path.clone().into());
        summary.insert("sha256".to_owned(), fact(plan, AFTER).into());
        summary.insert("done".to_owned(), plan.preview.effect.clone().into());
        summary.insert("next".to_owned(), "read the file again before another edit of it".into());
        Effect {
            after: after(plan),
            side_effects: vec![plan.preview.effect.clone()],
            output: Output::lines(Origin::Warrant, summary, Vec::new()),
            undo: undo(&path, &held.sha256()),
        }
    }

    /// Whether a lost write took effect, by the digest of the file. What it left unfinished beside the file goes away: it
    /// holds the file's content, and the write that made it never goes on.
    #[must_use]
    pub fn probe(&self, plan: &Plan, place: &Place) -> Probed {
        let held = match place.root.hold(&place.path) {
            Ok(held) => held,
            Err(error) => return Probed::CantTell { because: error.to_string() },
        };
        let name = temporary(plan);
        let told = |what: &str| match held.clear(&name) {
            Leftover::None => what.to_owned(),
            Leftover::Cleared => format!("{what}; what it left beside the file was removed"),
            Leftover::Stays => format!("{what}; `{name}` beside the file could not be removed: remove it"),
        };
        let now = held.sha256();
        if now == fact(plan, AFTER) {
            return Probed::Took { after: after(plan), because: told("the file is what it was to become") };
        }
        if now == fact(plan, BEFORE) {
            return Probed::DidNot { because: told("the file is what it was before") };
        }
        // Somebody will have to look; nothing is taken away from them.
        Probed::CantTell { because: "the file is neither what it was nor what it was to become".to_owned() }
    }

    /// Whether the file is what it was to become, and still parses.
    #[must_use]
    pub fn verify(&self, plan: &Plan, place: &Place) -> Verdict {
        let held = match place.root.hold(&place.path) {
            Ok(held) => held,
            Err(error) => {
                return Verdict { held: IsHeld::Unknown, because: error.to_string(), facts: Facts::new() };
            }
        };
        let mut seen = Facts::from([("sha256".to_owned(), held.sha256())]);
        if held.sha256() != fact(plan, AFTER) {
            let because = "the file is not what it was to become: somebody changed it since".to_owned();
            return Verdict { held: IsHeld::Failed, because, facts: seen };
        }
        let form = Form::of(held.path().as_str()).map(|form| (form, form.parse(held.bytes())));
        if let Some((form, parsed)) = &form {
            seen.insert(
                form.to_string().to_lowercase(),
                parsed.clone().map_or_else(|why| why, |()| "parses".to_owned()),
            );
        }
        match form {
            Some((form, Err(why))) => {
                Verdict { held: IsHeld::Failed, because: format!("the file is no valid {form}: {why}"), facts: seen }
            }
            Some((form, Ok(()))) => Verdict {
                held: IsHeld::Held,
                because: format!("the file holds the change and is valid {form}"),
                facts: seen,
            },
            None => Verdict { held: IsHeld::Held, because: "the file holds the change".to_owned(), facts: seen },
        }
    }

    /// Reads that show the change and whether the service is well.
    #[must_use]
    pub fn follow_ups(&self, plan: &Plan, place: &Place) -> Vec<Proposal> {
        let line = plan.preview.shown.get(FROM_LINE).and_then(|line| line.parse::<u64>().ok()).unwrap_or(1);
        let path = self.workspaces.shown(&place.root, place.path.as_str());
        let from = line.saturating_sub(3).max(1);
        let mut wanted =
            vec![proposal("read_file", json!({"path": path, "from_line": from, "lines": 20}), "shows the change")];
        let service = plan.target.service.as_ref().and_then(|name| Some((name, self.catalog.service(name)?)));
        if let Some((name, _)) = service.filter(|(_, service)| !service.health.is_empty()) {
            let why = "shows whether the service is well";
            wanted.push(proposal("http_check", json!({"service": name}), why));
        }
        wanted.into_iter().flatten().collect()
    }
}

/// Whether a file parses: a fact to show, and a note where it did not before either.
struct Parsed {
    fact: (String, String),
    note: Option<String>,
}

/// Refuses what parses now and would not then.
fn check_form(path: &str, before: &[u8], after: &[u8]) -> Result<Option<Parsed>, WriteError> {
    let Some(form) = Form::of(path) else { return Ok(None) };
    let name = form.to_string().to_lowercase();
    match (form.parse(before), form.parse(after)) {
        (_, Ok(())) => Ok(Some(Parsed { fact: (name, "parses".to_owned()), note: None })),
        (Ok(()), Err(why)) => Err(refused("UNPARSABLE", format!("`{path}` would no longer be valid {form}: {why}"))),
        (Err(_), Err(why)) => {
            let note = Some(format!("the file is not valid {form} now, and would not be then"));
            Ok(Some(Parsed { fact: (name, format!("does not parse: {why}")), note }))
        }
    }
}

/// A call that we propose.
#[must_use]
pub fn proposal(tool: &str, arguments: Value, why: &str) -> Option<Proposal> {
    let Value::Object(arguments) = arguments else { return None };
    Some(Proposal { tool: tool.parse().ok()?, arguments, why: why.to_owned() })
}

/// A look that could not be taken.
#[must_use]
pub fn cant_look(error: &WriteError) -> Verdict {
    Verdict { held: IsHeld::Unknown, because: error.to_string(), facts: Facts::new() }
}

fn undo(path: &str, before: &str) -> Option<Proposal> {
    proposal("restore_config", json!({"path": path, "sha256": before}), "puts back the content from before the edit")
}

/// The name that the new content bears before it is the file.
fn temporary(plan: &Plan) -> String {
    format!(".warrant-{}-{}.tmp", plan.run.investigation, plan.id)
}

/// The bound facts once the change is made.
fn after(plan: &Plan) -> Facts {
    let pair = |name: &str, from: &str| (name.to_owned(), fact(plan, from).to_owned());
    [pair(PATH, PATH), pair("sha256", AFTER)].into()
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn first_line(before: &[u8], after: &[u8]) -> Option<usize> {
    let at = before.iter().zip(after).position(|(one, other)| one != other)?;
    Some(1 + before.iter().take(at).filter(|byte| **byte == b'\n').count())
}

fn facts(held: &Held, after: &[u8]) -> Facts {
    let keep = held.keep();
    [
        ("existing", "overwritten; mode, owner and attributes are kept".to_owned()),
        ("size", held.bytes().len().to_string()),
        ("size_after", after.len().to_string()),
        ("mode", format!("{:04o}", keep.mode)),
        ("owner", user_name(keep.uid)),
        ("group", group_name(keep.gid)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The services that depend on the one whose file it is.
#[must_use]
pub fn dependents(catalog: &Catalog, owned: Owned<'_>) -> Option<String> {
    let depends: Vec<&str> = catalog
        .services()
        .iter()
        .filter(|(_, service)| service.depends_on.contains(owned.name))
        .map(|(name, _)| name.as_str())
        .collect();
    (!depends.is_empty()).then(|| format!("depend on `{}`: `{}`", owned.name, depends.join("`, `")))
}
