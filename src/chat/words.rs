//! Words that every chat has for the same thing.

use warrant_kernel::domain::report::Verified;
use warrant_kernel::domain::result::Origin;

/// Whose words a text is.
#[must_use]
pub fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Warrant => "Warrant itself",
        Origin::Catalog => "the catalog",
        Origin::Log => "log text",
        Origin::Metric => "metrics",
        Origin::Alert => "alert text",
        Origin::Runbook => "runbook text",
        Origin::File => "a file",
        Origin::Change => "commits and deploys",
        Origin::Http => "an HTTP answer",
        Origin::Command => "what a command wrote",
    }
}

/// Whether a write brought about what it was for.
#[must_use]
pub fn held(verified: &Verified) -> &'static str {
    match verified.held {
        Some(true) => "verified",
        Some(false) => "NOT as it should be",
        None => "not verified",
    }
}
