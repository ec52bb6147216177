//! The Prometheus HTTP API (v1), as Prometheus and VictoriaMetrics both speak it.
//!
//! A query is somebody else's text: it is a [`query::Query`] before it is sent, and goes through the URL encoder. Selectors
//! are made by [`selector::Selector`]. The server is told its own limits with each question.

pub mod selector;

pub mod query;

pub mod answer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::time;

use super::http::HttpClient;
use answer::{Alerts, Envelope, Matrix, Metadata, Refusal, Told};
use query::Query;
use selector::Selector;

/// After this the server itself gives up on a query; the call ends a little later.
pub const SERVER_TIMEOUT: &str = "15s";
/// Most series that the server sends; servers before Prometheus 2.53 send all.
pub const SERVER_SERIES: &str = "1000";
/// Most names that the server sends.
pub const SERVER_NAMES: &str = "20000";
/// Most points of one series.
pub const MAX_POINTS: usize = 200;

/// Steps that people expect to see, in seconds.
const STEPS: [i64; 18] =
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200];

/// A stretch of time, in whole seconds, and the step at which it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub since: Timestamp,
    /// Its end.
    pub until: Timestamp,
    /// Seconds between two points.
    pub step: i64,
}

impl Window {
    /// The window from `since` to `until` with the finest usual step that keeps a series within [`MAX_POINTS`].
    #[must_use]
    pub fn new(since: Timestamp, until: Timestamp) -> Self {
        let whole = |time: Timestamp| Timestamp::from_second(time.as_second()).unwrap_or(time);
        let (since, until) = (whole(since), whole(until));
        let seconds = until.duration_since(since).as_secs().max(0);
        // A range has both ends, so n points span n - 1 steps.
        let gaps = i64::try_from(MAX_POINTS).unwrap_or(i64::MAX) - 1;
        let least = (seconds + gaps - 1) / gaps;
        let step = STEPS.into_iter().find(|step| *step >= least).unwrap_or(least);
        Self { since, until, step }
    }

    /// The same stretch with a usual step at which a series has at most so many points (two at least).
    #[must_use]
    pub fn within(self, points: usize) -> Self {
        let seconds = self.until.duration_since(self.since).as_secs().max(0);
        let gaps = i64::try_from(points).unwrap_or(i64::MAX).saturating_sub(1).max(1);
        let least = seconds.saturating_add(gaps - 1) / gaps;
        if least <= self.step {
            return self;
        }
        let step = STEPS.into_iter().find(|step| *step >= least).unwrap_or(least);
        Self { step, ..self }
    }
}

/// A server with the Prometheus API.
#[derive(Clone, Copy)]
pub struct Prometheus<'a>(pub &'a HttpClient);

impl Prometheus<'_> {
    /// Evaluates `query` over the window.
    ///
    /// # Errors
    /// [`ReadError::Invalid`] with the server's own words where it refuses the query; [`ReadError::Backend`] otherwise.
    pub async fn range(&self, query: &Query, window: Window) -> Result<Told<Matrix>, ReadError> {
        let (start, end) = (time::rfc3339(window.since), time::rfc3339(window.until));
        let step = window.step.to_string();
        let query = [
            ("query", query.text()),
            ("start", start.as_str()),
            ("end", end.as_str()),
            ("step", step.as_str()),
            ("timeout", SERVER_TIMEOUT),
            ("limit", SERVER_SERIES),
        ];
        self.ask(&["api", "v1", "query_range"], &query).await
    }

    /// Names of the metrics that had samples lately, of the series that `selector` selects or of all.
    ///
    /// # Errors
    /// As [`Self::range`].
    pub async fn names(
        &self,
        selector: Option<&Selector>,
        until: Timestamp,
        back: SignedDuration,
    ) -> Result<Told<Vec<String>>, ReadError> {
        self.values_of("__name__", selector, until, back).await
    }

    /// Values that a label had lately.
    ///
    /// # Errors
    /// As [`Self::range`].
    pub async fn values(
        &self,
        label: &str,
        until: Timestamp,
        back: SignedDuration,
    ) -> Result<Told<Vec<String>>, ReadError> {
        self.values_of(label, None, until, back).await
    }

    async fn values_of(
        &self,
        label: &str,
        selector: Option<&Selector>,
        until: Timestamp,
        back: SignedDuration,
    ) -> Result<Told<Vec<String>>, ReadError> {
        let start = time::rfc3339(until.checked_sub(back).unwrap_or(until));
        let end = time::rfc3339(until);
        let selector = selector.map(ToString::to_string);
        let mut query = vec![("start", start.as_str()), ("end", end.as_str()), ("limit", SERVER_NAMES)];
        query.extend(selector.as_deref().map(|selector| ("match[]", selector)));
        self.ask(&["api", "v1", "label", label, "values"], &query).await
    }

    /// Types and help texts by metric name.
    ///
    /// # Errors
    /// As [`Self::range`].
    pub async fn metadata(&self) -> Result<Told<BTreeMap<String, Vec<Metadata>>>, ReadError> {
        self.ask(&["api", "v1", "metadata"], &[("limit", SERVER_NAMES)]).await
    }

    /// Alerts that its rules hold pending or firing.
    ///
    /// # Errors
    /// As [`Self::range`].
    pub async fn alerts(&self) -> Result<Told<Alerts>, ReadError> {
        self.ask(&["api", "v1", "alerts"], &[]).await
    }

    async fn ask<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Told<T>, ReadError> {
        let answer = self.0.get(path, query).await?;
        // A refusal bears its reason as JSON; without one the status has to speak.
        if !(200..300).contains(&answer.status()) {
            let refusal = answer.json::<Refusal>().ok().filter(|refusal| refusal.status == "error");
            return Err(refusal.map_or_else(|| answer.bad_status(), |refusal| refusal.told_by(self.0.name(), &answer)));
        }
        answer.json::<Envelope<T>>().map(Envelope::told)
    }
}
