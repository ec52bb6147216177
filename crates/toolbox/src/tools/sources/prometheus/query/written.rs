//! A query written from its tree, each value by an encoder of its own.

use std::fmt;

use promql_parser::label::{Labels, Matcher};
use promql_parser::parser::{
    AtModifier, BinModifier, Expr, LabelModifier, Offset, VectorMatchCardinality, VectorSelector,
};
use promql_parser::util::display_duration;

use crate::tools::sources::prometheus::selector::{Quoted, is_label};

/// The text of a query.
pub(super) fn text(tree: &Expr) -> String {
    Written(tree).to_string()
}

/// The text of a selector, for messages.
pub(super) fn selector(selected: &VectorSelector) -> String {
    Selected(selected).to_string()
}

struct Selected<'a>(&'a VectorSelector);

impl fmt::Display for Selected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        series(f, self.0)
    }
}

struct Written<'a>(&'a Expr);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Aggregate(aggregate) => {
                write!(f, "{}", aggregate.op)?;
                match &aggregate.modifier {
                    Some(LabelModifier::Include(labels)) => write!(f, " by ({})", Listed(labels))?,
                    Some(LabelModifier::Exclude(labels)) => write!(f, " without ({})", Listed(labels))?,
                    None => {}
                }
                f.write_str(" (")?;
                if let Some(param) = &aggregate.param {
                    write!(f, "{}, ", Written(param))?;
                }
                write!(f, "{})", Written(&aggregate.expr))
            }
            Expr::Unary(unary) => write!(f, "-{}", Written(&unary.expr)),
            Expr::Binary(binary) => {
                write!(f, "{} {}", Written(&binary.lhs), binary.op)?;
                binary.modifier.as_ref().map_or(Ok(()), |modifier| matching(f, modifier))?;
                write!(f, " {}", Written(&binary.rhs))
            }
            Expr::Paren(paren) => write!(f, "({})", Written(&paren.expr)),
            Expr::Subquery(subquery) => {
                let step = subquery.step.as_ref().map(display_duration).unwrap_or_default();
                write!(f, "{}[{}:{step}]", Written(&subquery.expr), display_duration(&subquery.range))?;
                moved(f, subquery.at.as_ref(), subquery.offset.as_ref())
            }
            // In full a large one would have hundreds of digits.
            Expr::NumberLiteral(number)
                if number.val.is_finite() && number.val != 0.0 && !(1e-6..1e15).contains(&number.val.abs()) =>
            {
                write!(f, "{:e}", number.val)
            }
            Expr::NumberLiteral(number) => write!(f, "{number}"),
            Expr::StringLiteral(string) => write!(f, "{}", Quoted(&string.val)),
            Expr::VectorSelector(selected) => {
                series(f, selected)?;
                moved(f, selected.at.as_ref(), selected.offset.as_ref())
            }
            Expr::MatrixSelector(matrix) => {
                series(f, &matrix.vs)?;
                write!(f, "[{}]", display_duration(&matrix.range))?;
                moved(f, matrix.vs.at.as_ref(), matrix.vs.offset.as_ref())
            }
            Expr::Call(call) => {
                write!(f, "{}(", call.func.name)?;
                for (at, arg) in call.args.args.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { ", " }, Written(arg))?;
                }
                f.write_str(")")
            }
            // The parser makes none; nothing reads what stands for it.
            Expr::Extension(_) => f.write_str("extension"),
        }
    }
}

fn series(f: &mut fmt::Formatter<'_>, selected: &VectorSelector) -> fmt::Result {
    let name = selected.name.as_deref().unwrap_or_default();
    f.write_str(name)?;
    let matchers = &selected.matchers;
    if matchers.matchers.is_empty() && matchers.or_matchers.is_empty() {
        return f.write_str(if name.is_empty() { "{}" } else { "" });
    }
    f.write_str("{")?;
    for (at, matcher) in matchers.matchers.iter().enumerate() {
        write!(f, "{}{}", if at == 0 { "" } else { "," }, Shown(matcher))?;
    }
    for (group_at, group) in matchers.or_matchers.iter().enumerate() {
        for (at, matcher) in group.iter().enumerate() {
            let between = match (group_at, at) {
                (0, 0) => "",
                (_, 0) => " or ",
                (_, _) => ",",
            };
            write!(f, "{between}{}", Shown(matcher))?;
        }
    }
    f.write_str("}")
}

struct Shown<'a>(&'a Matcher);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        label(f, &self.0.name)?;
        write!(f, "{}{}", self.0.op, Quoted(&self.0.value))
    }
}

struct Listed<'a>(&'a Labels);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.labels.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            label(f, name)?;
        }
        Ok(())
    }
}

fn label(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if is_label(name) { f.write_str(name) } else { write!(f, "{}", Quoted(name)) }
}

fn matching(f: &mut fmt::Formatter<'_>, modifier: &BinModifier) -> fmt::Result {
    if modifier.return_bool {
        f.write_str(" bool")?;
    }
    match &modifier.matching {
        Some(LabelModifier::Include(labels)) => write!(f, " on ({})", Listed(labels))?,
        Some(LabelModifier::Exclude(labels)) => write!(f, " ignoring ({})", Listed(labels))?,
        None => {}
    }
    match &modifier.card {
        VectorMatchCardinality::ManyToOne(labels) => write!(f, " group_left ({})", Listed(labels)),
        VectorMatchCardinality::OneToMany(labels) => write!(f, " group_right ({})", Listed(labels)),
        VectorMatchCardinality::OneToOne | VectorMatchCardinality::ManyToMany => Ok(()),
    }
}

fn moved(f: &mut fmt::Formatter<'_>, at: Option<&AtModifier>, offset: Option<&Offset>) -> fmt::Result {
    if let Some(at) = at {
        write!(f, " {at}")?;
    }
    if let Some(offset) = offset {
        write!(f, " offset {offset}")?;
    }
    Ok(())
}
