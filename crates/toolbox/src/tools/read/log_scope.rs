//! What the log tools share: whose logs are meant, in which window, and which files those are.

use std::io::ErrorKind;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError};
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::time::rfc3339;

use crate::catalog::Catalog;
use crate::catalog::service::LogFiles;
use crate::tools::sources::logs::files::{self, Log};
use crate::tools::sources::logs::scan::{Report, chosen_since};
use crate::tools::sources::logs::{Limits, Window};

/// The longest window a call may look at.
const LONGEST: SignedDuration = SignedDuration::from_hours(31 * 24);
/// File names that stand in a summary.
const MOST_FILES_NAMED: usize = 12;
/// Notes that are told one by one.
const MOST_NOTES: usize = 6;

/// The window that `since` and `until` name.
pub(super) fn window(args: &Arguments, now: Timestamp, length: SignedDuration) -> Window {
    let to = args.time("until").unwrap_or(now);
    let from = args.time("since").unwrap_or_else(|| to.checked_sub(length).unwrap_or(to));
    Window { from, to }
}

/// Checks service and window, and says whose logs are read.
pub(super) fn resolve(
    catalog: &Catalog,
    args: &Arguments,
    now: Timestamp,
    length: SignedDuration,
) -> (Option<Target>, Vec<Problem>) {
    let mut problems = Vec::new();
    let Window { from, to } = window(args, now, length);
    if from > now {
        problems.push(Problem::of(
            "since",
            format!("`{}` is in the future; it is {} now: name a time before that", rfc3339(from), rfc3339(now)),
        ));
    } else if from >= to {
        problems.push(Problem::of(
            "since",
            format!("`since` ({}) must be before `until` ({}); leave `until` out for now", rfc3339(from), rfc3339(to)),
        ));
    }
    if to.duration_since(from) > LONGEST {
        problems
            .push(Problem::of("since", "a window of at most 31 days can be read; name a later `since` or an `until`"));
    }
    let target = args
        .service("service")
        .ok_or_else(|| Problem::of("service", "name a service; `list_services` lists them"))
        .and_then(|name| target_of(catalog, &name))
        .map_err(|problem| problems.push(problem))
        .ok();
    (target, problems)
}

fn target_of(catalog: &Catalog, name: &ServiceName) -> Result<Target, Problem> {
    let Some(service) = catalog.service(name) else {
        return Err(Problem::of("service", format!("there is no service `{name}`; `list_services` lists them")));
    };
    let Some(logs) = service.logs.first() else {
        let others: Vec<&str> = catalog
            .services()
            .iter()
            .filter(|(_, service)| !service.logs.is_empty())
            .map(|(name, _)| name.as_str())
            .take(10)
            .collect();
        let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        return Err(Problem::of(
            "service",
            format!(
                "no log files are configured for `{name}` (`logs` of the service); services that have some: {others}"
            ),
        ));
    };
    Ok(Target {
        kind: TargetKind::Service,
        name: name.as_str().to_owned(),
        service: Some(name.clone()),
        environment: service.environment.clone(),
        owner: service.owner.clone(),
        source: logs.source.clone(),
    })
}

/// The log files of a service, open, and what could not be opened.
pub(super) struct Opened {
    pub(super) logs: Vec<Log>,
    pub(super) notes: Vec<String>,
}

/// Opens the files of `service` that may hold records of `window`. Blocks.
pub(super) fn open(
    catalog: &Catalog,
    service: &ServiceName,
    window: Window,
    limits: &Limits,
) -> Result<Opened, ReadError> {
    let entries = catalog.service(service).map(|service| service.logs.as_slice()).unwrap_or_default();
    let mut opened = Opened { logs: Vec::new(), notes: Vec::new() };
    let mut names = 0;
    for LogFiles { source, file } in entries {
        let Some(directory) = catalog.sources().logs.get(source) else { continue };
        match files::find(&directory.dir, file, chosen_since(window, limits.disorder), limits.files) {
            Ok(found) => {
                names += found.names;
                opened.logs.extend(found.logs);
                opened.notes.extend(found.notes);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                opened.notes.push(format!("`{file}` of the log source `{source}` can't be looked for: {error}"));
            }
        }
    }
    if names > 0 {
        return Ok(opened);
    }
    let looked: Vec<String> = entries
        .iter()
        .map(|LogFiles { source, file }| {
            let directory = catalog.sources().logs.get(source).map(|directory| directory.dir.join(file));
            format!("`{}`", directory.unwrap_or_default().display())
        })
        .collect();
    let why = if opened.notes.is_empty() { String::new() } else { format!(" ({})", opened.notes.join("; ")) };
    Err(ReadError::Backend {
        reason: "NO_LOG_FILES",
        message: format!(
            "there is no log file at {}{why}; ask the operator to correct `logs` of service `{service}`, and look at \
             other services or at metrics meanwhile",
            looked.join(" or ")
        ),
        retryable: false,
    })
}

/// A window as it stands in a summary.
pub(super) fn window_json(window: Window) -> Value {
    json!({ "from": rfc3339(window.from), "to": rfc3339(window.to) })
}

/// What was read, for a summary: the first few files by name, the others counted; and the zone that was assumed.
pub(super) fn read_json(report: &Report, summary: &mut Map<String, Value>) {
    let mut named: Vec<String> = report.files.iter().take(MOST_FILES_NAMED).cloned().collect();
    if let Some(more @ 1..) = report.files.len().checked_sub(MOST_FILES_NAMED) {
        named.push(format!("and {more} more"));
    }
    summary.insert("files".to_owned(), json!(named));
    if let Some(offset) = report.offset {
        summary.insert("zone_assumed".to_owned(), json!(offset.to_string()));
    }
}

/// What was left out, in one sentence for each reason.
pub(super) fn told(mut reasons: Vec<String>) -> Option<String> {
    if let Some(more @ 1..) = reasons.len().checked_sub(MOST_NOTES) {
        reasons.truncate(MOST_NOTES);
        reasons.push(format!("{more} more such notes"));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
pub(super) mod tests;
