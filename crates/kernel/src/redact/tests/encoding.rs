//! The ways in which a secret is written that is not written plainly.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::domain::hex::hex;

/// A way to write a phrase, and what then must not survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Plain,
    Url,
    DoubleUrl,
    Json,
    Unicode,
    Base64,
    Hex,
}

impl Encoding {
    pub const ALL: [Self; 7] =
        [Self::Plain, Self::Url, Self::DoubleUrl, Self::Json, Self::Unicode, Self::Base64, Self::Hex];

    pub fn write(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Url => url(text),
            Self::DoubleUrl => url(&url(text)),
            Self::Json => serde_json::to_string(text).unwrap().trim_matches('"').to_owned(),
            Self::Unicode => text.chars().fold(String::new(), |all, character| {
                if "aeiou=:\\\"".contains(character) {
                    format!("{all}\\u{:04x}", u32::from(character))
                } else {
                    all + &character.to_string()
                }
            }),
            Self::Base64 => STANDARD.encode(text),
            Self::Hex => hex(text.as_bytes()),
        }
    }
}

fn url(text: &str) -> String {
    text.bytes().fold(String::new(), |all, byte| {
        let plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        if plain { all + &char::from(byte).to_string() } else { format!("{all}%{byte:02X}") }
    })
}
