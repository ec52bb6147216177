//! Which services a requester may see, for tools whose answer speaks of many of them at once.
//!
//! Policy decides on a call by its one target. Where an answer has a row for each of several services, the tool leaves out
//! those that the requester may not see by themselves, and says how many it left out.

use std::collections::BTreeMap;

use jiff::Timestamp;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::run::Run;

use crate::catalog::Catalog;

/// Tells whether on behalf of a run's requester a service of the catalog may be looked at.
pub trait Sight: Send + Sync {
    /// Whether it may. What can't be found out is a no.
    fn sees(&self, run: &Run, now: Timestamp, service: &ServiceName) -> bool;
}

/// What one run sees of the catalog; each service is asked about once.
pub(super) struct Seen(BTreeMap<String, bool>);

impl Seen {
    pub(super) fn of(catalog: &Catalog, sight: &dyn Sight, run: &Run, now: Timestamp) -> Self {
        Self(catalog.services().keys().map(|name| (name.to_string(), sight.sees(run, now, name))).collect())
    }

    /// Whether a row about a service is shown. What the catalog does not know belongs to nobody that policy could protect.
    pub(super) fn shows(&self, service: &str) -> bool {
        self.0.get(service).copied().unwrap_or(true)
    }
}

/// The sentence that says what is not shown.
pub(super) fn hidden(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {what} of services that the requester may not read are not shown"))
}

/// Sees all, or all but some.
#[cfg(test)]
pub(in crate::tools) struct AllBut(pub &'static [&'static str]);

#[cfg(test)]
impl Sight for AllBut {
    fn sees(&self, _run: &Run, _now: Timestamp, service: &ServiceName) -> bool {
        !self.0.contains(&service.as_str())
    }
}
