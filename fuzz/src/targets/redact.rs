//! Redaction: a known secret never survives, wherever it stands; masking what is masked changes nothing; as text and as
//! lines alike.

use std::sync::LazyLock;

use warrant_kernel::domain::hex::hex;
use warrant_kernel::redact::{KnownSecret, RedactionKey, Redactor};

use crate::input::Input;

/// What must not survive.
const SECRET: &str = "vQ7-kk2_ZmR41xTt0pLb";

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
    let known = KnownSecret::new("shop_token", SECRET);
    Redactor::new(RedactionKey::from_bytes([5; 32]), [known]).unwrap()
});

/// Tries the laws.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (form, place) = (input.byte(), input.below(usize::from(u16::MAX)));
    let text = String::from_utf8_lossy(input.rest()).into_owned();
    let once = masked(&text);
    assert_eq!(masked(&once), once, "masking again changes what was masked");

    let at = text.floor_char_boundary(if text.is_empty() { 0 } else { place % (text.len() + 1) });
    let secret = written(form);
    let planted = format!("{}\n{secret}\n{}", &text[..at], &text[at..]);
    let out = masked(&planted);
    assert!(!out.contains(&secret) && !out.contains(SECRET), "it survives in {out:?}");

    // In the midst of other text it is found as it is.
    let planted = format!("{}{SECRET}{}", &text[..at], &text[at..]);
    assert!(!masked(&planted).contains(SECRET), "it survives in {planted:?}");
    let lines: Vec<String> = planted.split('\n').map(str::to_owned).collect();
    let lines = REDACTOR.redact_lines(&lines).unwrap().lines.join("\n");
    assert!(!lines.contains(SECRET), "it survives in lines: {lines:?}");
}

fn masked(text: &str) -> String {
    REDACTOR.redact_text(text).unwrap().text.into_owned()
}

/// The secret in one of the forms in which it goes about.
fn written(form: u8) -> String {
    match form % 3 {
        0 => SECRET.to_owned(),
        1 => {
            hex(SECRET.as_bytes()).as_bytes().chunks(2).flat_map(|pair| ["%", str::from_utf8(pair).unwrap()]).collect()
        }
        _ => hex(SECRET.as_bytes()),
    }
}
