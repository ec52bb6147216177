//! What a model may write, and what it is told when it writes something else.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::call::definition::{Definition, DefinitionFile, Definitions, LoadContext, Standing};
use crate::call::tool::Services;
use crate::domain::name::ServiceName;

use super::{CheckedArguments, check, flight_key};

const TOOL: &str = r#"name = "look"
version = 1
description = "Looks."
risk = "read"
roles = ["explore"]
parallel_safe = true
timeout = "1s"
output = { max_chars = 1000, keep = "full" }
target = { kind = "catalog" }
run = "builtin"
args.service = { type = "service", required = true, description = "The service." }
args.since = { type = "time", default = "1h ago", description = "From when." }
args.window = { type = "duration", min = 60, max = 86400, description = "How long." }
args.path = { type = "path", description = "A path." }
args.label = { type = "label", description = "A label." }
args.pattern = { type = "regex", description = "What to find." }
args.limit = { type = "int", min = 1, max = 1000, default = 200, description = "Most rows." }
args.sharp = { type = "bool", description = "Case matters." }
args.level = { type = "enum", values = ["error", "warn"], description = "Level." }
args.note = { type = "text", max = 20, description = "A note." }
args.query = { type = "query", description = "A query." }
args.evidence = { type = "evidence", description = "Evidence." }
"#;

struct Known;

impl Services for Known {
    fn names(&self) -> Vec<ServiceName> {
        ["checkout", "gateway", "payments"].map(|name| name.parse().unwrap()).into()
    }
}

fn definitions() -> Definitions {
    let roles = ["explore".parse().unwrap()].into();
    let context = LoadContext { http_sources: &std::collections::BTreeSet::new(), roles: &roles };
    Definitions::load([DefinitionFile { name: "t", text: TOOL, standing: Standing::BuiltIn }], &context).unwrap()
}

fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn checked(definition: &Definition, raw: &str) -> Result<CheckedArguments, String> {
    check(definition, raw, now(), &Known).map_err(|problems| {
        problems
            .iter()
            .map(|problem| format!("{}: {}", problem.pointer, problem.message))
            .collect::<Vec<_>>()
            .join("\n")
    })
}

fn told(raw: &str) -> String {
    checked(definitions().get("look").unwrap(), raw).unwrap_err()
}

fn told_of(field: &str, value: &serde_json::Value) -> String {
    let mut args = json!({"service": "checkout"});
    args[field] = value.clone();
    told(&args.to_string())
}

