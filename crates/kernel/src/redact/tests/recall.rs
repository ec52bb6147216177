//! No planted secret survives; decoys and ordinary lines are not touched.

use super::ordinary::{benign, decoy, line};
use super::planted::{Dice, Encoding, KINDS, plant};
use super::redactor;

#[test]
fn rd_01_every_kind_in_every_encoding_is_masked() {
    let redactor = redactor();
    let mut dice = Dice::new(11);
    let (mut cases, mut missed) = (0, Vec::new());
    for round in 0..8 {
        for kind in KINDS {
            for encoding in Encoding::ALL {
                let planted = plant(kind, &mut dice);
                let text = line(&mut dice, &encoding.write(&planted.phrase));
                let out = redactor.redact_text(&text).unwrap();
                cases += 1;
                let survivors = survivors(&planted.secret, encoding);
                if out.count == 0 || survivors.iter().any(|survivor| out.text.contains(survivor)) {
                    missed.push(format!("{round} {kind} {encoding:?}\n  {text}\n  {}", out.text));
                }
            }
        }
    }
    assert!(cases >= 500);
    assert!(missed.is_empty(), "{} of {cases} missed:\n{}", missed.len(), missed.join("\n"));
}

/// The secret as written and plain, whole and its halves where they are long enough to matter.
fn survivors(secret: &str, encoding: Encoding) -> Vec<String> {
    let mut parts = vec![secret.to_owned()];
    if secret.len() >= 32 {
        let (head, tail) = secret.split_at(secret.len() / 2);
        parts.extend([head.to_owned(), tail.to_owned()]);
    }
    // In base64 the letters depend on where the secret stands; that the whole field went is seen by the count.
    if encoding != Encoding::Base64 {
        parts.extend(parts.clone().iter().map(|part| encoding.write(part)));
    }
    parts
}

#[test]
fn the_generator_knows_every_kind_of_the_list() {
    let list: serde_json::Value = serde_json::from_str(include_str!("../../../tests/data/secrets/kinds.json")).unwrap();
    let kinds: Vec<&str> =
        list["kinds"].as_array().unwrap().iter().map(|kind| kind["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, KINDS);
}

#[test]
fn rd_13_decoys_are_not_touched() {
    let redactor = redactor();
    let mut dice = Dice::new(5);
    let touched: Vec<String> = (0..1000)
        .map(|_| decoy(&mut dice))
        .filter_map(|text| {
            let out = redactor.redact_text(&text).unwrap();
            (out.count > 0).then(|| format!("{text}\n  {}", out.text))
        })
        .collect();
    assert!(touched.is_empty(), "{} touched:\n{}", touched.len(), touched.join("\n"));
}

#[test]
fn rd_13_ordinary_lines_are_not_touched() {
    let redactor = redactor();
    let mut dice = Dice::new(6);
    let lines: Vec<String> = (0..5000).map(|_| benign(&mut dice)).collect();
    let out = redactor.redact_lines(&lines).unwrap();
    let touched: Vec<_> = lines.iter().zip(&out.lines).filter(|(before, after)| before != after).collect();
    assert!(touched.is_empty(), "{} touched: {touched:#?}", touched.len());
}
