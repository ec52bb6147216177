//! Records that were wrapped: the secret begins on one line and ends on the next.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::draw::Draw;
use crate::kinds::Planted;

/// One manner of wrapping: the record, and the byte at which it is cut.
pub type Split = (&'static str, fn(&str, usize, &mut Draw) -> String);

/// All manners.
pub const SPLITS: &[Split] = &[
    ("wrapped", wrapped),
    ("wrapped and indented", indented),
    ("wrapped with prefix", prefixed),
    ("cri partial", partial),
    ("backslash", backslash),
];

fn wrapped(record: &str, at: usize, _: &mut Draw) -> String {
    let (head, tail) = record.split_at(at);
    format!("{head}\n{tail}")
}

fn indented(record: &str, at: usize, draw: &mut Draw) -> String {
    let (head, tail) = record.split_at(at);
    let indent = *draw.one(&["    ", "\t", "  ", "        "]);
    format!("{head}\n{indent}{tail}")
}

fn prefixed(record: &str, at: usize, draw: &mut Draw) -> String {
    let (head, tail) = record.split_at(at);
    let prefix = match draw.below(2) {
        0 => "Nov 30 02:14:07 web-2 checkout[311]: ",
        _ => "2026-11-30T02:14:07.113Z checkout-6f7d9 | ",
    };
    let head = head.replace('\n', &format!("\n{prefix}"));
    let tail = tail.replace('\n', &format!("\n{prefix}"));
    format!("{prefix}{head}\n{prefix}{tail}")
}

fn partial(record: &str, at: usize, _: &mut Draw) -> String {
    let (head, tail) = record.split_at(at);
    let (head, tail) = (head.replace('\n', " "), tail.replace('\n', " "));
    format!("2026-11-30T02:14:07.113000001Z stdout P {head}\n2026-11-30T02:14:07.113000002Z stdout F {tail}")
}

fn backslash(record: &str, at: usize, _: &mut Draw) -> String {
    let (head, tail) = record.split_at(at);
    format!("{head}\\\n{tail}")
}

/// Where a record is cut so that the secret lies on both sides, eight characters or more of it on one of them.
pub fn cut(record: &str, planted: &Planted, draw: &mut Draw) -> Option<usize> {
    let part = draw.one(&planted.secret);
    let start = record.find(part.as_str())?;
    let long = part.len() - 8;
    let within = match (part.len() >= 20, draw.below(2)) {
        (true, _) => draw.between(8, long),
        (false, 0) => draw.between(3, long),
        (false, _) => draw.between(8, part.len() - 3),
    };
    Some(start + within)
}

/// The base64 of a field over lines of 76 characters, as `base64` prints it.
pub fn base64_lines(planted: &Planted) -> (String, Vec<String>) {
    let whole = format!("{}={}\n", planted.name.to_lowercase(), planted.text);
    let encoded = STANDARD.encode(&whole);
    let hidden = planted.secret.iter().filter_map(|part| {
        let start = whole.find(part.as_str())?;
        let (first, last) = ((start * 8).div_ceil(6), (start + part.len()) * 8 / 6);
        Some(encoded[first..last].to_owned())
    });
    let hidden = hidden.collect();
    let lines: Vec<&str> =
        (0..encoded.len()).step_by(76).map(|at| &encoded[at..(at + 76).min(encoded.len())]).collect();
    (format!("$ base64 env\n{}\n$", lines.join("\n")), hidden)
}
