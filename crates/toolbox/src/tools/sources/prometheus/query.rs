//! `PromQL` that somebody else wrote: parsed, weighed by what it would cost the server, and written anew.
//!
//! [`Query::read`] takes a text to pieces and refuses what selects everything, nests without end or names absurd times.
//! [`Query::over`] weighs what is left over a window: a step that is too small for it is raised, all else that is too much
//! is refused. Only [`Query::text`] is sent: it is printed from the tree that was judged, so that no reader downstream can
//! see another query in the same bytes.

mod lexical;

mod rules;

mod written;

#[cfg(test)]
mod tests;

use std::time::Duration;

use promql_parser::parser::{self, Expr};

use super::Window;

/// Most bytes of a query.
pub const MAX_LENGTH: usize = 4096;
/// Most parentheses, braces and brackets that are open at once.
pub const MAX_OPEN: usize = 32;
/// Most levels of a query's tree.
pub const MAX_DEPTH: usize = 96;
/// Most selectors of a query.
pub const MAX_SELECTORS: usize = 64;
/// Most regular expressions of a query.
pub const MAX_PATTERNS: usize = 16;
/// Bytes that one of them may take compiled.
pub const PATTERN_SIZE: usize = 256 * 1024;
/// Longest range of a selector or a subquery.
pub const MAX_RANGE: Duration = Duration::from_hours(31 * 24);
/// Furthest that `offset` and `@` may lead away from the window.
pub const MAX_AWAY: Duration = Duration::from_hours(366 * 24);
/// Most points of all subqueries that stand in each other, and most times one subquery is evaluated.
pub const MAX_POINTS: u64 = 11_000;
/// Most series that `topk` and its like may be asked for.
pub const MAX_KEPT: f64 = 1000.0;
/// Most samples of one series that a query may read, at one each [`SCRAPE`].
pub const MAX_SAMPLES: u64 = 2_000_000;
/// How often a sample is taken to be there.
pub const SCRAPE: Duration = Duration::from_secs(15);

/// Why a query is not asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Its text is too long.
    #[error("the query is longer than {MAX_LENGTH} bytes; ask for less at once")]
    Long,
    /// A text that is not taken apart at all.
    #[error("{0}")]
    Text(String),
    /// The parser refuses it.
    #[error("not PromQL that can be read: {0}")]
    Syntax(String),
    /// It comes out differently when it is written anew.
    #[error("the query holds something that can't be checked; write it with plain selectors, functions and operators")]
    Ambiguous,
    /// A selector that selects all there is.
    #[error(
        "the selector `{0}` could match every series; give it a metric name or an equality (`job=\"...\"`) that is not empty"
    )]
    Bare(String),
    /// The same, found by the parser.
    #[error(
        "a selector could match every series; give it a metric name or an equality (`job=\"...\"`) that is not empty"
    )]
    Anything,
    /// A regular expression that is too big or none.
    #[error("the regular expression `{pattern}` can't be used ({why}); write a shorter one, or list the values")]
    Pattern {
        /// Its beginning.
        pattern: String,
        /// What is wrong.
        why: String,
    },
    /// Too many of something.
    #[error("the query holds more than {most} {what}; ask for less at once")]
    Many {
        /// Of what.
        what: &'static str,
        /// The bound.
        most: usize,
    },
    /// A range that is too long.
    #[error("the range `[{0}]` is longer than 31 days; a shorter one will do, or `offset` to look further back")]
    Range(String),
    /// A subquery that is evaluated too often.
    #[error(
        "the subquery `[{range}:{step}]` is evaluated at more than {MAX_POINTS} points; `[{range}:{enough}]` would do"
    )]
    Fine {
        /// Its range.
        range: String,
        /// Its step.
        step: String,
        /// A step that is not refused.
        enough: String,
    },
    /// An `offset` or an `@` that leads nowhere.
    #[error("`{0}` leads more than a year away from the window; set `since` and `until` instead")]
    Away(String),
    /// A `topk` without a bound that can be seen.
    #[error("`{0}` takes a plain number from 1 to 1000 first; `{0}(10, ...)` shows most")]
    Kept(String),
    /// Too much at the coarsest step.
    #[error(
        "the query would read more than {MAX_SAMPLES} samples of each series even at two points; shorten its ranges, or \
         make the steps of its subqueries coarser"
    )]
    Heavy,
}

/// A query that was taken apart.
#[derive(Debug, Clone)]
pub struct Query {
    tree: Expr,
    text: String,
}

/// The window at which a query may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitted {
    /// As it was wished.
    Whole(Window),
    /// With a larger step: so many samples stand behind each point.
    Raised(Window),
}

impl Fitted {
    /// The window.
    #[must_use]
    pub fn window(self) -> Window {
        match self {
            Self::Whole(window) | Self::Raised(window) => window,
        }
    }
}

impl Query {
    /// Takes a text apart.
    ///
    /// # Errors
    /// What is wrong with it whatever the window.
    pub fn read(text: &str) -> Result<Self, Unfit> {
        if text.len() > MAX_LENGTH {
            return Err(Unfit::Long);
        }
        // The parser itself trusts its input with sizes and times; what could hurt it is looked for before.
        let tree = parsed(&lexical::plain(text)?)?;
        rules::shape(&tree)?;
        let text = written::text(&tree);
        // What is sent has to be what was judged.
        match lexical::plain(&text).and_then(|text| parsed(&text)) {
            Ok(again) if again == tree => Ok(Self { tree, text }),
            Ok(_) | Err(_) => Err(Unfit::Ambiguous),
        }
    }

    /// The query as it is sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Weighs it over a window.
    ///
    /// # Errors
    /// What would cost too much at any step.
    pub fn over(&self, window: Window) -> Result<Fitted, Unfit> {
        let samples = rules::samples(&self.tree, window)?;
        let affordable = MAX_SAMPLES / samples.max(1);
        if affordable < 2 {
            return Err(Unfit::Heavy);
        }
        let coarser = window.within(usize::try_from(affordable).unwrap_or(usize::MAX));
        Ok(if coarser == window { Fitted::Whole(window) } else { Fitted::Raised(coarser) })
    }
}

fn parsed(text: &str) -> Result<Expr, Unfit> {
    parser::parse(text).map_err(|said| {
        // The parser has a rule of its own against the worst of them.
        let bare = said.contains("at least one non-empty matcher");
        if bare { Unfit::Anything } else { Unfit::Syntax(said.chars().take(200).collect()) }
    })
}
