//! `query_metrics`: a `PromQL` query over a window, each series with a summary before its points.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;
use warrant_kernel::domain::time;

use super::metrics_source::{Picked, Servers, maybe, number, target, unfit, unless_cancelled, window};
use crate::catalog::Catalog;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::sources::prometheus::answer::{MAX_LABELS, Matrix, Point, Series, Told};
use crate::tools::sources::prometheus::query::{Fitted, Query, Unfit};
use crate::tools::sources::prometheus::selector::Selector;
use crate::tools::sources::prometheus::{MAX_POINTS, Prometheus, SERVER_SERIES, Window};

/// Most series of one answer.
const MAX_SERIES: usize = 50;
/// Characters of the overview, which stands in the summary and is never cut.
const OVERVIEW: usize = 2000;

/// The tool over these servers.
#[must_use]
pub fn query_metrics(catalog: Arc<Catalog>, clients: Arc<HttpClients>) -> Arc<dyn ReadTool> {
    Arc::new(QueryMetrics(Servers { catalog, clients }))
}

struct QueryMetrics(Servers);

#[async_trait]
impl ReadTool for QueryMetrics {
    fn resolve(&self, args: &Arguments, now: Timestamp) -> Result<Target, Vec<Problem>> {
        match (self.0.pick(args), asked(args, now)) {
            (Ok(Picked { client, service }), Ok(_)) => Ok(target(service, client.name())),
            (picked, asked) => Err(picked.err().into_iter().chain(asked.err().unwrap_or_default()).collect()),
        }
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let picked = self.0.pick(args).map_err(unfit)?;
        let (query, fitted) = asked(args, reading.now).map_err(|problems| {
            let message = problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ");
            ReadError::Invalid { reason: "ARGUMENTS", message }
        })?;
        let server = Prometheus(picked.client);
        let told = unless_cancelled(reading.cancel, server.range(&query, fitted.window())).await?;
        Ok(output(args.text("query").unwrap_or_default(), fitted, &picked, told))
    }
}

/// The query and the window at which it may be asked.
fn asked(args: &Arguments, now: Timestamp) -> Result<(Query, Fitted), Vec<Problem>> {
    let text = args.text("query").unwrap_or_default();
    let unfit = |unfit: Unfit| Problem::of("query", unfit.to_string());
    let query = if text.trim().is_empty() {
        Err(Problem::of("query", "write a PromQL query, `up`"))
    } else {
        Query::read(text).map_err(unfit)
    };
    match (window(args, now), query) {
        (Ok((since, until)), Ok(query)) => {
            let fitted = query.over(Window::new(since, until)).map_err(|refused| vec![unfit(refused)])?;
            Ok((query, fitted))
        }
        (window, query) => Err(window.err().into_iter().chain(query.err()).collect()),
    }
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("source", Origin::Warrant),
    ("window", Origin::Warrant),
    ("step_s", Origin::Warrant),
    ("series_total", Origin::Warrant),
    ("note", Origin::Warrant),
];

fn output(query: &str, fitted: Fitted, picked: &Picked<'_>, told: Told<Matrix>) -> Output {
    let window = fitted.window();
    let mut series: Vec<Shown> = told.data.result.into_iter().map(Shown::of).collect();
    let found = series.len();
    // What moved most stands first, so that a cut leaves out what stood still.
    series.sort_by(Shown::more_telling);
    series.truncate(MAX_SERIES);
    let cut_points = series.iter().any(|shown| shown.dropped > 0);

    let mut summary = Map::new();
    summary.insert("query".to_owned(), Value::from(query));
    summary.insert("source".to_owned(), Value::from(picked.client.name().as_str()));
    let ends = json!({"since": time::rfc3339(window.since), "until": time::rfc3339(window.until)});
    summary.insert("window".to_owned(), ends);
    summary.insert("step_s".to_owned(), Value::from(window.step));
    summary.insert("series_total".to_owned(), Value::from(found));
    if found > 1 {
        summary.insert("overview".to_owned(), Value::from(overview(&series)));
    }
    if !told.warnings.is_empty() {
        summary.insert("warnings".to_owned(), Value::from(told.warnings));
    }
    if found == 0 {
        summary.insert("note".to_owned(), Value::from(nothing_found(picked)));
    }
    let mut left_out = Vec::new();
    if let Fitted::Raised(window) = fitted {
        left_out.push(format!(
            "the ranges of the query are long, so it was looked at each {} s only; shorter ranges, or a narrower window, \
             are seen finer",
            window.step
        ));
    }
    if SERVER_SERIES.parse() == Ok(found) {
        left_out.push(format!("the server was asked for {SERVER_SERIES} series at most; there may be more"));
    }
    if found > MAX_SERIES {
        left_out.push(format!(
            "{found} series matched, the {MAX_SERIES} that moved most are here; select fewer by label, or aggregate \
             (`sum by (label) (...)`, `topk(10, ...)`)"
        ));
    }
    if series.iter().any(|shown| shown.series.metric.len() >= MAX_LABELS) {
        left_out.push(format!("a series has {MAX_LABELS} labels or more; the first are here"));
    }
    if cut_points {
        left_out.push(format!("the server sent more than {MAX_POINTS} points a series; the last ones are here"));
    }
    if told.partial {
        left_out.push("the server says its answer is partial: some of its storage did not answer".to_owned());
    }
    let rows = series.into_iter().map(Shown::into_row).collect();
    let mut output = Output::items(Origin::Metric, summary, "series", rows).with_fields(OWN);
    output.matched = Some(u64::try_from(found).unwrap_or(u64::MAX));
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    output
}

