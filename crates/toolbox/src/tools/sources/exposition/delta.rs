//! What happened between two looks at one page.

use std::collections::HashMap;

use super::family::{Distribution, Measure, Metric};
use super::{Kind, Labels};

/// How a metric moved between the two looks.
#[derive(Debug, Clone, PartialEq)]
pub enum Movement {
    /// A counter.
    Counter {
        /// Its value at the second look.
        value: f64,
        /// Growth a second; none with one look only, for a new series, and after a reset.
        rate: Option<f64>,
        /// It fell: the process restarted.
        reset: bool,
    },
    /// A gauge, or a value whose type is not said.
    Gauge {
        /// Its value at the second look.
        value: f64,
        /// How much it rose.
        change: Option<f64>,
    },
    /// A histogram or summary.
    Distribution {
        /// Observations since its process began.
        count: Option<f64>,
        /// Observations a second.
        rate: Option<f64>,
        /// What `mean`, `p50` and `p99` are over.
        over: Over,
        /// Their mean.
        mean: Option<f64>,
        /// Their median, estimated.
        p50: Option<f64>,
        /// Their 99th percentile, estimated.
        p99: Option<f64>,
        /// It fell: the process restarted.
        reset: bool,
    },
}

/// The time that a mean or a quantile is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Between the two looks.
    Interval,
    /// Since the process began: nothing was observed between the looks, or there was one look only.
    Start,
}

/// One metric with one set of labels, and how it moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Its labels.
    pub labels: Labels,
    /// How it moved.
    pub movement: Movement,
}

impl Moved {
    /// Whether anything happened to it between the two looks.
    #[must_use]
    pub fn stirred(&self) -> bool {
        match self.movement {
            Movement::Counter { rate, reset, .. } | Movement::Distribution { rate, reset, .. } => {
                reset || rate.is_some_and(|rate| rate != 0.0)
            }
            Movement::Gauge { change, .. } => change.is_some_and(|change| change != 0.0),
        }
    }

    /// Whether its process restarted between the two looks.
    #[must_use]
    pub fn reset(&self) -> bool {
        match self.movement {
            Movement::Counter { reset, .. } | Movement::Distribution { reset, .. } => reset,
            Movement::Gauge { .. } => false,
        }
    }
}

/// Compares the metrics of two looks `seconds` apart; `before` is empty where there was one look only.
#[must_use]
pub fn compare(before: &[Metric], after: Vec<Metric>, seconds: f64) -> Vec<Moved> {
    let earlier: HashMap<(&str, &Labels), &Measure> =
        before.iter().map(|metric| ((metric.name.as_str(), &metric.labels), &metric.measure)).collect();
    let per_second = |grown: f64| Some(grown / seconds).filter(|rate| rate.is_finite());
    after
        .into_iter()
        .map(|metric| {
            let then = earlier.get(&(metric.name.as_str(), &metric.labels)).copied();
            let movement = match (metric.measure, then) {
                (Measure::Counter(value), Some(Measure::Counter(then))) if value < *then => {
                    Movement::Counter { value, rate: None, reset: true }
                }
                (Measure::Counter(value), Some(Measure::Counter(then))) => {
                    Movement::Counter { value, rate: per_second(value - then), reset: false }
                }
                (Measure::Counter(value), _) => Movement::Counter { value, rate: None, reset: false },
                (Measure::Gauge(value), Some(Measure::Gauge(then))) => {
                    Movement::Gauge { value, change: Some(value - then).filter(|change| change.is_finite()) }
                }
                (Measure::Gauge(value), _) => Movement::Gauge { value, change: None },
                (Measure::Distribution(now), Some(Measure::Distribution(then))) => {
                    let fell = matches!((now.count, then.count), (Some(now), Some(then)) if now < then);
                    distribution(&now, now.since(then), fell, per_second)
                }
                (Measure::Distribution(now), _) => distribution(&now, None, false, per_second),
            };
            Moved { name: metric.name, kind: metric.kind, labels: metric.labels, movement }
        })
        .collect()
}

fn distribution(
    now: &Distribution,
    between: Option<Distribution>,
    reset: bool,
    per_second: impl Fn(f64) -> Option<f64>,
) -> Movement {
    let rate = between.as_ref().and_then(|between| between.count).and_then(per_second);
    let busy = between.filter(|between| between.count.is_some_and(|count| count > 0.0));
    let (over, looked_at) = busy.as_ref().map_or((Over::Start, now), |between| (Over::Interval, between));
    // A summary's own quantiles are over a window of its process; they can't be worked out for the interval.
    let quantile = |which| looked_at.quantile(which).or_else(|| now.quantile(which).filter(|_| now.buckets.is_empty()));
    Movement::Distribution {
        count: now.count,
        rate,
        over,
        mean: looked_at.mean(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        reset,
    }
}
