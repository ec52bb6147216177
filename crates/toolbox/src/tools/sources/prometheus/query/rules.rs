//! What a query may hold, and what it reads.
//!
//! All figures are worst cases that can be seen without the server: one sample each [`SCRAPE`], every point evaluated.

use std::time::{Duration, SystemTime};

use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{AggregateExpr, AtModifier, Call, Expr, Offset, SubqueryExpr, VectorSelector};
use promql_parser::util::display_duration;
use warrant_kernel::redact::guard::first_chars;

use super::{MAX_AWAY, MAX_DEPTH, MAX_KEPT, MAX_POINTS, MAX_RANGE, MAX_SELECTORS, SCRAPE, Unfit, written};
use crate::tools::sources::prometheus::{Window, selector};

/// The step of a subquery that names none is the server's; this is as small as servers have it.
const SERVERS_STEP: Duration = SCRAPE;

/// What holds whatever the window.
pub(super) fn shape(tree: &Expr) -> Result<(), Unfit> {
    Walk { window: None, selectors: 0, samples: 0 }.expression(tree, Place::top(Duration::ZERO))
}

/// Samples of one series that one evaluation reads.
pub(super) fn samples(tree: &Expr, window: Window) -> Result<u64, Unfit> {
    let wide = window.until.duration_since(window.since).unsigned_abs();
    let mut walk = Walk { window: Some(window), selectors: 0, samples: 0 };
    walk.expression(tree, Place::top(wide))?;
    Ok(walk.samples)
}

/// Where in a query an expression stands.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    /// How often the subqueries around it evaluate it for one point of the window.
    times: u64,
    /// The stretch of time that all of them together look at.
    wide: Duration,
}

impl Place {
    fn top(wide: Duration) -> Self {
        Self { depth: 0, times: 1, wide }
    }
}

struct Walk {
    window: Option<Window>,
    selectors: usize,
    samples: u64,
}

impl Walk {
    fn expression(&mut self, expr: &Expr, at: Place) -> Result<(), Unfit> {
        if at.depth > MAX_DEPTH {
            return Err(Unfit::Many { what: "levels", most: MAX_DEPTH });
        }
        let below = Place { depth: at.depth + 1, ..at };
        match expr {
            Expr::Aggregate(aggregate) => self.aggregate(aggregate, below),
            Expr::Unary(unary) => self.expression(&unary.expr, below),
            Expr::Binary(binary) => {
                self.expression(&binary.lhs, below)?;
                self.expression(&binary.rhs, below)
            }
            Expr::Paren(paren) => self.expression(&paren.expr, below),
            Expr::Subquery(subquery) => self.subquery(subquery, below),
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) => Ok(()),
            Expr::VectorSelector(selected) => self.selector(selected, at, 1),
            Expr::MatrixSelector(matrix) => {
                bounded(matrix.range)?;
                self.selector(&matrix.vs, at, steps(matrix.range, SCRAPE))
            }
            Expr::Call(call) => self.call(call, below),
            Expr::Extension(_) => Err(Unfit::Ambiguous),
        }
    }

    fn aggregate(&mut self, aggregate: &AggregateExpr, at: Place) -> Result<(), Unfit> {
        let name = aggregate.op.to_string();
        if let Some(param) = &aggregate.param {
            // Those that keep so many series of each group.
            if matches!(name.as_str(), "topk" | "bottomk" | "limitk") {
                match plain(param) {
                    Expr::NumberLiteral(number) if (1.0..=MAX_KEPT).contains(&number.val) => {}
                    _ => return Err(Unfit::Kept(name)),
                }
            }
            self.expression(param, at)?;
        }
        self.expression(&aggregate.expr, at)
    }

    fn call(&mut self, call: &Call, at: Place) -> Result<(), Unfit> {
        if call.func.name == "label_replace"
            && let Some(Expr::StringLiteral(pattern)) = call.args.args.last().map(|last| plain(last))
        {
            let shown = || first_chars(&pattern.val, 60).to_owned();
            selector::pattern(&pattern.val).map_err(|why| Unfit::Pattern { pattern: shown(), why })?;
        }
        call.args.args.iter().try_for_each(|arg| self.expression(arg, at))
    }

    fn subquery(&mut self, subquery: &SubqueryExpr, at: Place) -> Result<(), Unfit> {
        bounded(subquery.range)?;
        self.away(subquery.offset.as_ref(), subquery.at.as_ref())?;
        let step = subquery.step.unwrap_or(SERVERS_STEP).max(Duration::from_millis(1));
        let times = at.times.saturating_mul(steps(subquery.range, step));
        let wide = at.wide.saturating_add(subquery.range);
        // A server evaluates it over the whole stretch once, and reads it anew for each point of what is around it.
        let most = times.max(steps(wide, step));
        if most > MAX_POINTS {
            let enough = enough(step, most);
            return Err(Unfit::Fine {
                range: display_duration(&subquery.range),
                step: subquery.step.as_ref().map(display_duration).unwrap_or_default(),
                enough: display_duration(&enough),
            });
        }
        self.expression(&subquery.expr, Place { times, wide, ..at })
    }

    fn selector(&mut self, selected: &VectorSelector, at: Place, samples: u64) -> Result<(), Unfit> {
        self.selectors += 1;
        if self.selectors > MAX_SELECTORS {
            return Err(Unfit::Many { what: "selectors", most: MAX_SELECTORS });
        }
        if !selective(selected) {
            return Err(Unfit::Bare(first_chars(&written::selector(selected), 120).to_owned()));
        }
        self.away(selected.offset.as_ref(), selected.at.as_ref())?;
        self.samples = self.samples.saturating_add(at.times.saturating_mul(samples));
        Ok(())
    }

    fn away(&self, offset: Option<&Offset>, at: Option<&AtModifier>) -> Result<(), Unfit> {
        if let Some(offset) = offset {
            let (Offset::Pos(far) | Offset::Neg(far)) = offset;
            if *far > MAX_AWAY {
                return Err(Unfit::Away(format!("offset {offset}")));
            }
        }
        if let (Some(AtModifier::At(time)), Some(window)) = (at, self.window) {
            // A time before 1970 is away from any window.
            let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).ok();
            let end = Duration::from_secs(u64::try_from(window.until.as_second()).unwrap_or(0));
            if since_epoch.is_none_or(|time| time.abs_diff(end) > MAX_AWAY) {
                return Err(Unfit::Away(AtModifier::At(*time).to_string()));
            }
        }
        Ok(())
    }
}