/// The facts of the first series without their points, so that a cut between rows does not hide the others.
fn overview(series: &[Shown]) -> Vec<Value> {
    let mut room = OVERVIEW;
    let facts = series.iter().map(|shown| json!({"labels": shown.series.metric, "summary": shown.facts()}));
    facts
        .take_while(|fact| {
            let size = fact.to_string().len();
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        })
        .collect()
}

fn nothing_found(picked: &Picked<'_>) -> String {
    let labels = picked.service.as_ref().and_then(|(_, service)| service.metrics.as_ref());
    let selector = labels.and_then(|series| Selector::of(&series.labels).ok().flatten());
    let hint = selector.map_or(String::new(), |selector| format!("; the service's series are {selector}"));
    format!("no series had a value in this window: check the name with `list_metrics`, or widen the window{hint}")
}

/// A series with its facts.
struct Shown {
    series: Series,
    dropped: usize,
    least: Option<Point>,
    most: Option<Point>,
}

impl Shown {
    fn of(mut series: Series) -> Self {
        let dropped = series.values.len().saturating_sub(MAX_POINTS);
        series.values.drain(..dropped);
        let real = || series.values.iter().copied().filter(|point| !point.value.is_nan());
        // The first of equal extremes, so that `at_max` is when it was reached.
        let least = real().reduce(|one, two| if two.value < one.value { two } else { one });
        let most = real().reduce(|one, two| if two.value > one.value { two } else { one });
        Self { series, dropped, least, most }
    }

    fn spread(&self) -> f64 {
        match (self.least, self.most) {
            // Two infinities of one sign stand still.
            (Some(least), Some(most)) if least.value < most.value => most.value - least.value,
            _ => 0.0,
        }
    }

    fn more_telling(&self, other: &Self) -> Ordering {
        let height = |shown: &Self| shown.most.map_or(f64::NEG_INFINITY, |point| point.value);
        other
            .spread()
            .total_cmp(&self.spread())
            .then_with(|| height(other).total_cmp(&height(self)))
            .then_with(|| self.series.metric.cmp(&other.series.metric))
    }

    /// The two points next to each other between which it moved most: where to look for the onset.
    fn steepest(&self) -> Option<(Point, Point)> {
        let size = |(from, to): &(Point, Point)| (to.value - from.value).abs();
        let real = || self.series.values.iter().copied().filter(|point| !point.value.is_nan());
        let moves = real().zip(real().skip(1)).filter(|step| size(step).is_finite() && size(step) > 0.0);
        moves.reduce(|one, two| if size(&two) > size(&one) { two } else { one })
    }

    fn facts(&self) -> Value {
        let points = &self.series.values;
        let (first, last) = (points.first().map(|point| point.value), points.last().map(|point| point.value));
        let change = first.zip(last).map(|(first, last)| last - first).filter(|change| change.is_finite());
        let steepest = self.steepest().map_or(
            Value::Null,
            |(from, to)| json!({"at": to.time.to_string(), "from": number(from.value), "to": number(to.value)}),
        );
        json!({
            "min": maybe(self.least.map(|point| point.value)),
            "max": maybe(self.most.map(|point| point.value)),
            "first": maybe(first),
            "last": maybe(last),
            "change": maybe(change),
            "at_max": self.most.map_or(Value::Null, |point| Value::from(point.time.to_string())),
            "steepest": steepest,
        })
    }

    fn into_row(self) -> Value {
        let points = self.series.values.iter();
        let points: Vec<Value> = points.map(|point| json!([point.time.to_string(), number(point.value)])).collect();
        json!({"labels": self.series.metric, "summary": self.facts(), "points": points})
    }
}
