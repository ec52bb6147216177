//! The points of a piece of evidence, as the metric tools hand them in.

use jiff::Timestamp;
use serde_json::Value;
use warrant_kernel::domain::report::{FindingKind, Report};

use super::Plot;
use crate::agent::state::State;

/// Most charts of a report.
const CHARTS: usize = 3;

/// Most series of a chart.
pub(super) const SERIES: usize = 8;

/// Most points of a series; of more, the last.
const POINTS: usize = 2_000;

/// Most characters of a name.
const NAME: usize = 80;

/// The largest value that is drawn. Beyond it differences are no longer numbers.
const LARGEST: f64 = 1e300;

/// One series.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its labels, as far as a name goes.
    pub name: String,
    /// Its points in the order of time. A point without a value is a gap.
    pub points: Vec<(Timestamp, Option<f64>)>,
}

/// The series in the data of a result: rows of `labels` and `points`, each point a time and a value.
#[must_use]
pub fn series_of(data: &Value) -> Vec<Series> {
    let rows = data.get("series").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter_map(series).filter(|series| !series.points.is_empty()).take(SERIES).collect()
}

fn series(row: &Value) -> Option<Series> {
    let all = row.get("points")?.as_array()?;
    let from = all.len().saturating_sub(POINTS);
    let mut points: Vec<(Timestamp, Option<f64>)> = all.iter().skip(from).filter_map(point).collect();
    points.sort_by_key(|(at, _)| *at);
    let label = |(name, value): (&String, &Value)| format!("{name}={}", value.as_str().unwrap_or_default());
    let labels = row.get("labels").and_then(Value::as_object);
    let name: Vec<String> = labels.into_iter().flatten().map(label).collect();
    let name: String = name.join(", ").chars().take(NAME).collect();
    Some(Series { name: if name.is_empty() { "value".to_owned() } else { name }, points })
}

/// What is no number (`NaN`, `+Inf`) is a gap; what has no time is nothing.
fn point(value: &Value) -> Option<(Timestamp, Option<f64>)> {
    let at = value.get(0)?.as_str()?.parse().ok()?;
    Some((at, value.get(1)?.as_f64().filter(|value| value.abs() <= LARGEST)))
}

/// What is worth a picture: the evidence with points that the findings of a report rest on, in their order.
#[must_use]
pub fn decisive(report: &Report, state: &State) -> Vec<Plot> {
    let causes = report.findings.iter().filter(|finding| finding.kind == FindingKind::Cause);
    let marks: Vec<Timestamp> = causes.filter_map(|finding| finding.at.as_ref()?.parse().ok()).collect();
    let mut plots: Vec<Plot> = Vec::new();
    for id in report.findings.iter().flat_map(|finding| &finding.evidence) {
        if plots.len() == CHARTS || plots.iter().any(|plot| plot.evidence == *id) {
            continue;
        }
        let Some((_, result)) = state.evidence(*id) else { continue };
        let series = series_of(&result.data);
        if series.is_empty() {
            continue;
        }
        let query = result.data.get("query").and_then(Value::as_str).unwrap_or(&result.tool).to_owned();
        plots.push(Plot { evidence: *id, query, series, marks: marks.clone() });
    }
    plots
}
