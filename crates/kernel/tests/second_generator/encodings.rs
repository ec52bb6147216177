//! The forms that a record takes on its way: colours, invisible characters, escapes, encodings, lines that were wrapped.

use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::draw::{Draw, HEX};
use crate::kinds::{Known, Planted};
use crate::places::in_config;

/// What stands in a record, and what must not be seen of it, in the form it has there.
pub struct Written {
    pub text: String,
    pub hidden: Vec<String>,
}

/// One form of a value in place: it is written so before it is put where it stands.
pub type Guise = (&'static str, fn(&str, &mut Draw) -> String);

/// Forms of the value alone; the record around it is plain.
pub const GUISES: &[Guise] = &[("colours", coloured), ("zero width", zero_width), ("full width", full_width)];

fn coloured(text: &str, draw: &mut Draw) -> String {
    if draw.below(2) == 0 {
        return format!("\x1b[33m{text}\x1b[0m");
    }
    // As `grep --color` marks a hit in the middle of a value.
    let cut = text.floor_char_boundary(draw.between(text.len() / 3, text.len() * 2 / 3));
    let end = text.floor_char_boundary((cut + 5).min(text.len()));
    format!("{}\x1b[01;31m\x1b[K{}\x1b[m\x1b[K{}", &text[..cut], &text[cut..end], &text[end..])
}

fn zero_width(text: &str, draw: &mut Draw) -> String {
    let invisible = *draw.one(&['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}']);
    let every = draw.between(2, 7);
    let mut out = String::new();
    for (at, one) in text.chars().enumerate() {
        if at > 0 && at % every == 0 {
            out.push(invisible);
        }
        out.push(one);
    }
    out
}

fn full_width(text: &str, _: &mut Draw) -> String {
    text.chars()
        .map(|one| match one {
            '!'..='~' => char::from_u32(u32::from(one) + 0xfee0).unwrap(),
            other => other,
        })
        .collect()
}

/// One form of a whole field, name and value together or the value of a name that stands outside.
pub type Wrapping = (&'static str, fn(&Planted, &mut Draw) -> Written);

/// Forms of a whole field.
pub const WRAPPINGS: &[Wrapping] = &[
    ("url once", url_once),
    ("url twice", url_twice),
    ("json in json", json_once),
    ("json in json in json", json_twice),
    ("json \\u escapes", json_escapes),
    ("base64 field", base64_field),
    ("base64 url-safe field", base64_url_safe),
    ("base64 of json", base64_json),
    ("hex field", hex_field),
    ("k8s data", data_value),
    ("k8s last applied", last_applied),
];

/// Everything that is not unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

fn percent(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The field as one writes it: a header, or a name with its value.
fn field(planted: &Planted) -> String {
    match planted.known {
        Known::InHeader => format!("Authorization: {}", planted.text),
        _ => format!("{}={}", planted.name.to_lowercase(), planted.text),
    }
}

fn each(planted: &Planted, encode: impl Fn(&str) -> String) -> Vec<String> {
    planted.secret.iter().map(|part| encode(part)).collect()
}

fn url_once(planted: &Planted, draw: &mut Draw) -> Written {
    let inner = percent(&field(planted));
    let text = match draw.below(2) {
        0 => format!("GET /login?next=%2Fcallback%3F{inner} HTTP/1.1"),
        _ => format!("302 Found; location=https://shop.example/cb?state={inner}&page=2"),
    };
    Written { text, hidden: each(planted, percent) }
}

fn url_twice(planted: &Planted, _: &mut Draw) -> Written {
    let inner = percent(&percent(&field(planted)));
    let text = format!("GET /sso?return=https%3A%2F%2Fshop.example%2Fcb%3Fq%3D{inner} HTTP/1.1");
    Written { text, hidden: each(planted, |part| percent(&percent(part))) }
}

fn document(planted: &Planted, draw: &mut Draw) -> String {
    match planted.known {
        Known::InHeader => json!({ "headers": { "Authorization": planted.text }, "status": 401 }),
        _ => json!({ "user": "app", in_config(planted, draw): planted.text, "status": 401 }),
    }
    .to_string()
}

fn escaped(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn json_once(planted: &Planted, draw: &mut Draw) -> Written {
    let text = json!({ "level": "error", "msg": "request failed", "body": document(planted, draw) }).to_string();
    Written { text, hidden: each(planted, |part| escaped(&escaped(part))) }
}

fn json_twice(planted: &Planted, draw: &mut Draw) -> Written {
    let inner = json!({ "log": document(planted, draw), "stream": "stdout" }).to_string();
    let text = json!({ "message": inner, "kubernetes": { "pod": "checkout-6f7d9c5b8-x2x7p" } }).to_string();
    Written { text, hidden: each(planted, |part| escaped(&escaped(&escaped(part)))) }
}

/// Some characters as `\u0000`, in the name and in the value, as some serialisers write them.
fn json_escapes(planted: &Planted, draw: &mut Draw) -> Written {
    let every = draw.between(3, 6);
    let encode = |text: &str| -> String {
        let one = |(at, one): (usize, char)| match one {
            '"' | '\\' => escaped(&one.to_string()),
            other if at % every == every - 1 => format!("\\u{:04x}", u32::from(other)),
            other => other.to_string(),
        };
        text.chars().enumerate().map(one).collect()
    };
    let name = match planted.known {
        Known::InHeader => "Authorization".to_owned(),
        _ => in_config(planted, draw),
    };
    let text = format!(r#"{{"level":"debug","{}":"{}","n":1}}"#, encode(&name), encode(&planted.text));
    // The escapes fall elsewhere in a part than in the whole: what can be seen of it is found when they are undone.
    Written { text, hidden: planted.secret.clone() }
}

/// The base64 of a text, and of its parts what stands in it: the characters that depend on the part alone.
fn base64_with(engine: &impl base64::Engine, whole: &str, parts: &[String]) -> (String, Vec<String>) {
    let encoded = engine.encode(whole);
    let hidden = parts.iter().filter_map(|part| {
        let start = whole.find(part.as_str())?;
        let (first, last) = ((start * 8).div_ceil(6), (start + part.len()) * 8 / 6);
        Some(encoded[first..last].to_owned())
    });
    let hidden = hidden.collect();
    (encoded, hidden)
}

fn base64_field(planted: &Planted, draw: &mut Draw) -> Written {
    let (encoded, hidden) = base64_with(&STANDARD, &field(planted), &planted.secret);
    let text = match draw.below(2) {
        0 => format!("2026-11-30T02:14:07Z INFO consumer got payload={encoded} partition=3"),
        _ => format!(r#"{{"topic":"settings","value":"{encoded}","offset":8841}}"#),
    };
    Written { text, hidden }
}

fn base64_url_safe(planted: &Planted, _: &mut Draw) -> Written {
    let (encoded, hidden) = base64_with(&URL_SAFE_NO_PAD, &field(planted), &planted.secret);
    Written { text: format!("GET /resume?cursor={encoded}&limit=50 HTTP/1.1"), hidden }
}

fn base64_json(planted: &Planted, draw: &mut Draw) -> Written {
    let whole = document(planted, draw);
    let parts: Vec<String> = each(planted, escaped);
    let (encoded, hidden) = base64_with(&STANDARD, &whole, &parts);
    Written { text: format!("X-Session: {encoded}"), hidden }
}

fn hex(text: &str) -> String {
    let digits: Vec<char> = HEX.chars().collect();
    text.bytes().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

fn hex_field(planted: &Planted, draw: &mut Draw) -> Written {
    let encoded = hex(&field(planted));
    let text = match draw.below(2) {
        0 => format!("recv frame len={} data={encoded}", encoded.len() / 2),
        _ => format!("INSERT INTO outbox VALUES (7, '\\x{encoded}');"),
    };
    Written { text, hidden: each(planted, hex) }
}

fn data_name(planted: &Planted, draw: &mut Draw) -> String {
    match planted.known {
        Known::InHeader => "authorization".to_owned(),
        _ => in_config(planted, draw),
    }
}

fn data_value(planted: &Planted, draw: &mut Draw) -> Written {
    let (encoded, hidden) = base64_with(&STANDARD, &planted.text, &planted.secret);
    let name = data_name(planted, draw);
    let text = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: checkout\n  namespace: shop\ndata:\n  region: ZXUtd2VzdC0x\n  {name}: {encoded}\ntype: Opaque"
    );
    Written { text, hidden }
}

fn last_applied(planted: &Planted, draw: &mut Draw) -> Written {
    let (encoded, hidden) = base64_with(&STANDARD, &planted.text, &planted.secret);
    let name = data_name(planted, draw);
    let inner =
        json!({ "apiVersion": "v1", "data": { name: encoded }, "kind": "Secret", "metadata": { "name": "checkout" } });
    let text = format!(
        "metadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {inner}\n  name: checkout"
    );
    Written { text, hidden }
}
