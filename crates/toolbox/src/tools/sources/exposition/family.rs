//! Puts the samples of one counter, gauge, histogram or summary together: one [`Metric`] for each set of labels, not one
//! for each bucket.

use std::collections::HashMap;

use super::{Kind, Labels, Page, Sample};

/// What a histogram or summary has counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    /// Observations.
    pub count: Option<f64>,
    /// Their sum.
    pub sum: Option<f64>,
    /// Upper bounds with the observations at or below them; sorted by bound once the page is read.
    pub buckets: Vec<(f64, f64)>,
    /// Quantiles with their values, of a summary.
    pub quantiles: Vec<(f64, f64)>,
}

/// What stands behind one name and set of labels.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// A counter's value.
    Counter(f64),
    /// A gauge's value, or one whose type is not said.
    Gauge(f64),
    /// A histogram or summary.
    Distribution(Distribution),
}

/// One metric with one set of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name; for a histogram or summary without suffix.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Its labels, without `le` and `quantile`.
    pub labels: Labels,
    /// Its values.
    pub measure: Measure,
}

/// Which part of a distribution a sample is.
#[derive(Clone, Copy)]
enum Part {
    Bucket(f64),
    Quantile(f64),
    Sum,
    Count,
}

enum Shape<'a> {
    Plain(Kind),
    Part {
        base: &'a str,
        kind: Kind,
        part: Part,
    },
    /// When a series began (`_created`): not a measurement.
    Created,
}

/// The metrics of a page in its order.
#[must_use]
pub fn metrics(page: &Page) -> Vec<Metric> {
    let mut found: Vec<Metric> = Vec::new();
    let mut places: HashMap<(&str, Labels), usize> = HashMap::new();
    for sample in &page.samples {
        match shape(page, sample) {
            Shape::Created => {}
            Shape::Plain(kind) => {
                let counts = kind == Kind::Counter;
                let measure = if counts { Measure::Counter(sample.value) } else { Measure::Gauge(sample.value) };
                found.push(Metric { name: sample.name.clone(), kind, labels: sample.labels.clone(), measure });
            }
            Shape::Part { base, kind, part } => {
                let mut labels = sample.labels.clone();
                labels.retain(|(name, _)| match part {
                    Part::Bucket(_) => name != "le",
                    Part::Quantile(_) => name != "quantile",
                    Part::Sum | Part::Count => true,
                });
                let at = *places.entry((base, labels.clone())).or_insert_with(|| {
                    let measure = Measure::Distribution(Distribution::default());
                    found.push(Metric { name: base.to_owned(), kind, labels, measure });
                    found.len() - 1
                });
                if let Some(Metric { measure: Measure::Distribution(into), .. }) = found.get_mut(at) {
                    match part {
                        Part::Bucket(bound) => into.buckets.push((bound, sample.value)),
                        Part::Quantile(which) => into.quantiles.push((which, sample.value)),
                        Part::Sum => into.sum = Some(sample.value),
                        Part::Count => into.count = Some(sample.value),
                    }
                }
            }
        }
    }
    for metric in &mut found {
        if let Measure::Distribution(distribution) = &mut metric.measure {
            distribution.buckets.sort_by(|(one, _), (two, _)| one.total_cmp(two));
        }
    }
    found
}

fn shape<'a>(page: &'a Page, sample: &'a Sample) -> Shape<'a> {
    let name = sample.name.as_str();
    let declared = |name: &str| page.about.get(name).and_then(|about| about.kind);
    let label = |wanted: &str| {
        sample.labels.iter().find(|(name, _)| name == wanted).and_then(|(_, value)| value.parse::<f64>().ok())
    };
    match declared(name) {
        Some(kind @ Kind::Summary) => match label("quantile") {
            Some(which) => return Shape::Part { base: name, kind, part: Part::Quantile(which) },
            None => return Shape::Plain(Kind::Untyped),
        },
        // The samples of a histogram bear suffixes; one without is a stray.
        Some(Kind::Histogram) => return Shape::Plain(Kind::Untyped),
        Some(kind @ (Kind::Counter | Kind::Gauge | Kind::Untyped)) => return Shape::Plain(kind),
        None => {}
    }
    for suffix in ["_bucket", "_sum", "_count"] {
        let Some(base) = name.strip_suffix(suffix) else { continue };
        let Some(kind @ (Kind::Histogram | Kind::Summary)) = declared(base) else { continue };
        let part = match suffix {
            "_sum" => Some(Part::Sum),
            "_count" => Some(Part::Count),
            _ => label("le").map(Part::Bucket),
        };
        return part.map_or(Shape::Plain(Kind::Untyped), |part| Shape::Part { base, kind, part });
    }
    if name.strip_suffix("_created").is_some_and(|base| declared(base).is_some()) {
        return Shape::Created;
    }
    // OpenMetrics declares a counter without the suffix; pages without declarations still follow the naming rule.
    Shape::Plain(if name.ends_with("_total") { Kind::Counter } else { Kind::Untyped })
}

impl Distribution {
    /// The mean of all observations.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        match (self.sum, self.count) {
            (Some(sum), Some(count)) if count > 0.0 => Some(sum / count).filter(|mean| mean.is_finite()),
            _ => None,
        }
    }

    /// Estimates a quantile: what the process said of it, else linear interpolation within a bucket, as `PromQL`'s
    /// `histogram_quantile` does. None where nothing was counted or the buckets make no sense.
    #[must_use]
    pub fn quantile(&self, which: f64) -> Option<f64> {
        if let Some((_, value)) = self.quantiles.iter().find(|(quantile, _)| (quantile - which).abs() < 1e-9) {
            return Some(*value).filter(|value| value.is_finite());
        }
        let (last, total) = *self.buckets.last()?;
        if last.is_finite() || total.is_nan() || total <= 0.0 {
            return None;
        }
        let rank = which * total;
        let (mut lower, mut below) = (None, 0.0);
        for &(upper, cumulative) in &self.buckets {
            if cumulative >= rank {
                let from = match lower {
                    _ if upper.is_infinite() => return lower,
                    None if upper <= 0.0 => return Some(upper),
                    None => 0.0,
                    Some(lower) => lower,
                };
                let inside = cumulative - below;
                let share = if inside > 0.0 { (rank - below) / inside } else { 1.0 };
                return Some(from + (upper - from) * share).filter(|value| value.is_finite());
            }
            (lower, below) = (Some(upper), cumulative);
        }
        None
    }

    /// What was counted since `before`; none after a reset, or where the buckets have changed.
    #[must_use]
    pub fn since(&self, before: &Self) -> Option<Self> {
        let minus = |now: Option<f64>, then: Option<f64>| Some(now? - then?);
        let same = self.buckets.len() == before.buckets.len();
        let pairs = self.buckets.iter().zip(&before.buckets);
        let buckets: Vec<(f64, f64)> = pairs
            .take_while(|((now, _), (then, _))| now.total_cmp(then).is_eq())
            .map(|((bound, now), (_, then))| (*bound, now - then))
            .collect();
        let shrank = buckets.iter().any(|(_, count)| *count < 0.0);
        let count = minus(self.count, before.count)?;
        if !same || buckets.len() != self.buckets.len() || shrank || count < 0.0 {
            return None;
        }
        Some(Self { count: Some(count), sum: minus(self.sum, before.sum), buckets, quantiles: Vec::new() })
    }
}
