//! What loads, what does not and on which line.

mod tightening;

mod over_http;

mod of_commands;

mod writes;

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::domain::name::{RoleName, SourceName};
use crate::domain::tool::{HttpMethod, ToolRun};

use super::{DefinitionFile, Definitions, LoadContext, Standing};

const SEARCH: &str = r#"name = "search_logs"
version = 1
description = "Finds log lines of a service."
risk = "read"
roles = ["explore", "general-purpose"]
parallel_safe = true
timeout = "20s"
cache = "10s"
output = { max_chars = 12000, keep = "head_tail" }
target = { kind = "service", arg = "service" }
run = "builtin"

[args.service]
type = "service"
required = true
description = "The service."

[args.pattern]
type = "regex"
max = 400
description = "What to look for."

[args.since]
type = "time"
default = "1h ago"
description = "Beginning of the window."

[args.step]
type = "duration"
min = 1
max = 3600
description = "Step."

[args.level]
type = "enum"
values = ["error", "warn", "any"]
default = "any"
description = "Level."

[args.limit]
type = "int"
min = 1
max = 1000
default = 200
description = "Most lines."

[[examples]]
fits = true
args = { service = "checkout", pattern = "timeout", since = "15m ago" }

[[examples]]
fits = false
args = { service = "checkout", limit = 0 }

[[examples]]
fits = false
args = { service = "checkout", pattern = "(" }
"#;

fn built_in<'a>(name: &'a str, text: &'a str) -> DefinitionFile<'a> {
    DefinitionFile { name, text, standing: Standing::BuiltIn }
}

fn operator<'a>(name: &'a str, text: &'a str) -> DefinitionFile<'a> {
    DefinitionFile { name, text, standing: Standing::Operator }
}