#[test]
fn what_fits_gets_defaults_and_absolute_times() {
    let definitions = definitions();
    let raw = r#"{"service": "checkout", "limit": 5.0, "window": "2h", "path": "config/pool.toml", "pattern": "a\nb"}"#;
    let made = checked(definitions.get("look").unwrap(), raw).unwrap();
    insta::assert_snapshot!(serde_json::to_string(made.arguments.as_map()).unwrap(), @r#"{"limit":5,"path":"config/pool.toml","pattern":"a\nb","service":"checkout","since":"2026-03-01T11:00:00.000Z","window":"2h"}"#);
    insta::assert_snapshot!(flight_key(&"look".parse().unwrap(), &made.given), @r#"look{"limit":5,"path":"config/pool.toml","pattern":"a\nb","service":"checkout","since":"1h ago","window":"2h"}"#);
}

#[test]
fn the_same_call_has_the_same_key_whatever_the_order_and_the_moment() {
    let definitions = definitions();
    let look = definitions.get("look").unwrap();
    let key = |raw: &str, now: &str| {
        let made = check(look, raw, now.parse().unwrap(), &Known).unwrap();
        flight_key(&look.tool().name, &made.given)
    };
    let one = key(r#"{"service": "checkout", "limit": 5}"#, "2026-03-01T12:00:00Z");
    let two = key(r#"{"limit": 5.0, "since": "1h ago", "service": "checkout"}"#, "2026-03-01T12:00:03Z");
    assert_eq!(one, two);
    assert_ne!(one, key(r#"{"service": "checkout", "limit": 6}"#, "2026-03-01T12:00:00Z"));
}

#[test]
fn ap_27_arguments_that_are_no_object_are_refused() {
    let all = [told("[\"payments\"]"), told("\"payments\""), told("7"), told("null"), told("true")];
    insta::assert_snapshot!(all.join("\n"), @r#"
    : the arguments are an array; send a JSON object such as `{"service": "checkout"}`
    : the arguments are a text; send a JSON object such as `{"service": "checkout"}`
    : the arguments are a number; send a JSON object such as `{"service": "checkout"}`
    : the arguments are null; send a JSON object such as `{"service": "checkout"}`
    : the arguments are a truth value; send a JSON object such as `{"service": "checkout"}`
    "#);
}

#[test]
fn lm_05_malformed_json_is_quoted_where_it_broke() {
    let all = [
        told(""),
        told(" \n"),
        told(r#"{"service": "checkout" "limit": 5}"#),
        told(r#"{"service": "checkout", "pattern": "time"#),
        told(r#"{"service": "checkout",}"#),
        told("{\"service\": \"check\nout\"}"),
        told("{\"note\": \"\u{202e}\u{1b}[31m\"}"),
        told(r#"{"limit": NaN}"#),
        told(r#"{"limit": 1e999}"#),
        told("{'service': 'checkout'}"),
        told(r#"{"service": "checkout"} {"service": "checkout"}"#),
        told("{\n  \"service\": \"checkout\",\n  \"limit\": 5,\n  \"pattern\": time.*out,\n  \"level\": \"error\"\n}"),
        told(&format!("{{\"note\": \"{}é\" oops", "é".repeat(100))),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    : the arguments are empty; send a JSON object, `{}` where the tool needs none
    : the arguments are empty; send a JSON object, `{}` where the tool needs none
    : the arguments are not JSON: expected `,` or `}`, line 1 column 24, between `{"service": "checkout" ` and `"limit": 5}`; send one complete JSON object
    : the arguments are not JSON: EOF while parsing a string, line 1 column 40, after `{"service": "checkout", "pattern": "time`, where the text ends; send one complete JSON object
    : the arguments are not JSON: trailing comma, line 1 column 24, between `{"service": "checkout",` and `}`; send one complete JSON object
    : the arguments are not JSON: control character (\u0000-\u001F) found while parsing a string, line 2 column 0, between `{"service": "check\n` and `out"}`; send one complete JSON object
    : the arguments are not JSON: control character (\u0000-\u001F) found while parsing a string, line 1 column 14, between `{"note": "\u{202e}` and `\u{1b}[31m"}`; send one complete JSON object
    : the arguments are not JSON: expected value, line 1 column 11, between `{"limit": ` and `NaN}`; send one complete JSON object
    : the arguments are not JSON: number out of range, line 1 column 15, between `{"limit": 1e99` and `9}`; send one complete JSON object
    : the arguments are not JSON: key must be a string, line 1 column 2, between `{` and `'service': 'checkout'}`; send one complete JSON object
    : the arguments are not JSON: trailing characters, line 1 column 25, between `{"service": "checkout"} ` and `{"service": "checkout"}`; send one complete JSON object
    : the arguments are not JSON: expected ident, line 4 column 15, between `"checkout",\n  "limit": 5,\n  "pattern": t` and `ime.*out,\n  "level": "error"\n}`; send one complete JSON object
    : the arguments are not JSON: expected `,` or `}`, line 1 column 215, between `éééééééééééééééééééééééééééééééééééééé" ` and `oops`; send one complete JSON object
    "#);
}

#[test]
fn rs_04_duplicates_depth_and_size_are_bounded() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(40), "]".repeat(40));
    let abyss = "[".repeat(100_000);
    let wide: Vec<String> = (0..5_000).map(|n| format!("\"k{n}\": 1")).collect();
    let all = [
        told(r#"{"service": "checkout", "service": "payments"}"#),
        told(r#"{"service": {"a": 1, "a": 2}}"#),
        told(&deep),
        told(&abyss),
        told(&format!("{{\"note\": \"{}\"}}", "x".repeat(256 * 1024))),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    : the arguments are not JSON: the field `service` stands twice, line 1 column 33, between `{"service": "checkout", "service` and `": "payments"}`; send one complete JSON object
    : the arguments are not JSON: the field `a` stands twice, line 1 column 24, between `{"service": {"a": 1, "a` and `": 2}}`; send one complete JSON object
    : the arguments are not JSON: nested deeper than 32 levels, line 1 column 38, between `{"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[` and `[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`; send one complete JSON object
    : the arguments are not JSON: nested deeper than 32 levels, line 1 column 33, between `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[` and `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[`; send one complete JSON object
    : the arguments have 262156 bytes; at most 262144
    "#);
    assert_eq!(told(&format!("{{{}}}", wide.join(","))).lines().count(), 24);
}

#[test]
fn pi_08_every_misfit_is_told_at_once_with_its_pointer() {
    let raw = r#"{"servce": "checkout", "limit": "5", "sharp": "true", "level": "eror", "note": null,
        "window": 60, "path": ["a"], "pattern": {"re": 1}, "colour": "red"}"#;
    insta::assert_snapshot!(told(raw), @r#"
    /colour: unknown field; `look` takes `evidence`, `label`, `level`, `limit`, `note`, `path`, `pattern`, `query`, `service`, `sharp`, `since` and `window`
    /level: `eror` is none of `error` and `warn`; did you mean `error`?
    /limit: must be a whole number, and is a text: `5`; write it without quotes
    /note: must be a text, not null; leave the field out where there is no value
    /path: must be a text (a path), and is an array: `["a"]`
    /pattern: must be a text (a regular expression), and is an object: `{"re":1}`
    /servce: unknown field; did you mean `service`?
    /service: is missing: The service.
    /sharp: must be true or false, and is a text: `true`; write it without quotes
    /window: must be a text (a duration such as `15m`), and is a number: `60`; say of what, as in `90s` or `15m`
    "#);
    insta::assert_snapshot!(told(r#"{"service": "checkout", "limit": 0, "note": "more than twenty characters"}"#), @r"
    /limit: `0` is below the least, 1
    /note: has 27 characters; at most 20
    ");
}

#[test]
fn pi_08_huge_numbers_are_no_counts() {
    let all = [
        told_of("limit", &json!(18_446_744_073_709_551_615_u64)),
        told_of("limit", &json!(1e300)),
        told_of("limit", &json!(5.5)),
        told_of("limit", &json!(-3)),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    /limit: `18446744073709551615` is above the most, 1000
    /limit: `1e+300` is above the most, 1000
    /limit: must be a whole number, and is a number: `5.5`
    /limit: `-3` is below the least, 1
    ");
}

#[test]
fn a_service_that_is_not_there_brings_the_closest_names() {
    let all = ["chekout", "payment", "zebra", "CHECKOUT", "../checkout", "check\u{200b}out", "сheckout"]
        .map(|name| told(&json!({"service": name}).to_string()));
    insta::assert_snapshot!(all.join("\n"), @r"
    /service: there is no service `chekout`; did you mean `checkout`?
    /service: there is no service `payment`; did you mean `payments`?
    /service: there is no service `zebra`; the services are `checkout`, `gateway` and `payments`
    /service: there is no service `CHECKOUT`; did you mean `checkout`?
    /service: `../checkout` is not a service name: letters, digits and `_-./:`, at most 128, beginning with a letter or digit
    /service: holds the character U+200B, which may not stand here
    /service: `сheckout` is not a service name: letters, digits and `_-./:`, at most 128, beginning with a letter or digit
    ");
}

#[test]
fn times_and_durations_make_sense() {
    let all = [
        told_of("since", &json!("yesterday")),
        told_of("since", &json!("2027-01-01T00:00:00Z")),
        told_of("since", &json!("9".repeat(100))),
        told_of("window", &json!("5")),
        told_of("window", &json!("5s")),
        told_of("window", &json!("2d")),
        told_of("window", &json!("-5m")),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    /since: `yesterday` is not a time; write RFC 3339 as in `2026-01-31T04:05:00Z`, or `15m ago`, or `now`
    /since: `2027-01-01T00:00:00Z` lies in the future; it is 2026-03-01T12:00:00.000Z now
    /since: has 100 characters; at most 64
    /window: `5` is not a duration; write `90s`, `15m`, `1h30m` or `2d`
    /window: `5s` is shorter than the least, 1m
    /window: `2d` is longer than the most, 1d
    /window: `-5m` is not a duration; write `90s`, `15m`, `1h30m` or `2d`
    ");
}

#[test]
fn fs_paths_stay_below_and_show_what_they_are() {
    let all = [
        "/etc/passwd",
        "a/../../b",
        "..",
        "a\\b",
        "",
        "a\u{0}b",
        "a\nb",
        "conf\u{202e}gpj.exe",
        "a\u{2215}b",
        "a\u{feff}",
    ]
    .map(|path| told_of("path", &json!(path)));
    insta::assert_snapshot!(all.join("\n"), @r#"
    /path: is absolute; write it relative to the workspace root
    /path: holds `..`; write it from the root on, without going up
    /path: holds `..`; write it from the root on, without going up
    /path: holds `\`; parts of a path are separated by `/`
    /path: is empty; write `.` for the root
    /path: holds the character U+0000, which may not stand here
    /path: holds the character U+000A, which may not stand here
    /path: holds the character U+202E, which may not stand here
    /path: holds the character U+2215, which may not stand here
    /path: holds the character U+FEFF, which may not stand here
    "#);
    let definitions = definitions();
    for fine in [".", "a", "a/b.c", "..a/b..", "größe/日本.toml", "a b"] {
        let raw = json!({"service": "checkout", "path": fine}).to_string();
        assert!(checked(definitions.get("look").unwrap(), &raw).is_ok(), "{fine}");
    }
}

#[test]
fn expressions_labels_and_evidence_are_checked() {
    let all = [
        told_of("pattern", &json!("(")),
        told_of("pattern", &json!("a(?=b)")),
        told_of("pattern", &json!("(a{1000}){10}{10}")),
        told_of("pattern", &json!("(".repeat(100) + &")".repeat(100))),
        told_of("pattern", &json!("x".repeat(1_001))),
        told_of("label", &json!("le\"} or up{a=\"")),
        told_of("label", &json!("1a")),
        told_of("evidence", &json!("7")),
        told_of("evidence", &json!("E99999999999999999999")),
        told_of("query", &json!(" ")),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    /pattern: is no regular expression: unclosed group (Rust `regex` syntax: no look-around, no back-references)
    /pattern: is no regular expression: look-around, including look-ahead and look-behind, is not supported (Rust `regex` syntax: no look-around, no back-references)
    /pattern: the expression is too large once compiled; use smaller repetitions
    /pattern: is no regular expression: exceed the maximum number of nested parentheses/brackets (64) (Rust `regex` syntax: no look-around, no back-references)
    /pattern: has 1001 characters; at most 1000
    /label: `le"} or up{a="` is no metric or label name: letters, digits, `_` and `:`, not beginning with a digit
    /label: `1a` is no metric or label name: letters, digits, `_` and `:`, not beginning with a digit
    /evidence: `7` is not a evidence id: `E` and a number, as in `E7`
    /evidence: `E99999999999999999999` is not a evidence id: `E` and a number, as in `E7`
    /query: is empty
    "#);
}

proptest! {
    #[test]
    fn no_text_panics_and_none_that_is_not_an_object_passes(raw in "\\PC{0,120}", bytes in any::<Vec<u8>>()) {
        let definitions = definitions();
        let look = definitions.get("look").unwrap();
        for raw in [raw.as_str(), &String::from_utf8_lossy(&bytes)] {
            let made = check(look, raw, now(), &Known);
            prop_assert!(made.is_err() || serde_json::from_str::<serde_json::Map<_, _>>(raw).is_ok());
        }
    }

    #[test]
    fn what_was_cut_is_quoted_and_never_empty(cut in 0usize..90) {
        let raw = r#"{"service": "checkout", "pattern": "ti\u006de", "limit": 5, "note": "größe", "level": "warn"}"#;
        let definitions = definitions();
        let head: String = raw.chars().take(cut).collect();
        let problems = check(definitions.get("look").unwrap(), &head, now(), &Known).unwrap_err();
        prop_assert!(problems.len() == 1 && problems[0].pointer.is_empty());
        let last: String = head.chars().skip(cut.saturating_sub(8)).collect();
        prop_assert!(problems[0].message.contains(&last), "{}", problems[0].message);
    }

    #[test]
    fn a_message_is_short_and_shows_no_control_character(note in any::<String>(), field in any::<String>()) {
        let raw = json!({"service": note, field: note, "level": note, "path": note}).to_string();
        let definitions = definitions();
        if let Err(problems) = check(definitions.get("look").unwrap(), &raw, now(), &Known) {
            for problem in problems {
                let text = format!("{}{}", problem.pointer, problem.message);
                prop_assert!(text.chars().count() < 700, "{text}");
                prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            }
        }
    }

    #[test]
    fn what_passes_fits_again(limit in 1i64..=1000, minutes in 0i64..10_000, path in "[a-z./]{1,12}") {
        let definitions = definitions();
        let look = definitions.get("look").unwrap();
        let raw = json!({"service": "gateway", "limit": limit, "since": format!("{minutes}m ago"), "path": path});
        if let Ok(made) = check(look, &raw.to_string(), now(), &Known) {
            let again = check(look, &serde_json::to_string(made.arguments.as_map()).unwrap(), now(), &Known).unwrap();
            prop_assert_eq!(again.arguments, made.arguments);
            prop_assert!(!path.split('/').any(|part| part == ".."));
        }
    }
}
