//! When a secret counts as found: no eight characters of it in a row are left, in the form they had or in plain.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The characters in a row that count as seen.
const SEEN: usize = 8;

/// What is left of any of these in the output, if anything is.
pub fn left<'a>(output: &str, hidden: &'a [String]) -> Option<&'a str> {
    let once = undone(output);
    let views = [output.to_owned(), undone(&once), once];
    let windows = hidden.iter().flat_map(|part| {
        let starts: Vec<usize> = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
        (SEEN..starts.len()).map(|end| &part[starts[end - SEEN]..starts[end]]).collect::<Vec<_>>()
    });
    windows.into_iter().find(|window| views.iter().any(|view| view.contains(window)))
}

/// The text as a person reads it: no colours, nothing invisible, full width as plain, `\u` escapes as what they stand for.
fn undone(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(one) = rest.next() {
        match one {
            '\x1b' => {
                if rest.peek() == Some(&'[') {
                    rest.by_ref().find(|end| ('@'..='~').contains(end) && *end != '[');
                }
            }
            '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}' => {}
            '\u{ff01}'..='\u{ff5e}' => out.extend(char::from_u32(u32::from(one) - 0xfee0)),
            '\\' if rest.peek() == Some(&'u') => {
                let digits: String = rest.clone().skip(1).take(4).collect();
                if let Some(meant) = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                    out.push(meant);
                    rest.nth(4);
                } else {
                    out.push(one);
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// How many of how many were found, by kind and by form.
#[derive(Default)]
pub struct Tally {
    kinds: BTreeMap<String, (u32, u32)>,
    forms: BTreeMap<String, (u32, u32)>,
    all: (u32, u32),
    misses: Vec<String>,
}

impl Tally {
    pub fn count(&mut self, kind: &str, form: &str, input: &str, output: &str, hidden: &[String]) {
        assert!(left(input, hidden).is_some(), "{kind} / {form}: nothing is to be found in {input:?}");
        let left = left(output, hidden);
        let found = u32::from(left.is_none());
        let by_kind = self.kinds.entry(kind.to_owned()).or_default();
        let by_form = self.forms.entry(form.to_owned()).or_default();
        for pair in [by_kind, by_form, &mut self.all] {
            *pair = (pair.0 + found, pair.1 + 1);
        }
        if let Some(left) = left {
            self.misses.push(format!("{kind} / {form}: `{left}` is left\n   in  {input:?}\n   out {output:?}"));
        }
    }

    pub fn cases(&self) -> u32 {
        self.all.1
    }

    pub fn recall(&self) -> f64 {
        f64::from(self.all.0) / f64::from(self.all.1)
    }

    /// The table; the misses below it.
    pub fn table(&self) -> String {
        let mut out = format!("recall {:.4}: {} of {}\n", self.recall(), self.all.0, self.all.1);
        for (head, rows) in [("kind", &self.kinds), ("form", &self.forms)] {
            let _ = writeln!(out, "\nby {head}");
            for (name, (found, all)) in rows {
                let _ = writeln!(out, "  {name:<32} {found:>4} of {all:>4}");
            }
        }
        let _ = writeln!(out, "\nmisses");
        for miss in &self.misses {
            let _ = writeln!(out, "- {miss}");
        }
        out
    }
}
