//! What a definition of a write must say, and what it must not.

use crate::domain::decision::{Risk, Tier};

use super::{built_in, load, operator, refused};

const RESTART: &str = r#"name = "restart_service"
version = 1
description = "Restarts a service."
risk = "write"
tier_floor = "high"
roles = ["general-purpose"]
parallel_safe = false
timeout = "60s"
output = { max_chars = 4000, keep = "full" }
target = { kind = "service", arg = "service" }
side_effects = ["requests in flight are lost"]
run = "builtin"

[args.service]
type = "service"
required = true
description = "Which."

[[examples]]
fits = true
args = { service = "checkout" }

[[examples]]
fits = false
args = { service = "checkout", because = 7 }
"#;

#[test]
fn a_write_loads_with_its_case() {
    let loaded = load([built_in("t.toml", RESTART)]).unwrap();
    let definition = loaded.get("restart_service").unwrap();
    assert_eq!((definition.tool().risk, definition.tool().tier_floor), (Risk::Write, Some(Tier::High)));
    assert!(!definition.tool().args.contains_key("because"), "the case is no argument of the tool");
    insta::assert_json_snapshot!(definition.schema(), @r#"
    {
      "type": "object",
      "properties": {
        "service": {
          "type": "string",
          "description": "Which."
        },
        "because": {
          "type": "string",
          "maxLength": 1500,
          "description": "Why: the cause you take it for; people read it."
        },
        "evidence": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "maxItems": 20,
          "description": "Evidence it rests on, as in [\"E3\"]; may be []."
        },
        "alternatives": {
          "type": "string",
          "maxLength": 1500,
          "description": "What else could be done."
        },
        "otherwise": {
          "type": "string",
          "maxLength": 1500,
          "description": "If nothing is done."
        }
      },
      "required": [
        "service",
        "because",
        "evidence"
      ],
      "additionalProperties": false
    }
    "#);
}

#[test]
fn what_a_write_may_not_be() {
    let with = |from: &str, to: &str| refused(&RESTART.replace(from, to));
    let all = [
        with("parallel_safe = false", "parallel_safe = true"),
        with("timeout = \"60s\"", "timeout = \"60s\"\ncache = \"5s\""),
        with("[\"general-purpose\"]", "[\"explore\", \"general-purpose\"]"),
        with("side_effects = [\"requests in flight are lost\"]\n", ""),
        with("target = { kind = \"service\", arg = \"service\" }\n", ""),
        with("kind = \"service\", arg = \"service\"", "kind = \"runbooks\""),
        with("[args.service]", "[args.because]\ntype = \"text\"\ndescription = \"Why.\"\n\n[args.service]"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    t.toml:1: a write is never `parallel_safe`: set it to false
    t.toml:1: a write is done, not remembered: leave `cache` out
    t.toml:1: the role `explore` only looks: take it out of `roles`
    t.toml:1: `side_effects` is missing: what the write changes, in a sentence each
    t.toml:1: `target` is missing: what the tool looks at, as in `{ kind = "service", arg = "service" }`
    t.toml:1: nothing is written to runbooks
    t.toml:1: every write takes `because` as part of its case: choose another name
    "#);
}

#[test]
fn the_floor_of_a_write_may_rise_and_never_sink() {
    let tightened = |floor: &str| {
        let text = format!("tighten = \"edit\"\ntier_floor = \"{floor}\"\n");
        let edit = RESTART.replace("restart_service", "edit").replace("\"high\"", "\"medium\"");
        load([built_in("edit.toml", &edit), operator("ops.toml", &text)])
            .map(|loaded| loaded.get("edit").unwrap().tool().tier_floor)
    };
    assert_eq!(tightened("high"), Ok(Some(Tier::High)));
    insta::assert_snapshot!(tightened("low").unwrap_err(), @"ops.toml:2: `tier_floor` is low, below the medium of the built-in tool");
}

#[test]
fn ap_29_a_tool_of_ours_is_not_replaced() {
    let http = RESTART.replace("run = \"builtin\"", "[run.http]\nsource = \"ops\"\npath = \"/restart\"");
    let mcp = RESTART.replace("run = \"builtin\"", "run = \"builtin\"\nsource = \"mcp\"");
    let command = RESTART.replace("run = \"builtin\"", "run = { command = { argv = [\"reboot\"] } }");
    for other in [RESTART, &http, &mcp, &command] {
        let errors = load([built_in("restart.toml", RESTART), operator("ops.toml", other)]).unwrap_err();
        assert!(errors.lines().all(|error| error.starts_with("ops.toml:")), "{errors}");
    }
    let twice = load([operator("a.toml", &http), operator("b.toml", &http)]);
    assert!(twice.is_err());
}
