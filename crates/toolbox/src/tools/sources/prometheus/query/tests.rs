//! Queries of every day pass as they are, those that would hurt a server do not.

use std::time::Duration;

use insta::assert_snapshot;
use jiff::Timestamp;
use proptest::prelude::*;

use super::{Fitted, MAX_LENGTH, Query, Unfit};
use crate::tools::sources::prometheus::Window;

fn window(hours: i64) -> Window {
    let until = "2026-03-01T12:00:00Z".parse::<Timestamp>().unwrap();
    Window::new(until.checked_sub(jiff::SignedDuration::from_hours(hours)).unwrap(), until)
}

fn fitted(text: &str, hours: i64) -> Result<Fitted, Unfit> {
    Query::read(text)?.over(window(hours))
}

fn refused(text: &str) -> String {
    match fitted(text, 1) {
        Err(unfit) => format!("{text}\n  {unfit}"),
        Ok(fitted) => format!("{text}\n  PASSED {fitted:?}"),
    }
}

fn all_refused(texts: &[&str]) -> String {
    texts.iter().map(|text| refused(text)).collect::<Vec<_>>().join("\n")
}

#[test]
fn queries_of_every_day_pass_and_mean_the_same() {
    let texts = include_str!("../../../../../tests/data/promql/everyday.txt");
    let mut passed = 0;
    for text in texts.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let query = Query::read(text).unwrap_or_else(|unfit| panic!("{text}: {unfit}"));
        assert_eq!(query.over(window(1)).map(Fitted::window), Ok(window(1)), "{text}");
        // Written anew, it reads as itself.
        assert_eq!(Query::read(query.text()).unwrap().text(), query.text());
        passed += 1;
    }
    assert!(passed > 100, "{passed}");
}

#[test]
fn queries_of_the_shipped_runbooks_pass() {
    let runbooks = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../runbooks")).unwrap();
    let mut passed = 0;
    for runbook in runbooks {
        let text = std::fs::read_to_string(runbook.unwrap().path()).unwrap();
        for query in text.lines().filter_map(|line| line.split_once(", query = '")?.1.split_once('\'')).map(|it| it.0) {
            let query = query.replace("{service}", "shop");
            assert!(fitted(&query, 1).is_ok(), "{query}: {:?}", fitted(&query, 1));
            passed += 1;
        }
    }
    assert!(passed > 8, "{passed}");
}

#[test]
fn ql_01_what_is_sent_is_written_from_what_was_judged() {
    let sent = |text: &str| Query::read(text).unwrap().text().to_owned();
    assert_snapshot!(
        [
            r#"sum  by(code)(rate(http_requests_total{job='a"b',path=~`/api/\d+`}[5m]))/2 # a comment"#,
            r#"a{b="\u0007\\"} > bool on () group_left (x) {__name__="c"} offset -5m @ 1772366400.5"#,
            "max_over_time(rate(a[1m] offset 1d)[1h:]@end())",
            "topk by(x) ((3), -a ^ 2) unless ignoring(y) +b",
            "count_values without () (\"v\", a{b!=\"\",c!~\"d|e\"})",
        ]
        .map(sent)
        .join("\n"),
        @r#"
    sum by (code) (rate(http_requests_total{job="a\"b",path=~"/api/\\d+"}[5m])) / 2
    a{b="\u0007\\"} > bool on () group_left (x) {__name__="c"} @ 1772366400.500 offset -5m
    max_over_time(rate(a[1m] offset 1d)[1h:] @ end())
    topk by (x) ((3), -a ^ 2) unless ignoring (y) b
    count_values without () ("v", a{b!="",c!~"d|e"})
    "#
    );
}