/// An expression without the parentheses around it.
fn plain(mut expr: &Expr) -> &Expr {
    while let Expr::Paren(inner) = expr {
        expr = &inner.expr;
    }
    expr
}

/// Whether a selector names what it selects: by a metric name, or by an equality that is not empty.
fn selective(selected: &VectorSelector) -> bool {
    let named = |matcher: &Matcher| matches!(matcher.op, MatchOp::Equal) && !matcher.value.is_empty();
    let groups = &selected.matchers.or_matchers;
    let every_group = !groups.is_empty() && groups.iter().all(|group| group.iter().any(named));
    // With alternatives, what stands beside them is one of them for some servers and common to all for others.
    let beside = selected.matchers.matchers.iter().any(named);
    selected.name.as_ref().is_some_and(|name| !name.is_empty())
        || if groups.is_empty() { beside } else { every_group && (beside || selected.matchers.matchers.is_empty()) }
}

fn bounded(range: Duration) -> Result<(), Unfit> {
    if range > MAX_RANGE { Err(Unfit::Range(display_duration(&range))) } else { Ok(()) }
}

/// How many steps fit into a range, one at least.
fn steps(range: Duration, step: Duration) -> u64 {
    u64::try_from(range.as_millis().div_ceil(step.as_millis().max(1))).unwrap_or(u64::MAX).max(1)
}

/// A usual step at which so many evaluations become few enough.
fn enough(step: Duration, most: u64) -> Duration {
    let factor = u128::from(most.div_ceil(MAX_POINTS));
    let least = u64::try_from(step.as_millis().saturating_mul(factor).div_ceil(1000)).unwrap_or(u64::MAX);
    let usual = crate::tools::sources::prometheus::STEPS.into_iter().filter_map(|seconds| u64::try_from(seconds).ok());
    Duration::from_secs(usual.into_iter().find(|seconds| *seconds >= least).unwrap_or(least))
}
