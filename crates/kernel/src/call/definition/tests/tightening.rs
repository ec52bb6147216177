//! An operator's file may tighten a built-in tool and never loosens it.

use proptest::prelude::*;

use crate::call::definition::Definitions;
use crate::call::definition::tighten::is_narrower;

use super::{HTTP, SEARCH, built_in, load, operator};

fn tightened(text: &str) -> Result<Definitions, String> {
    load([built_in("search_logs.toml", SEARCH), operator("ops/search_logs.toml", text)])
}

#[test]
fn an_operator_may_tighten() {
    let text = r#"tighten = "search_logs"
roles = ["general-purpose"]
parallel_safe = false
timeout = "5s"
cache = "0s"
output = { max_chars = 4000 }

[args.limit]
max = 50
default = 20

[args.level]
values = ["error", "any"]

[args.pattern]
required = true
"#;
    let definitions = tightened(text).unwrap();
    let tool = definitions.get("search_logs").unwrap().tool();
    assert_eq!((tool.timeout.as_secs(), tool.output.max_chars, tool.parallel_safe), (5, 4_000, false));
    assert_eq!(tool.args["limit"].max, Some(50));
    assert!(tool.args["pattern"].required);
    assert!(is_narrower(tool, load([built_in("s", SEARCH)]).unwrap().get("search_logs").unwrap().tool()));
}

#[test]
fn what_loosens_a_built_in_tool_is_refused_with_its_line() {
    let text = r#"tighten = "search_logs"
name = "search_logs"
description = "Better."
roles = ["general-purpose", "admin"]
timeout = "30s"
cache = "1m"
output = { max_chars = 50000 }
tier_floor = "high"
run = "builtin"
colour = "red"

[args.limit]
min = 0
max = 5000

[args.level]
values = ["error", "debug"]

[args.service]
required = false

[args.pattern]
min = 3
type = "text"

[args.since]
max = 3

[args.lmit]
max = 3
"#;
    insta::assert_snapshot!(tightened(text).unwrap_err(), @r"
    ops/search_logs.toml:2: a file that tightens names the tool in `tighten` alone
    ops/search_logs.toml:3: `description` of a built-in tool can't be changed
    ops/search_logs.toml:4: role `admin` does not see the built-in tool, and tightening can't show it
    ops/search_logs.toml:5: `timeout` is longer than the 20s of the built-in tool
    ops/search_logs.toml:6: `cache` is longer than the 10s of the built-in tool
    ops/search_logs.toml:7: `max_chars` is 50000, above the 12000 of the built-in tool
    ops/search_logs.toml:8: what only looks is never asked for; `tier_floor` belongs to write tools
    ops/search_logs.toml:9: `run` of a built-in tool can't be changed
    ops/search_logs.toml:10: unknown field `colour`
    ops/search_logs.toml:13: argument `limit`: `min` is 0, below 1
    ops/search_logs.toml:14: argument `limit`: `max` is 5000, above 1000
    ops/search_logs.toml:16: argument `level`: `default` is `any`, which does not fit: must be a text (one of the choices)
    ops/search_logs.toml:17: argument `level`: `debug` is none of the built-in `values`
    ops/search_logs.toml:20: argument `service` is required and can't become optional
    ops/search_logs.toml:24: `pattern`: unknown field `type`, expected one of `min`, `max`, `values`, `required`, `default`
    ops/search_logs.toml:27: argument `since`: its type knows no `max`
    ops/search_logs.toml:29: the tool has no argument `lmit`; did you mean `limit`?
    ");
    let default = "tighten = \"search_logs\"\n[args.limit]\nmax = 50\n";
    insta::assert_snapshot!(tightened(default).unwrap_err(), @"ops/search_logs.toml:2: argument `limit`: `default` is `200`, which does not fit: 200 is not within 1 to 50");
    let all = [
        tightened("tighten = \"search_log\"\n").unwrap_err(),
        tightened("tighten = 3\n").unwrap_err(),
        load([built_in("a.toml", SEARCH), built_in("b.toml", "tighten = \"search_logs\"\n")]).unwrap_err(),
        load([operator("a.toml", HTTP), operator("b.toml", "tighten = \"deploys_of\"\n")]).unwrap_err(),
        load([
            built_in("a.toml", SEARCH),
            operator("b.toml", "tighten = \"search_logs\"\n"),
            operator("c.toml", "tighten = \"search_logs\"\n"),
        ])
        .unwrap_err(),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    ops/search_logs.toml:1: there is no built-in tool `search_log`; did you mean `search_logs`?
    ops/search_logs.toml:1: `tighten` must name a built-in tool, as in `tighten = "some_tool"`
    b.toml:1: a built-in definition can't tighten another; change it
    b.toml:1: `deploys_of` is defined in a.toml:1; change it there
    c.toml:1: this tool is already tightened in b.toml; put both into one file
    "#);
}

proptest! {
    #[test]
    fn a_tightening_that_loads_never_loosens(
        max_chars in 100usize..20_000,
        timeout in 0u32..40,
        cache in 0u32..20,
        (min, max) in (-5i64..50, 0i64..2_000),
        (default, pattern) in (-5i64..2_000, 1i64..800),
        parallel in any::<bool>(),
    ) {
        let text = format!(
            "tighten = \"search_logs\"\nparallel_safe = {parallel}\ntimeout = \"{timeout}s\"\ncache = \"{cache}s\"\n\
             output = {{ max_chars = {max_chars} }}\n[args.limit]\nmin = {min}\nmax = {max}\ndefault = {default}\n\
             [args.pattern]\nmax = {pattern}\n"
        );
        let wide = load([built_in("s.toml", SEARCH)]).unwrap();
        let loosens = max_chars > 12_000 || timeout > 20 || cache > 10 || min < 1 || max > 1_000 || pattern > 400;
        match tightened(&text) {
            Ok(narrow) => {
                let (narrow, wide) = (narrow.get("search_logs").unwrap(), wide.get("search_logs").unwrap());
                prop_assert!(!loosens && is_narrower(narrow.tool(), wide.tool()));
            }
            Err(told) => prop_assert!(told.lines().all(|line| line.starts_with("ops/search_logs.toml:"))),
        }
    }
}
