//! Matchers as people write them.

use super::*;

fn read(text: &str) -> String {
    match parse(text) {
        Ok(found) => found.iter().map(written).collect::<Vec<_>>().join(" "),
        Err(why) => format!("error: {why}"),
    }
}

#[test]
fn lists_of_matchers_are_read() {
    insta::assert_snapshot!(read(r#"{severity="page", instance=~"web\d+.*",env!="dev" , job !~ "a|b",}"#), @r#"severity="page" instance=~"web\\d+.*" env!="dev" job!~"a|b""#);
    assert_eq!(read(r#"a="x\"y\\z""#), r#"a="x\"y\\z""#);
    assert_eq!((read(""), read("{}")), (String::new(), String::new()));
}

#[test]
fn ql_01_what_is_no_matcher_is_refused_with_what_would_do() {
    let refused: Vec<String> = [
        r#"="x""#,
        r#"1a="x""#,
        "a",
        "a=x",
        r#"a="x"#,
        r#"a="x" b="y""#,
        r#"a=~"(""#,
        r#"a="x"} or {b="y""#,
        "a=\"x\u{7}\"",
    ]
    .map(read)
    .into();
    insta::assert_snapshot!(refused.join("\n"), @r#"
    error: a matcher begins with the name of a label, as in `severity="page"`
    error: a matcher begins with the name of a label, as in `severity="page"`
    error: after `a` comes `=`, `!=`, `=~` or `!~`
    error: the value of `a` stands in double quotes
    error: the value of `a` stands in double quotes
    error: `b` where a `,` belongs
    error: the value of `a` is no regular expression
    error: `}` where a `,` belongs
    error: the value of `a` is longer than 300 characters or holds control characters
    "#);
    assert!(read(&r#"a="x","#.repeat(20)).starts_with("error: more than 16"));
}

#[test]
fn regular_expressions_match_the_whole_value() {
    let takes = |text: &str, value: &str| super::takes(&parse(text).unwrap()[0], value);
    assert!(takes(r#"a=~"web.*""#, "web1") && !takes(r#"a=~"web""#, "web1") && takes(r#"a!~"web""#, "web1"));
    assert!(takes(r#"a="""#, "") && takes(r#"a!="x""#, "") && !takes(r#"a="x""#, ""));
    assert!(!takes(r#"a=~"x|y""#, "xz"));
}
