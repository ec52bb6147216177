//! Laws of masking, held on planted secrets, decoys and attacks.

mod planted;

mod ordinary;

mod recall;

mod attacks;

mod guard;

mod seams;

mod own;

mod views;

mod laws;

use super::{KnownSecret, RedactionKey, Redactor};

fn redactor() -> Redactor {
    redactor_with(&[])
}

fn redactor_with(known: &[(&str, &str)]) -> Redactor {
    let known = known.iter().map(|(name, value)| KnownSecret::new(name, *value));
    Redactor::new(RedactionKey::from_bytes([7; 32]), known).unwrap()
}

fn masked(text: &str) -> String {
    redactor().redact_text(text).unwrap().text.into_owned()
}
