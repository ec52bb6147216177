//! Placeholders in arguments.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::{FillError, Values, fill, fill_with, placeholders};

fn values() -> Values<'static> {
    let time = |text: &str| text.parse::<Timestamp>().unwrap();
    Values { service: None, since: time("2026-03-01T12:00:00Z"), until: time("2026-03-01T12:15:00Z") }
}

#[test]
fn placeholders_stand_for_wholes_and_parts() {
    let service = "api/v2".parse().unwrap();
    let args = json!({
        "service": "{service}",
        "since": "{since}",
        "query": "up{job=\"{service}\"}",
        "pattern": r"\d{3} {0,40} {",
        "limit": 5,
        "list": ["{until}"],
    });
    let filled = fill(args.as_object().unwrap(), Values { service: Some(&service), ..values() }).unwrap();
    insta::assert_json_snapshot!(filled, @r#"
    {
      "service": "api/v2",
      "since": "2026-03-01T12:00:00.000Z",
      "query": "up{job=\"api/v2\"}",
      "pattern": "\\d{3} {0,40} {",
      "limit": 5,
      "list": [
        "2026-03-01T12:15:00.000Z"
      ]
    }
    "#);
}

#[test]
fn what_stands_for_nothing_is_an_error() {
    let fill = |text: &str| fill(json!({"a": text}).as_object().unwrap(), values()).unwrap_err();
    assert_eq!(fill("{service}"), FillError::NoService);
    insta::assert_snapshot!(fill("x {namespace}"), @"`{namespace}` is no placeholder; there are `{service}`, `{since}` and `{until}`");
}

#[test]
fn a_remedys_placeholders_are_filled_once_and_what_they_stand_for_is_text() {
    let args = json!({ "path": "{change.path}", "old": "a {change.line_now} z", "re": "{.}{a.}{}" });
    let filled = fill_with(args.as_object().unwrap(), &|name| match name {
        "change.path" => Ok("etc:pool.toml".to_owned()),
        "change.line_now" => Ok("{service} {change.path}".to_owned()),
        other => Err(FillError::Unseen(other.to_owned())),
    });
    let expected = json!({ "path": "etc:pool.toml", "old": "a {service} {change.path} z", "re": "{.}{a.}{}" });
    assert_eq!(filled.as_ref(), Ok(expected.as_object().unwrap()));
    let args = json!({ "a": "{override.path}" });
    let unseen = fill_with(args.as_object().unwrap(), &|name| Err(FillError::Unseen(name.to_owned()))).unwrap_err();
    assert_eq!(unseen.to_string(), "nothing that was seen says what `{override.path}` stands for");
}

#[test]
fn the_window_before_ends_where_this_one_begins() {
    let before = values().previous();
    assert_eq!((before.since.to_string().as_str(), before.until), ("2026-03-01T11:45:00Z", values().since));
    let first = Values { since: Timestamp::MIN, ..values() }.previous();
    assert_eq!(first.since, Timestamp::MIN);
}

proptest! {
    #[test]
    fn text_without_placeholders_stays(text in "[{}a-z_ ]{0,40}") {
        let filled = fill(json!({"a": text}).as_object().unwrap(), values());
        if placeholders(&text).is_empty() {
            prop_assert_eq!(&filled.unwrap()["a"], &json!(text));
        }
    }
}
