//! What a person brings to a running investigation: a text file, which becomes evidence as if it had been called for.

use serde_json::{Map, Value, json};
use warrant_kernel::call::normalise;
use warrant_kernel::domain::event::{Body, Call, Caller};
use warrant_kernel::domain::name::{CallId, PersonId};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::tool::{Keep, OutputPolicy};
use warrant_kernel::redact::Redactor;
use warrant_kernel::store::capture::Captured;

use super::state::State;

/// What stands where a call has its tool. No tool has the name, and nothing can call it.
pub const POSTED_FILE: &str = "posted_file";

/// How much of it is shown at once; `read_evidence` shows all.
const SHOWN: OutputPolicy = OutputPolicy { max_chars: 8_000, keep: Keep::HeadTail };

/// Files that one investigation takes in.
const MOST: usize = 32;

/// A text file that somebody posted. Nothing in it has been masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What it is known by where it was posted: brought again, it is the same.
    pub id: String,
    /// Its name. A stranger's text.
    pub name: String,
    /// What it says. A stranger's text.
    pub text: String,
    /// Who posted it.
    pub by: PersonId,
}

/// What becomes of it.
pub(super) enum Taken {
    /// It is known already.
    Known,
    /// It becomes evidence, with the whole of it.
    Evidence(Box<Body>, Option<Captured>),
    /// It can't be shown; this is said in its place.
    Said(Box<Body>),
}

/// The event that a file becomes in an investigation that stands as `state` says.
pub(super) fn taken(state: &State, redactor: &Redactor, file: File) -> Taken {
    let said = |text: &str, by: PersonId| {
        Taken::Said(Box::new(Body::Steered { text: format!("A file was posted, and {text}."), by: Some(by) }))
    };
    let Ok(masked) = redactor.redact_text(&file.name) else {
        return said("can't be shown: it could not be looked through for secrets", file.by);
    };
    let name = masked.text.into_owned();
    let arguments = json!({ "file": file.id, "name": name, "by": file.by }).to_string();
    let earlier = || state.calls.iter().filter(|known| known.call.tool == POSTED_FILE);
    if earlier().any(|known| known.call.arguments == arguments) {
        return Taken::Known;
    }
    if earlier().count() >= MOST {
        return said("is not read: no more are taken in", file.by);
    }
    let number = state.next_number();
    let tool = POSTED_FILE.to_owned();
    let call = Call { id: CallId::nth(number), number, tool, arguments, by: Caller::Person };
    let lines: Vec<String> = file.text.lines().map(str::to_owned).collect();
    let summary = Map::from_iter([
        ("name".to_owned(), Value::String(name)),
        ("posted_by".to_owned(), Value::String(file.by.to_string())),
        ("lines_in_all".to_owned(), json!(lines.len())),
    ]);
    // What it holds may be anybody's, so it weighs no more than a log.
    let output = Output::lines(Origin::Log, summary, lines)
        .with_fields(&[("posted_by", Origin::Warrant), ("lines_in_all", Origin::Warrant)]);
    let brought = "posted".parse().ok().map(|source| normalise::brought(redactor, &call, &source, &output, SHOWN));
    match brought {
        Some(Ok((result, whole))) => {
            let by = Some(file.by);
            Taken::Evidence(Box::new(Body::Brought { call, result: Box::new(result), by }), whole)
        }
        Some(Err(_)) | None => said("can't be shown: it could not be looked through for secrets", file.by),
    }
}
