//! Keys with their sections, in the formats that settings are kept in.

use super::*;

#[test]
fn a_key_is_what_stands_before_a_value() {
    for (line, key) in [
        ("max = 5", Some("max")),
        ("  max: 5", Some("max")),
        ("\"max\": 5,", Some("max")),
        ("- name: web", Some("name")),
        ("export LIMIT=5", Some("LIMIT")),
        ("a.b-c/d=5", Some("a.b-c/d")),
        ("key:", Some("key")),
        ("'quoted key' = 1", Some("quoted key")),
        ("# max = 5", None),
        ("http://host/", None),
        ("if a == b {", None),
        ("x => y", None),
        ("[section]", None),
        ("", None),
        ("\"text\"", None),
    ] {
        assert_eq!(key_of(line), key, "{line}");
    }
}

fn paths(content: &str, format: Format) -> String {
    (1..=content.lines().count())
        .map(|line| path_at(content, format, u64::try_from(line).unwrap()).unwrap_or_else(|| "-".to_owned()) + "\n")
        .collect()
}

#[test]
fn sections_name_the_key() {
    let content = "top = 1\n[pool]\nmax_connections = 5\n\n[[servers.list]]\nhost = \"x\" # [no]\n";
    insta::assert_snapshot!(paths(content, Format::Sections), @r#"
    top
    -
    pool.max_connections
    -
    -
    servers.list.host
    "#);
}

#[test]
fn indentation_names_the_key() {
    let content = "---\nspec:\n  # a comment: here\n  containers:\n  - name: web\n    resources:\n      limits:\n        memory: 1Gi\n    image: x\n  - name: side\nargs:\n- one\n- two\nother: 1\n";
    insta::assert_snapshot!(paths(content, Format::Yaml), @r#"
    -
    spec
    spec
    spec.containers
    spec.containers.name
    spec.containers.resources
    spec.containers.resources.limits
    spec.containers.resources.limits.memory
    spec.containers.image
    spec.containers.name
    args
    args
    args
    other
    "#);
}

#[test]
fn braces_name_the_key() {
    let content = "{\n  \"pool\": {\n    \"max:\\\"\": 5,\n    \"list\": [\n      1,\n      {\"a\": 2}\n    ]\n  },\n  \"t\": \"{[\",\n  \"u\": 1\n}\n";
    insta::assert_snapshot!(paths(content, Format::Json), @r#"
    -
    pool
    pool.max:"
    pool.list
    pool.list
    pool.list.a
    pool.list
    pool
    t
    u
    -
    "#);
}

#[test]
fn a_hunk_falls_apart_at_its_keys() {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let hunk = Hunk {
        file: "app.toml".to_owned(),
        change: crate::tools::sources::changes::patch::FileChange::Edited,
        old_line: 10,
        new_line: 20,
        before: lines(&["max = 50", "wait = 1", "gone = 1"]),
        after: lines(&["# lowered", "max = 5", "wait = 2"]),
        more: 0,
        cut: false,
        binary: false,
    };
    let parts: Vec<_> =
        split(hunk).into_iter().map(|part| (part.old_line, part.new_line, part.before, part.after)).collect();
    let expected = [
        (9, 20, lines(&[]), lines(&["# lowered"])),
        (10, 21, lines(&["max = 50"]), lines(&["max = 5"])),
        (11, 22, lines(&["wait = 1"]), lines(&["wait = 2"])),
        (12, 22, lines(&["gone = 1"]), lines(&[])),
    ];
    assert_eq!(parts, expected);
}
