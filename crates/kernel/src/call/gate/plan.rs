//! Freezing: a previewed call becomes a plan that nothing changes any more.
//!
//! The digest is over the canonical form of what would run, with a random key of the plan's own, so that it says nothing
//! about what it is over to anybody who lacks the key. What is refused here was about to be shown as something it is not.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::domain::hex::hex;
use crate::domain::name::ToolName;
use crate::domain::plan::{AskKey, DiffLine, Facts, Plan, PlanDigest, Preview};
use crate::domain::target::Target;
use crate::domain::visible::passes_for;
use crate::ledger::canonical::{CanonicalError, canonical};
use crate::redact::{RedactError, Redactor};

/// The random key of one plan's digest. Kept in the store, and nowhere else.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct PlanKey(String);

impl PlanKey {
    /// From random bytes.
    pub(crate) fn of(bytes: &[u8; 32]) -> Self {
        Self(hex(bytes))
    }
}

impl fmt::Debug for PlanKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlanKey(..)")
    }
}

/// Why a call can't become a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    /// An argument holds a placeholder of a masked secret.
    #[error(
        "`{0}` holds a placeholder where a secret was masked; written as it is it would replace the secret by the \
         placeholder, so choose text that leaves the masked part out"
    )]
    Placeholder(String),
    /// An argument holds what would be masked, so nobody could be shown it.
    #[error("`{0}` holds what looks like a secret; people can't be shown it, so they can't approve it")]
    Secret(String),
    /// A changed line would have to be masked.
    #[error(
        "a line that would change holds what looks like a secret; people can't be shown it, so they can't approve it"
    )]
    HiddenChange,
    /// The target's name passes for another.
    #[error("the target's name is not what it looks like: it passes for `{0}`")]
    Confusable(String),
    /// It can't be put into a form that is the same for everybody.
    #[error("the plan can't be frozen: {0}")]
    NotCanonical(#[from] CanonicalError),
    /// It could not be checked for secrets.
    #[error("the plan could not be checked for secrets, so it is not shown and not asked for")]
    NotMasked(#[from] RedactError),
}

impl Unfit {
    /// The finer reason.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Placeholder(_) => "PLACEHOLDER",
            Self::Secret(_) => "SECRET_IN_ARGUMENTS",
            Self::HiddenChange => "HIDDEN_CHANGE",
            Self::Confusable(_) => "CONFUSABLE_TARGET",
            Self::NotCanonical(_) => "NOT_CANONICAL",
            Self::NotMasked(_) => "REDACTION_FAILED",
        }
    }
}

/// The digest of what would run.
pub(crate) fn digest(
    key: &PlanKey,
    tool: &ToolName,
    version: u32,
    arguments: &Map<String, Value>,
    target: &Target,
    bound: &Facts,
) -> Result<PlanDigest, CanonicalError> {
    let frozen = json!({
        "tool": tool, "version": version, "arguments": arguments, "target": target, "bound": bound,
    });
    let text = canonical(&frozen)?;
    // A key of any length fits this hash.
    let mut mac = Hmac::<Sha256>::new_from_slice(key.0.as_bytes()).map_err(|_| CanonicalError::Deep)?;
    mac.update(text.as_bytes());
    Ok(PlanDigest::of(&mac.finalize().into_bytes()))
}

/// Whether a plan is still the one whose digest it bears.
pub(crate) fn is_whole(key: &PlanKey, plan: &Plan) -> bool {
    let made = digest(key, &plan.tool, plan.version, &plan.arguments, &plan.target, &plan.preview.bound);
    made.is_ok_and(|made| made == plan.digest)
}

/// Equal for calls that ask for the same.
pub(crate) fn ask_key(
    tool: &ToolName,
    target: &Target,
    arguments: &Map<String, Value>,
) -> Result<AskKey, CanonicalError> {
    let asked = json!({ "tool": tool, "target": target_key(target), "arguments": arguments });
    Ok(AskKey::of(&Sha256::digest(canonical(&asked)?.as_bytes())))
}

/// Equal for targets that are the same thing.
pub(crate) fn target_key(target: &Target) -> String {
    format!("{}:{}:{}", target.kind.as_str(), target.source, target.name)
}

/// Refuses what can't be shown as what it is.
pub(crate) fn fit(redactor: &Redactor, arguments: &Map<String, Value>, target: &Target) -> Result<(), Unfit> {
    if let Some(other) = passes_for(&target.name) {
        return Err(Unfit::Confusable(other));
    }
    for (name, value) in arguments {
        let Some(text) = value.as_str() else { continue };
        if text.contains("[secret:") {
            return Err(Unfit::Placeholder(name.clone()));
        }
        let holds_one = redactor.redact_text(text)?.count > 0;
        let named = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        if holds_one || redactor.redact_json(&named)?.1 > 0 {
            return Err(Unfit::Secret(name.clone()));
        }
    }
    Ok(())
}

/// The preview as people may see it: secrets masked in what stands around the change, and refused within it.
pub(crate) fn masked(redactor: &Redactor, preview: Preview) -> Result<Preview, Unfit> {
    let lines: Vec<String> = preview.diff.iter().map(|line| text_of(line).to_owned()).collect();
    let clean = redactor.redact_lines(&lines)?;
    let mut diff = Vec::with_capacity(preview.diff.len());
    if clean.lines.len() == preview.diff.len() {
        for (line, text) in preview.diff.into_iter().zip(clean.lines) {
            diff.push(match line {
                DiffLine::Hunk(_) => DiffLine::Hunk(text),
                DiffLine::Context(_) => DiffLine::Context(text),
                DiffLine::Removed(was) | DiffLine::Added(was) if was != text => return Err(Unfit::HiddenChange),
                DiffLine::Removed(_) => DiffLine::Removed(text),
                DiffLine::Added(_) => DiffLine::Added(text),
            });
        }
    } else {
        // A secret lies over several lines, of which it is not clear how many change.
        return Err(Unfit::HiddenChange);
    }
    let one = |text: &str| redactor.redact_text(text).map(|masked| masked.text.into_owned());
    let facts = |facts: &Facts| -> Result<Facts, RedactError> {
        facts.iter().map(|(name, value)| Ok((name.clone(), one(value)?))).collect()
    };
    Ok(Preview {
        effect: one(&preview.effect)?,
        shown: facts(&preview.shown)?,
        notes: preview.notes.iter().map(|note| one(note)).collect::<Result<_, _>>()?,
        // They bind as they are: hashes, units, modes.
        bound: preview.bound,
        diff,
        floor: preview.floor,
    })
}

/// The text of a line of a change.
pub(crate) fn text_of(line: &DiffLine) -> &str {
    match line {
        DiffLine::Hunk(text) | DiffLine::Context(text) | DiffLine::Removed(text) | DiffLine::Added(text) => text,
    }
}

#[cfg(test)]
mod tests;
