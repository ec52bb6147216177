//! The text of a document and the lines of its keys, in each format and layout.

use insta::assert_snapshot;
use serde_json::Value;

use super::{Document, Entry, Format, Layout, Section};

fn document(format: Format, layout: Layout) -> Document {
    let entry = |key: &str, value: Value, remark: Option<&str>| Entry {
        key: key.to_owned(),
        value,
        remark: remark.map(str::to_owned),
    };
    Document {
        format,
        layout,
        heading: vec!["Settings of checkout".to_owned()],
        sections: vec![
            Section { name: String::new(), remark: None, entries: vec![entry("region", "eu-west".into(), None)] },
            Section {
                name: "pool".to_owned(),
                remark: Some("Connections to the store".to_owned()),
                entries: vec![
                    entry("max", 20.into(), Some("per process")),
                    entry("acquire_timeout_ms", 800.into(), None),
                ],
            },
        ],
    }
}

#[test]
fn toml_nested() {
    assert_snapshot!(document(Format::Toml, Layout::Nested).text(), @r#"
    # Settings of checkout

    region = "eu-west"

    # Connections to the store
    [pool]
    # per process
    max = 20
    acquire_timeout_ms = 800
    "#);
}

#[test]
fn yaml_nested() {
    assert_snapshot!(document(Format::Yaml, Layout::Nested).text(), @r#"
    # Settings of checkout

    region: "eu-west"

    # Connections to the store
    pool:
      # per process
      max: 20
      acquire_timeout_ms: 800
    "#);
}

#[test]
fn yaml_flat() {
    assert_snapshot!(document(Format::Yaml, Layout::Flat).text(), @r#"
    # Settings of checkout

    region: "eu-west"

    # Connections to the store
    # per process
    pool.max: 20
    pool.acquire_timeout_ms: 800
    "#);
}

#[test]
fn json_nested() {
    assert_snapshot!(document(Format::Json, Layout::Nested).text(), @r#"
    {
      "region": "eu-west",
      "pool": {
        "max": 20,
        "acquire_timeout_ms": 800
      }
    }
    "#);
}

#[test]
fn json_flat() {
    assert_snapshot!(document(Format::Json, Layout::Flat).text(), @r#"
    {
      "region": "eu-west",
      "pool.max": 20,
      "pool.acquire_timeout_ms": 800
    }
    "#);
}

#[test]
fn a_change_touches_the_stated_line_only() {
    for format in [Format::Toml, Format::Yaml, Format::Json] {
        for layout in [Layout::Nested, Layout::Flat] {
            let before = document(format, layout);
            let after = before.with("pool.max", &2.into());
            let line = after.line_of("pool.max").unwrap();
            let (old, new) = (before.text(), after.text());
            let changed: Vec<usize> =
                old.lines().zip(new.lines()).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at + 1).collect();
            assert_eq!(changed, [line], "{format:?} {layout:?}");
            let text = new.lines().nth(line - 1).unwrap();
            let key = after.written_key("pool.max").unwrap();
            assert!(text.contains(&key) && text.contains('2'), "{text}");
            assert_eq!(after.value("pool.max"), Some(&2.into()));
        }
    }
}

#[test]
fn a_path_that_is_not_there_has_no_line() {
    let document = document(Format::Toml, Layout::Nested);
    assert_eq!(document.line_of("pool.min"), None);
    assert_eq!(document.with("pool.min", &1.into()).text(), document.text());
}