fn load<'a>(files: impl IntoIterator<Item = DefinitionFile<'a>>) -> Result<Definitions, String> {
    let http_sources: BTreeSet<SourceName> = BTreeSet::from(["deploys".parse().unwrap()]);
    let roles: BTreeSet<RoleName> = ["explore", "general-purpose"].map(|role| role.parse().unwrap()).into();
    Definitions::load(files, &LoadContext { http_sources: &http_sources, roles: &roles })
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn refused(text: &str) -> String {
    load([built_in("t.toml", text)]).unwrap_err()
}

#[test]
fn a_definition_makes_a_small_schema() {
    let definitions = load([built_in("search_logs.toml", SEARCH)]).unwrap();
    let definition = definitions.get("search_logs").unwrap();
    insta::assert_snapshot!(definition.schema(), @r#"{"type":"object","properties":{"level":{"type":"string","description":"Level.","enum":["error","warn","any"],"default":"any"},"limit":{"type":"integer","description":"Most lines.","minimum":1,"maximum":1000,"default":200},"pattern":{"type":"string","description":"What to look for.","maxLength":400},"service":{"type":"string","description":"The service."},"since":{"type":"string","description":"Beginning of the window.","default":"1h ago"},"step":{"type":"string","description":"Step."}},"required":["service"],"additionalProperties":false}"#);
    assert_eq!(definition.tool().timeout.as_secs(), 20);
    assert_eq!(definition.tool().run, ToolRun::Builtin);
}

#[test]
fn tools_stand_in_the_order_of_their_names_whatever_the_order_of_the_files() {
    let other = SEARCH.replace("\"search_logs\"", "\"another\"");
    let names = |files: Vec<DefinitionFile<'_>>| -> Vec<String> {
        load(files).unwrap().iter().map(|definition| definition.tool().name.to_string()).collect()
    };
    let (a, b) = (built_in("a.toml", SEARCH), built_in("b.toml", &other));
    assert_eq!(names(vec![a, b]), ["another", "search_logs"]);
    assert_eq!(names(vec![b, a]), ["another", "search_logs"]);
    let definitions = load([a, b]).unwrap();
    assert_eq!(definitions.for_role(&"explore".parse().unwrap()).count(), 2);
    assert_eq!(definitions.for_role(&"other".parse().unwrap()).count(), 0);
    assert!(definitions.get("none").is_none() && definitions.get("no name!").is_none());
}

#[test]
fn every_fault_of_a_file_is_told_at_once_with_its_line() {
    let text = r#"name = "search logs"
version = 0
description = ""
roles = ["explorer", "explore", "explore"]
parallel_safe = "yes"
timeout = "20"
cache = "2h"
output = { max_chars = 10, keep = "head_tail" }
target = { kind = "service", arg = "servic" }
run = "builtin"
rols = []

[args.service]
type = "service"
required = true
descriptio = "The service."

[args.limit]
type = "int"
min = 10
max = 1
default = "many"
description = "Most lines."

[args.level]
type = "enum"
description = "Level."

[args.Bad]
type = "time"
max = 3
default = "soon"
description = "x"

[args.word]
type = "wrd"
description = "x"
"#;
    insta::assert_snapshot!(refused(text), @r#"
    t.toml:1: `name`: `search logs` is not a tool name: letters, digits, `_` and `-`, at most 128, beginning with a letter or digit
    t.toml:1: `risk` is missing: `read` for a tool that only looks
    t.toml:2: `version` begins with 1
    t.toml:3: `description` is empty
    t.toml:4: `roles` names `explore` twice
    t.toml:4: there is no role `explorer`; did you mean `explore`?
    t.toml:5: `parallel_safe`: invalid type: string "yes", expected a boolean
    t.toml:6: `timeout`: `20` is not a duration; write `90s`, `15m`, `1h30m` or `2d`
    t.toml:7: `cache` is `2h`; at most 600s
    t.toml:8: `max_chars` is 10; from 500 to 100000
    t.toml:9: `target.arg` names `servic`, which is no argument
    t.toml:11: unknown field `rols`; did you mean `roles`?
    t.toml:16: `service`: unknown field `descriptio`, expected one of `type`, `description`, `required`, `default`, `min`, `max`, `values`
    t.toml:20: argument `limit`: `min` is 10, above `max`, which is 1
    t.toml:22: argument `limit`: `default` is `many`, which does not fit: must be a whole number
    t.toml:25: argument `level`: an `enum` needs `values`
    t.toml:29: `Bad` is no name for an argument: small letters, digits and `_`, beginning with a letter, at most 40
    t.toml:31: argument `Bad`: its type knows no `max`
    t.toml:32: argument `Bad`: `default` is `soon`, which does not fit: `soon` is not a time; write RFC 3339 as in `2026-01-31T04:05:00Z`, or `15m ago`, or `now`
    t.toml:36: `word`: unknown variant `wrd`, expected one of `service`, `time`, `duration`, `path`, `label`, `regex`, `int`, `bool`, `enum`, `text`, `query`, `evidence`, `words`
    "#);
}

#[test]
fn what_must_be_there_is_asked_for() {
    insta::assert_snapshot!(refused("name = \"x\"\n"), @r#"
    t.toml:1: `description` is missing: what the tool is for, for the model
    t.toml:1: `output` is missing: `{ max_chars = 12000, keep = "head_tail" }`
    t.toml:1: `parallel_safe` is missing: whether calls of one turn may run together
    t.toml:1: `risk` is missing: `read` for a tool that only looks
    t.toml:1: `roles` is missing: the roles that see the tool
    t.toml:1: `run` is missing: what carries the tool out, `"builtin"`, a `[run.http]` or a `[run.command]` table
    t.toml:1: `target` is missing: what the tool looks at, as in `{ kind = "service", arg = "service" }`
    t.toml:1: `timeout` is missing: after how long the work is ended, as in `"20s"`
    t.toml:1: `version` is missing: raise it when arguments or output change shape
    "#);
    insta::assert_snapshot!(refused("name = \"x\"\nversion = = 1\n"), @"t.toml:2: extra `=`, expected nothing");
}

#[test]
fn tools_that_reach_further_do_not_load() {
    let with = |risk: &str| refused(&SEARCH.replace("risk = \"read\"", &format!("risk = \"{risk}\"")));
    let all = [with("network"), with("dangerous"), with("reads")];
    insta::assert_snapshot!(all.join("\n"), @r#"
    t.toml:4: `risk = "network"`: tools of this risk are not supported in this version
    t.toml:4: `risk = "dangerous"`: tools of this risk are not supported in this version
    t.toml:4: `risk`: unknown variant `reads`, expected one of `read`, `write`, `shell`, `network`, `dangerous`
    "#);
    let floor = SEARCH.replace("risk = \"read\"", "risk = \"read\"\ntier_floor = \"high\"\nside_effects = [\"x\"]");
    insta::assert_snapshot!(refused(&floor), @r"
    t.toml:5: what only looks is never asked for; `tier_floor` belongs to write tools
    t.toml:6: a read has no side effects
    ");
    let reserved = SEARCH.replace("\"search_logs\"", "\"read\"");
    insta::assert_snapshot!(refused(&reserved), @"t.toml:1: `read` is a word of the policies; choose another name");
}

#[test]
fn what_is_no_run_stops_the_start_and_says_so() {
    let with = |run: &str| refused(&SEARCH.replace("run = \"builtin\"\n", run));
    let all = [
        with("run = \"command\"\n"),
        with("run = \"mcp\"\n"),
        with("run = \"http\"\n"),
        with("run = \"shell\"\n"),
        with("run = { command = { argv = [\"ls\"] } }\n"),
        with("run = { mcp = { server = \"x\" } }\n"),
        with("source = \"mcp\"\nrun = \"builtin\"\n"),
        with(""),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    t.toml:11: `run = "command"` needs its words: write a `[run.command]` table with `argv`
    t.toml:11: tools over MCP are not supported in this version
    t.toml:11: `run = "http"` needs its source and path: write a `[run.http]` table
    t.toml:11: `run` is `shell`; `builtin`, `http` and `command` are known
    t.toml:11: a tool that runs a command says `risk = "shell"`; it can only look
    t.toml:11: tools over MCP are not supported in this version
    t.toml:11: tools over MCP are not supported in this version
    t.toml:1: `run` is missing: what carries the tool out, `"builtin"`, a `[run.http]` or a `[run.command]` table
    "#);
}

#[test]
fn an_example_that_does_not_do_as_it_says_stops_the_start() {
    let text = SEARCH.replace("limit = 0", "limit = 5").replace("pattern = \"timeout\"", "pattern = \"(\", lmit = 3");
    insta::assert_snapshot!(refused(&text), @r"
    t.toml:47: the example says `fits = true`, and does not fit: /lmit: unknown field; did you mean `limit`?; /pattern: is no regular expression: unclosed group (Rust `regex` syntax: no look-around, no back-references)
    t.toml:51: the example says `fits = false`, and it fits
    ");
}

const HTTP: &str = r#"name = "deploys_of"
version = 1
description = "Deploys of a service."
risk = "read"
roles = ["general-purpose"]
parallel_safe = true
timeout = "5s"
output = { max_chars = 4000, keep = "full" }
target = { kind = "service", arg = "service" }

[args.service]
type = "service"
required = true
description = "The service."

[args.since]
type = "time"
description = "Since when."

[run.http]
source = "deploys"
path = "/api/v1/services/{service}/deploys"
query = { since = "{since}", order = "desc" }
pointer = "/items"
"#;

#[test]
fn an_operator_adds_a_read_over_http() {
    let definitions = load([built_in("search_logs.toml", SEARCH), operator("ops/deploys.toml", HTTP)]).unwrap();
    let ToolRun::Http(http) = &definitions.get("deploys_of").unwrap().tool().run else { panic!("not http") };
    assert_eq!((http.method, http.pointer.as_str()), (HttpMethod::Get, "/items"));
}

#[test]
fn an_http_read_stays_within_its_source_and_path() {
    let with = |from: &str, to: &str| load([operator("h.toml", &HTTP.replace(from, to))]).unwrap_err();
    let all = [
        with("source = \"deploys\"", "source = \"deploy\""),
        with("/{service}/deploys", "/{servce}/deploys"),
        with("/{service}/deploys", "/x-{service}/deploys"),
        with("/{service}/deploys", "/{since}/deploys"),
        with("/{service}/deploys", "/../{service}"),
        with("path = \"/api", "path = \"api"),
        with("/deploys\"", "/deploys?x=1\""),
        with("\"{since}\"", "\"{sinc}\""),
        with("\"{since}\"", "\"{since\""),
        with("pointer = \"/items\"", "pointer = \"items\""),
        with("pointer = \"/items\"", "method = \"DELETE\""),
        with("type = \"service\"", "type = \"text\""),
    ];
    insta::assert_snapshot!(all.join("\n"), @"
    h.toml:21: there is no `[http.deploy]` in the config; did you mean `deploys`?
    h.toml:22: `path`: `{servce}` names no argument; did you mean `service`?
    h.toml:22: `x-{service}`: a placeholder in `path` fills one whole segment
    h.toml:22: `path`: `{since}` must be `required` or have a `default`
    h.toml:22: `path` may not hold `.` or `..`
    h.toml:22: `path` must begin with `/` and be a URL path of at most 512 characters; parameters belong in `query`
    h.toml:22: `path` must begin with `/` and be a URL path of at most 512 characters; parameters belong in `query`
    h.toml:23: query parameter `since`: `{sinc}` names no argument; did you mean `since`?
    h.toml:23: query parameter `since`: a `{` without its `}`
    h.toml:24: `pointer` is `items`; a JSON pointer begins with `/`
    h.toml:20: DELETE changes something: a read is GET, or POST with a form
    h.toml:9: `target.arg` names `service`, which is not of type `service`
    h.toml:22: `path`: `{service}` has a type that can't stand in `path`; use `label`, `enum`, `int` or `service`, or `query`
    ");
}

#[test]
fn ap_29_a_definition_that_bears_the_name_of_ours_does_not_load() {
    let replaced = HTTP.replace("\"deploys_of\"", "\"search_logs\"");
    let told = load([operator("a.toml", &replaced), built_in("search_logs.toml", SEARCH)]).unwrap_err();
    insta::assert_snapshot!(told, @r#"a.toml:1: `search_logs` is a built-in tool and can't be replaced; choose another name, or write `tighten = "search_logs"` with the limits you want"#);
    let claims = SEARCH.replace("\"search_logs\"", "\"mine\"");
    insta::assert_snapshot!(load([operator("a.toml", &claims)]).unwrap_err(), @"a.toml:11: only the tools of the program itself are `builtin`; write a `[run.http]` or a `[run.command]` table");
    let twice = load([operator("a.toml", HTTP), operator("b.toml", HTTP)]).unwrap_err();
    insta::assert_snapshot!(twice, @"b.toml:1: `deploys_of` is already defined in a.toml:1");
}

proptest! {
    #[test]
    fn no_text_makes_the_loader_panic(text in "\\PC{0,200}", cut in 0usize..900) {
        prop_assert!(load([operator("x.toml", &text)]).is_err());
        let cut: String = SEARCH.chars().take(cut).collect();
        // Cut between two arguments, it is a smaller tool.
        if let Ok(smaller) = load([built_in("x.toml", &cut)]) {
            prop_assert!(smaller.get("search_logs").is_some());
        }
    }
}