#[test]
fn ql_03_what_selects_everything_is_refused() {
    assert_snapshot!(all_refused(&[
        r#"{__name__=~".+"}"#,
        r#"count({__name__!=""})"#,
        r#"{job=~".*",instance!="x"}"#,
        r#"{job=""}"#,
        r#"sum(rate({job!~"a|b"}[5m])) by (job)"#,
        r#"up and on() {a=~"b+"}"#,
        r#"absent({__name__=~"node_.+"})"#,
        r#"max_over_time({a!="b"}[1h:5m])"#,
        r#"{a="b" or c!="d"}"#,
        "{}",
        r#"{"":"x"}"#,
    ]), @r#"
    {__name__=~".+"}
      the selector `{__name__=~".+"}` could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    count({__name__!=""})
      the selector `{__name__!=""}` could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    {job=~".*",instance!="x"}
      a selector could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    {job=""}
      a selector could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    sum(rate({job!~"a|b"}[5m])) by (job)
      a selector could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    up and on() {a=~"b+"}
      the selector `{a=~"b+"}` could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    absent({__name__=~"node_.+"})
      the selector `{__name__=~"node_.+"}` could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    max_over_time({a!="b"}[1h:5m])
      a selector could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    {a="b" or c!="d"}
      the selector `{a="b" or c!="d"}` could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    {}
      a selector could match every series; give it a metric name or an equality (`job="..."`) that is not empty
    {"":"x"}
      not PromQL that can be read: unexpected character inside braces: ':'
    "#);
    for fine in ["up", "{__name__=\"up\"}", "{job=\"a\",x=~\".*\"}", "up{x!=\"\"}", "{a=\"b\" or c=\"d\"}"] {
        assert!(fitted(fine, 1).is_ok(), "{fine}");
    }
}

#[test]
fn ql_03_ranges_and_subqueries_are_bounded() {
    assert_snapshot!(all_refused(&[
        "rate(a[32d])",
        "max_over_time(a[30d:1s])",
        "max_over_time(a[7d:])",
        "max_over_time(max_over_time(a[1d:1m])[1d:1m])",
        "max_over_time(max_over_time(max_over_time(a[1h:1m])[1h:1m])[1h:1m])",
        "max_over_time(rate(a[6h])[7d:1m])",
        "a offset 2y",
        "a offset -400d",
        "a @ 0",
        "a @ -5",
        "a @ 9999999999",
        "rate(a[5m] @ 1e300)",
        "topk(1e9, a)",
        "bottomk(1001, a)",
        "topk(0, a)",
        "topk(scalar(b), a)",
        "topk(NaN, a)",
    ]), @r"
    rate(a[32d])
      the range `[32d]` is longer than 31 days; a shorter one will do, or `offset` to look further back
    max_over_time(a[30d:1s])
      the subquery `[30d:1s]` is evaluated at more than 11000 points; `[30d:5m]` would do
    max_over_time(a[7d:])
      the subquery `[1w:]` is evaluated at more than 11000 points; `[1w:1m]` would do
    max_over_time(max_over_time(a[1d:1m])[1d:1m])
      the subquery `[1d:1m]` is evaluated at more than 11000 points; `[1d:4h]` would do
    max_over_time(max_over_time(max_over_time(a[1h:1m])[1h:1m])[1h:1m])
      the subquery `[1h:1m]` is evaluated at more than 11000 points; `[1h:30m]` would do
    max_over_time(rate(a[6h])[7d:1m])
      the query would read more than 2000000 samples of each series even at two points; shorten its ranges, or make the steps of its subqueries coarser
    a offset 2y
      `offset 2y` leads more than a year away from the window; set `since` and `until` instead
    a offset -400d
      `offset -400d` leads more than a year away from the window; set `since` and `until` instead
    a @ 0
      `@ 0.000` leads more than a year away from the window; set `since` and `until` instead
    a @ -5
      the query holds something that can't be checked; write it with plain selectors, functions and operators
    a @ 9999999999
      `@ 9999999999.000` leads more than a year away from the window; set `since` and `until` instead
    rate(a[5m] @ 1e300)
      `@ 18446744073709552.000` leads more than a year away from the window; set `since` and `until` instead
    topk(1e9, a)
      `topk` takes a plain number from 1 to 1000 first; `topk(10, ...)` shows most
    bottomk(1001, a)
      `bottomk` takes a plain number from 1 to 1000 first; `bottomk(10, ...)` shows most
    topk(0, a)
      `topk` takes a plain number from 1 to 1000 first; `topk(10, ...)` shows most
    topk(scalar(b), a)
      `topk` takes a plain number from 1 to 1000 first; `topk(10, ...)` shows most
    topk(NaN, a)
      `topk` takes a plain number from 1 to 1000 first; `topk(10, ...)` shows most
    ");
}

#[test]
fn ql_03_a_step_that_is_too_small_for_the_ranges_is_raised() {
    let step = |text: &str, hours: i64| fitted(text, hours).unwrap().window().step;
    assert_eq!((step("rate(a[5m])", 1), step("rate(a[5m])", 24 * 7)), (30, 3600));
    let Ok(Fitted::Raised(raised)) = fitted("rate(a[7d])", 1) else { panic!("not raised") };
    assert_eq!((raised.step, raised.since), (120, window(1).since));
    assert_eq!(step("rate(a[30d])", 24), 10_800);
    let Ok(Fitted::Raised(raised)) = fitted("max_over_time(rate(a[5m])[1d:1m])", 24) else { panic!("not raised") };
    assert_eq!(raised.step, 1800);
    // A wide window asks for coarser subqueries: a server evaluates them over the whole of it.
    assert!(matches!(fitted("max_over_time(a[1h:15s])", 24 * 7), Err(Unfit::Fine { .. })));
    assert!(fitted("max_over_time(a[1h:1m])", 24 * 7).is_ok());
}

#[test]
fn ql_06_patterns_that_blow_up_are_refused_before_they_are_compiled() {
    assert_snapshot!(all_refused(&[
        r#"a{b=~"(?:a{0,1000}){0,1000}"}"#,
        r#"a{b!~"(a{1000}){10}"}"#,
        r#"a{b=~"("}"#,
        r#"label_replace(a, "x", "$1", "y", "(?:a{0,1000}){0,1000}")"#,
    ]), @r#"
    a{b=~"(?:a{0,1000}){0,1000}"}
      the regular expression `(?:a{0,1000}){0,1000}` can't be used (it grows too big when it is compiled); write a shorter one, or list the values
    a{b!~"(a{1000}){10}"}
      the regular expression `(a{1000}){10}` can't be used (it grows too big when it is compiled); write a shorter one, or list the values
    a{b=~"("}
      the regular expression `(` can't be used (unclosed group); write a shorter one, or list the values
    label_replace(a, "x", "$1", "y", "(?:a{0,1000}){0,1000}")
      the regular expression `(?:a{0,1000}){0,1000}` can't be used (it grows too big when it is compiled); write a shorter one, or list the values
    "#);
    let many: Vec<String> = (0..17).map(|n| format!("l{n}=~\"a.*\"")).collect();
    assert_snapshot!(fitted(&format!("a{{{}}}", many.join(",")), 1).unwrap_err(), @"the query holds more than 16 regular expressions; ask for less at once");
}

#[test]
fn ql_03_nesting_and_length_are_bounded() {
    let deep = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
    assert!(fitted(&deep(30), 1).is_ok());
    assert_snapshot!(fitted(&deep(40), 1).unwrap_err(), @"the query holds more than 32 parentheses open at once; ask for less at once");
    assert_snapshot!(fitted(&"-".repeat(3000), 1).unwrap_err(), @"the query holds a long row of signs; one is enough");
    assert_snapshot!(fitted(&format!("a{}", "+a".repeat(80)), 1).unwrap_err(), @"the query holds more than 64 selectors; ask for less at once");
    assert_snapshot!(fitted(&format!("1{}", "+1".repeat(800)), 1).unwrap_err(), @"the query holds more than 96 levels; ask for less at once");
    assert_eq!(fitted(&"a".repeat(MAX_LENGTH + 1), 1), Err(Unfit::Long));
}

#[test]
fn ql_03_what_would_harm_the_parser_never_reaches_it() {
    assert_snapshot!(all_refused(&[
        "a[1e300]",
        "a[-5]",
        "a[5]",
        "a offset 1e300",
        "a offset 5",
        "rate(a[5m99999999999s])",
        "a[99999999999999999999y]",
        "a[",
        "a[5m:99999999999s]",
        "111111111111111111111111111111 + a",
        "a{b=\"\\xff\"}",
        "a{b=\"\\101\"}",
        "a{b=\"x\ny\"}",
        "a{b=\"x",
        "holt_winters(a[5m], 0.5, 0.5)",
        "sum(",
        "a b",
        "",
    ]), @r#"
    a[1e300]
      `1e300` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    a[-5]
      `-5` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    a[5]
      `5` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    a offset 1e300
      `1e300` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    a offset 5
      `5` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    rate(a[5m99999999999s])
      `5m99999999999s` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    a[99999999999999999999y]
      `99999999999999999999y` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    a[
      a `[` is not closed
    a[5m:99999999999s]
      `99999999999s` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`
    111111111111111111111111111111 + a
      the number `111111111111111111111111111111` has more than 15 digits
    a{b="\xff"}
      a string holds the escape `\x`; write `\\x` for a backslash
    a{b="\101"}
      a string holds the escape `\1`; write `\\1` for a backslash
    a{b="x
    y"}
      a string runs over the end of its line; write `\n`
    a{b="x
      a string is not closed
    holt_winters(a[5m], 0.5, 0.5)
      not PromQL that can be read: unknown function with name 'holt_winters'
    sum(
      not PromQL that can be read: unclosed left parenthesis
    a b
      not PromQL that can be read: invalid promql query

      not PromQL that can be read: no expression found in input
    "#);
}

#[test]
fn ql_03_what_people_do_not_see_stands_in_strings_only() {
    assert!(refused("a\u{202e}").contains("the character `\\u{202e}` can stand in a string only"));
    assert!(refused("a\0").contains("the character `\\0` can stand in a string only"));
    assert_eq!(Query::read("a{b=\"\u{202e}\"}").unwrap().text(), "a{b=\"\u{202e}\"}");
}

#[test]
fn durations_and_numbers_are_as_people_write_them() {
    for text in
        ["rate(a[1h30m])", "a > 1e-9", "a * 0x1F", "a / 1.5e3", "a offset - 5m", "a[5m] offset 1w", "a > Inf", "- 1"]
    {
        assert!(Query::read(text).is_ok(), "{text}: {:?}", Query::read(text));
    }
    let sent = |text: &str| Query::read(text).unwrap().text().to_owned();
    assert_eq!(sent("a[1h30m:90s]"), "a[1h30m:1m30s]");
    assert_eq!(
        sent("a > 1e300 or a < 1.5e-9 or a == 0 or a != 1e6"),
        "a > 1e300 or a < 1.5e-9 or a == 0 or a != 1000000"
    );
    assert_eq!(super::MAX_RANGE, Duration::from_hours(31 * 24));
}

proptest! {
    /// Whatever comes, it is judged; what passes is stable and selects something by name.
    #[test]
    fn ql_03_any_text_is_judged_without_a_panic(text in "[a-z{}()\\[\\]\"'`=~!<>:0-9. ,@+*/^#\\\\-]{0,60}") {
        if let Ok(query) = Query::read(&text) {
            let again = Query::read(query.text()).unwrap();
            prop_assert_eq!(again.text(), query.text());
            let _judged = query.over(window(1)).is_ok();
        }
    }

    #[test]
    fn ql_03_rows_of_tokens_are_judged_without_a_panic(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..24)) {
        let text = tokens.join(" ");
        if let Ok(query) = Query::read(&text) {
            let again = Query::read(query.text()).unwrap();
            prop_assert_eq!(again.text(), query.text());
            let _judged = query.over(window(1)).is_ok();
        }
    }
}

const TOKENS: &[&str] = &[
    "a",
    "up",
    "{",
    "}",
    "(",
    ")",
    "[5m]",
    "[1h:1m]",
    "[1h:]",
    "offset",
    "5m",
    "-",
    "+",
    "@",
    "1e300",
    "0x7",
    "NaN",
    "start()",
    "end()",
    "sum",
    "topk",
    "by",
    "without",
    "(a)",
    ",",
    "3",
    "rate(",
    "job=\"x\"",
    "job=~\"x|y\"",
    "job!=\"\"",
    "or",
    "and",
    "unless",
    "on",
    "ignoring",
    "group_left",
    "bool",
    ">",
    "==",
    "^",
    "atan2",
    "'s'",
    "label_replace(",
    "vector(1)",
    "1y",
    "fill",
    "fill_left",
    "\"a.b\"",
    "time()",
    "absent(",
];
