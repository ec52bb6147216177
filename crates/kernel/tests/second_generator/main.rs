//! Redaction measured by somebody who has not read its rules: 40 kinds of secrets in the places and forms they take.
//!
//! Everything here is written from the shapes in `tests/data/secrets/kinds.json` and from what logs, configurations and
//! dumps look like. To be of use it must stay so: a miss is put right in the rules, never here, unless the case is not fair.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a generator of tests"
)]

mod draw;

mod kinds;

#[expect(clippy::unnecessary_wraps, reason = "all places are of one type; some take everything")]
mod places;

mod encodings;

mod splits;

mod judge;

use warrant_kernel::redact::{RedactionKey, Redactor};

use crate::draw::Draw;
use crate::encodings::{GUISES, WRAPPINGS};
use crate::judge::Tally;
use crate::kinds::{KINDS, Known, Planted, plant};
use crate::places::PLACES;
use crate::splits::{SPLITS, base64_lines, cut};

/// What is found at least. It only rises.
const FLOOR: f64 = 0.97;

/// Values of each kind in each form.
const EACH: usize = 2;

struct Run {
    redactor: Redactor,
    draw: Draw,
    tally: Tally,
}

impl Run {
    fn text(&mut self, kind: &str, form: &str, text: &str, hidden: &[String]) {
        let output = self.redactor.redact_text(text).unwrap().text.into_owned();
        self.tally.count(kind, form, text, &output, hidden);
    }

    /// Line by line, as a source hands them over.
    fn lines(&mut self, kind: &str, form: &str, text: &str, hidden: &[String]) {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let output = self.redactor.redact_lines(&lines).unwrap().lines.join("\n");
        self.tally.count(kind, form, text, &output, hidden);
    }

    fn places(&mut self, kind: &str) {
        for (place, write) in PLACES {
            let planted = plant(kind, &mut self.draw);
            let Some(text) = write(&planted, &mut self.draw) else { continue };
            let hidden = in_json(&planted.secret);
            if self.draw.below(2) == 0 {
                self.text(kind, place, &text, &hidden);
            } else {
                self.lines(kind, place, &text, &hidden);
            }
        }
    }

    fn guises(&mut self, kind: &str) {
        for (guise, dress) in GUISES {
            for _ in 0..EACH {
                let planted = plant(kind, &mut self.draw);
                let dressed = Planted { text: dress(&planted.text, &mut self.draw), ..planted.clone() };
                let text = self.somewhere(&dressed);
                self.text(kind, guise, &text, &planted.secret);
            }
        }
    }

    fn wrappings(&mut self, kind: &str) {
        for (wrapping, wrap) in WRAPPINGS {
            for _ in 0..EACH {
                let written = wrap(&plant(kind, &mut self.draw), &mut self.draw);
                self.text(kind, wrapping, &written.text, &written.hidden);
            }
        }
    }

    fn splits(&mut self, kind: &str) {
        for (split, wrap) in SPLITS {
            for at in 0..EACH {
                let (planted, record, end) = self.cuttable(kind);
                let text = wrap(&record, end, &mut self.draw);
                if at % 2 == 0 {
                    self.lines(kind, split, &text, &planted.secret);
                } else {
                    self.text(kind, split, &text, &planted.secret);
                }
            }
        }
        let (text, hidden) = base64_lines(&plant(kind, &mut self.draw));
        self.lines(kind, "base64 over lines", &text, &hidden);
    }

    /// A key in armour over the lines it was made with.
    fn armour(&mut self, kind: &str) {
        if kind != "rsa_pem" && kind != "openssh_pem" {
            return;
        }
        for _ in 0..EACH * 4 {
            let planted = plant(kind, &mut self.draw);
            let text = format!("$ cat key\n{}\n$ ls", planted.text.replace("\\n", "\n"));
            self.lines(kind, "pem over lines", &text, &planted.secret);
            let text = text.replace('\n', "\n2026-11-30T02:14:07Z checkout | ");
            self.lines(kind, "pem over lines with prefix", &text, &planted.secret);
        }
    }

    /// As a row of a source that speaks JSON.
    fn values(&mut self, kind: &str) {
        let planted = plant(kind, &mut self.draw);
        let row = match planted.known {
            Known::InHeader => serde_json::json!({ "headers": { "Authorization": planted.text } }),
            _ => serde_json::json!({ "host": "web-2", planted.name.to_lowercase(): planted.text }),
        };
        let output = self.redactor.redact_json(&row).unwrap().0.to_string();
        let hidden = in_json(&planted.secret);
        self.tally.count(kind, "json value", &row.to_string(), &output, &hidden);
    }

    fn somewhere(&mut self, planted: &Planted) -> String {
        loop {
            let (_, write) = *self.draw.one(PLACES);
            if let Some(text) = write(planted, &mut self.draw) {
                return text;
            }
        }
    }

    fn cuttable(&mut self, kind: &str) -> (Planted, String, usize) {
        loop {
            let planted = plant(kind, &mut self.draw);
            let record = self.somewhere(&planted);
            if let Some(end) = cut(&record, &planted, &mut self.draw) {
                return (planted, record, end);
            }
        }
    }
}

/// The parts as they stand, and as they stand within JSON.
fn in_json(secret: &[String]) -> Vec<String> {
    let escaped = secret.iter().map(|part| part.replace('\\', "\\\\").replace('"', "\\\""));
    secret.iter().cloned().chain(escaped).collect()
}

#[test]
fn the_kinds_are_those_of_the_file() {
    let file: serde_json::Value = serde_json::from_str(include_str!("../data/secrets/kinds.json")).unwrap();
    let names: Vec<&str> =
        file["kinds"].as_array().unwrap().iter().map(|kind| kind["kind"].as_str().unwrap()).collect();
    assert_eq!(names, KINDS);
}

#[test]
fn secrets_of_a_second_generator_are_found() {
    let redactor = Redactor::new(RedactionKey::from_bytes([9; 32]), []).unwrap();
    let mut run = Run { redactor, draw: Draw::new(20_261_130), tally: Tally::default() };
    for kind in KINDS {
        run.places(kind);
        run.guises(kind);
        run.wrappings(kind);
        run.splits(kind);
        run.armour(kind);
        run.values(kind);
    }
    println!("{}", run.tally.table());
    assert!(run.tally.cases() >= 1_000, "{} cases", run.tally.cases());
    assert!(run.tally.recall() >= FLOOR, "recall fell to {:.4}", run.tally.recall());
}
