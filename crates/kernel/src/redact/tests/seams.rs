//! A secret that a line break divides is masked in both lines; lines that are no parts of one stay as they are.

use super::planted::{Dice, Encoding, KINDS, Planted, plant};
use super::redactor;

/// Pieces of the secret that are long enough to matter.
fn fragments(planted: &Planted, encoding: Encoding) -> Vec<String> {
    let letters: Vec<char> = planted.secret.chars().collect();
    let eight = letters.windows(8.min(letters.len())).map(|part| part.iter().collect::<String>());
    // In base64 the letters depend on where the secret stands.
    if encoding == Encoding::Base64 { Vec::new() } else { eight.map(|part| encoding.write(&part)).collect() }
}

/// What stands before a line, and behind it.
const FRAMES: [(&str, &str); 4] = [
    ("", ""),
    ("2026-05-04T10:11:12.345678901Z stdout P ", ""),
    ("May  4 10:11:12 node-7 app[812]: ", ""),
    ("{\"log\":\"", "\",\"stream\":\"stdout\",\"time\":\"2026-05-04T10:11:12.345678901Z\"}"),
];

fn divided(phrase: &str, at: usize, (before, behind): (&str, &str)) -> String {
    let (head, tail) = phrase.split_at(at);
    format!(
        "{before}start{behind}\n{before}sent {head}{behind}\n{before}{tail} to host{behind}\n{before}end of it{behind}"
    )
}

#[test]
fn rd_07_every_kind_in_every_encoding_is_found_over_a_line_break() {
    let redactor = redactor();
    let mut dice = Dice::new(707);
    let (mut cases, mut leaks) = (0, Vec::new());
    for kind in KINDS {
        for encoding in Encoding::ALL {
            for frame in FRAMES {
                let planted = plant(kind, &mut dice);
                let phrase = encoding.write(&planted.phrase);
                let at = phrase.floor_char_boundary(1 + dice.below(phrase.len() - 1));
                let text = divided(&phrase, at, frame);
                let out = redactor.redact_text(&text).unwrap();
                cases += 1;
                if out.count == 0 || fragments(&planted, encoding).iter().any(|part| out.text.contains(part)) {
                    leaks.push(format!("{kind} {encoding:?}\n  {text}\n  {}", out.text));
                }
                assert!(
                    out.text.contains("start") && out.text.ends_with(&format!("end of it{}", frame.1)),
                    "{}",
                    out.text
                );
            }
        }
    }
    assert!(cases >= 1_000);
    assert!(leaks.is_empty(), "{} of {cases}:\n{}", leaks.len(), leaks.join("\n"));
}
