//! How two looks at a page are told: the facts that stand out, then a row for each metric and set of labels.

use std::time::Duration;

use serde_json::{Map, Value, json};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;

use crate::tools::read::metrics_source::{maybe, number};
use crate::tools::sources::exposition::delta::{Moved, Movement, Over};
use crate::tools::sources::exposition::{MAX_SAMPLES, Page};
use crate::tools::sources::http::BODY_CAP;
use crate::tools::sources::http::answer::Extent;

/// What was looked at.
pub(super) struct Looks<'a> {
    pub(super) service: &'a str,
    pub(super) url: &'a str,
    pub(super) apart: Duration,
    /// Series of the page, before `match`.
    pub(super) series: usize,
    pub(super) page: &'a Page,
    pub(super) extent: Extent,
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("service", Origin::Catalog),
    ("url", Origin::Catalog),
    ("interval_s", Origin::Warrant),
    ("series_total", Origin::Warrant),
    ("matched", Origin::Warrant),
    ("resets", Origin::Warrant),
    ("note", Origin::Warrant),
];

/// The output: what moved first, so that a cut leaves out what stood still.
pub(super) fn output(looks: &Looks<'_>, moved: Vec<Moved>) -> Output {
    let matched = moved.len();
    let resets = moved.iter().filter(|moved| moved.reset()).count();
    let mut summary = Map::new();
    summary.insert("service".to_owned(), Value::from(looks.service));
    summary.insert("url".to_owned(), Value::from(looks.url));
    summary.insert("interval_s".to_owned(), number((looks.apart.as_secs_f64() * 1e3).round() / 1e3));
    summary.insert("series_total".to_owned(), Value::from(looks.series));
    summary.insert("matched".to_owned(), Value::from(matched));
    summary.insert("highest".to_owned(), gauge(&moved, End::Highest));
    summary.insert("lowest".to_owned(), gauge(&moved, End::Lowest));
    summary.insert("slowest".to_owned(), slowest(&moved));
    summary.insert("fastest".to_owned(), fastest(&moved));
    if resets > 0 {
        summary.insert("resets".to_owned(), Value::from(resets));
    }
    if matched == 0 {
        let note = "no metric on the page fits `match`; `list_metrics` shows the names";
        summary.insert("note".to_owned(), Value::from(note));
    }

    let (stirred, still): (Vec<Moved>, Vec<Moved>) = moved.into_iter().partition(Moved::stirred);
    let rows = stirred.iter().chain(&still).map(row).collect();
    let mut output = Output::items(Origin::Metric, summary, "series", rows).with_fields(OWN);
    output.matched = Some(u64::try_from(matched).unwrap_or(u64::MAX));
    output.left_out = left_out(looks);
    output
}

fn left_out(looks: &Looks<'_>) -> Option<String> {
    let mut parts = Vec::new();
    if looks.page.beyond > 0 {
        let beyond = looks.page.beyond;
        parts.push(format!("the page has {beyond} samples beyond the first {MAX_SAMPLES}, they were not read"));
    }
    if looks.extent == Extent::Cut {
        parts.push(format!("the page is longer than {} MiB, the rest was not read", BODY_CAP / 1024 / 1024));
    }
    if looks.page.malformed > 0 {
        let (count, first) = (looks.page.malformed, looks.page.first_malformed.unwrap_or_default());
        parts.push(format!("{count} lines are not in the text format and were skipped (the first is line {first})"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Which end of a ranking is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Highest,
    Lowest,
}

/// The item at one end of a ranking, told with its name and labels.
fn told(moved: &[Moved], key: &str, end: End, value: impl Fn(&Moved) -> Option<f64>) -> Option<Map<String, Value>> {
    let ranked = moved.iter().filter_map(|moved| Some((moved, value(moved).filter(|value| !value.is_nan())?)));
    let beats = |next: f64, best: f64| match end {
        End::Highest => next > best,
        End::Lowest => next < best,
    };
    let (found, value) = ranked.reduce(|best, next| if beats(next.1, best.1) { next } else { best })?;
    let mut told = Map::new();
    told.insert("name".to_owned(), Value::from(found.name.as_str()));
    told.insert("labels".to_owned(), labels(found));
    told.insert(key.to_owned(), number(value));
    Some(told)
}

/// The item with the largest value.
fn top(moved: &[Moved], key: &str, value: impl Fn(&Moved) -> Option<f64>) -> Option<Map<String, Value>> {
    told(moved, key, End::Highest, value)
}

/// The gauge with the largest or the smallest value.
fn gauge(moved: &[Moved], end: End) -> Value {
    let value = |moved: &Moved| match moved.movement {
        Movement::Gauge { value, .. } => Some(value),
        Movement::Counter { .. } | Movement::Distribution { .. } => None,
    };
    told(moved, "value", end, value).map_or(Value::Null, Value::Object)
}

/// The histogram or summary with the largest mean: of those with traffic between the looks, else since their start.
fn slowest(moved: &[Moved]) -> Value {
    let mean_over = |wanted: Over| {
        move |moved: &Moved| match moved.movement {
            Movement::Distribution { mean, over, .. } if over == wanted => mean,
            Movement::Distribution { .. } | Movement::Counter { .. } | Movement::Gauge { .. } => None,
        }
    };
    let busy = top(moved, "mean", mean_over(Over::Interval)).map(|told| (told, Over::Interval));
    let found = busy.or_else(|| top(moved, "mean", mean_over(Over::Start)).map(|told| (told, Over::Start)));
    found.map_or(Value::Null, |(mut told, over)| {
        told.insert("over".to_owned(), Value::from(over_word(over)));
        Value::Object(told)
    })
}

/// The counter that grew fastest.
fn fastest(moved: &[Moved]) -> Value {
    top(moved, "rate", |moved| match moved.movement {
        Movement::Counter { rate, .. } => rate.filter(|rate| *rate > 0.0),
        Movement::Gauge { .. } | Movement::Distribution { .. } => None,
    })
    .map_or(Value::Null, Value::Object)
}

fn over_word(over: Over) -> &'static str {
    match over {
        Over::Interval => "interval",
        Over::Start => "start",
    }
}

fn labels(moved: &Moved) -> Value {
    moved.labels.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
}

fn row(moved: &Moved) -> Value {
    let mut row = Map::new();
    row.insert("name".to_owned(), Value::from(moved.name.as_str()));
    row.insert("labels".to_owned(), labels(moved));
    row.insert("type".to_owned(), Value::from(moved.kind.as_str()));
    let measured = match moved.movement {
        Movement::Counter { value, rate, .. } => json!({"value": number(value), "rate_per_s": maybe(rate)}),
        Movement::Gauge { value, change } => json!({"value": number(value), "change": maybe(change)}),
        Movement::Distribution { count, rate, over, mean, p50, p99, .. } => json!({
            "count": maybe(count),
            "count_rate": maybe(rate),
            "over": over_word(over),
            "mean": maybe(mean),
            "p50": maybe(p50),
            "p99": maybe(p99),
        }),
    };
    if let Value::Object(measured) = measured {
        row.extend(measured);
    }
    if moved.reset() {
        row.insert("reset".to_owned(), Value::Bool(true));
    }
    Value::Object(row)
}
