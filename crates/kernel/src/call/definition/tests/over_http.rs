//! An operator defines a write over HTTP: whole, or it does not load.

use crate::domain::tool::{HttpExpect, HttpMethod, ToolRun};

use super::{load, operator};

const WRITE: &str = r#"name = "set_flag"
version = 1
description = "Sets a flag."
risk = "write"
roles = ["general-purpose"]
parallel_safe = false
timeout = "5s"
output = { max_chars = 4000, keep = "full" }
target = { kind = "service", arg = "service" }
side_effects = ["the service behaves otherwise"]

[args.service]
type = "service"
required = true
description = "The service."

[args.on]
type = "bool"
required = true
description = "On or off."

[run.http]
source = "deploys"
method = "PUT"
path = "/flags/{service}"
body = { on = "{on}", why = ["warrant"] }

[run.http.preview]
path = "/flags/{service}"
bound = { revision = "/revision" }

[run.http.probe]
path = "/flags/{service}"
at = "/on"
is = "eq"
value = "{on}"
"#;

#[test]
fn a_write_with_target_preview_and_probe_loads() {
    let definitions = load([operator("w.toml", WRITE)]).unwrap();
    let ToolRun::Http(http) = &definitions.get("set_flag").unwrap().tool().run else { panic!("not http") };
    assert_eq!(http.method, HttpMethod::Put);
    assert_eq!(http.preview.as_ref().unwrap().bound["revision"], "/revision");
    assert_eq!(http.probe.as_ref().unwrap().is, HttpExpect::Eq);
}

#[test]
fn a_write_that_lacks_something_does_not_load() {
    let without = |from: &str, to: &str| {
        let begin = WRITE.find(from).unwrap();
        let end = WRITE.get(begin..).unwrap().find(to).map_or(WRITE.len(), |at| begin + at);
        load([operator("w.toml", &format!("{}{}", WRITE.get(..begin).unwrap(), WRITE.get(end..).unwrap()))])
            .unwrap_err()
    };
    let with = |from: &str, to: &str| load([operator("w.toml", &WRITE.replace(from, to))]).unwrap_err();
    let all = [
        without("[run.http.preview]", "[run.http.probe]"),
        without("[run.http.probe]", "\0"),
        without("method = \"PUT\"\n", "path"),
        without("target = ", "side_effects"),
        with("bound = { revision = \"/revision\" }", "bound = {}"),
        with("\"/revision\"", "\"revision\""),
        with("value = \"{on}\"", "value = \"{off}\""),
        with("value = \"{on}\"\n", ""),
        with("is = \"eq\"", "is = \"present\""),
        with("is = \"eq\"", "is = \"is\""),
        with("on = \"{on}\", why", "on = \"it is {on}\", why"),
        with("method = \"PUT\"", "method = \"PUT\"\npointer = \"/x\""),
        with("/flags/{service}\"\nbound", "/flags/x{service}\"\nbound"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    w.toml:22: a write needs a `[run.http.preview]`: a GET, and in `bound` what the plan is bound to
    w.toml:22: a write needs a `[run.http.probe]`: a GET that tells afterwards whether it took effect
    w.toml:22: a write names its `method`: POST, PUT or DELETE
    w.toml:1: `target` is missing: what the tool looks at, as in `{ kind = "service", arg = "service" }`
    w.toml:22: `preview.bound` is empty: a plan would be bound to nothing
    w.toml:28: `revision` is `revision`; a JSON pointer begins with `/`
    w.toml:32: `probe.value`: `{off}` names no argument
    w.toml:22: `probe`: `eq` and `contains` need a `value`
    w.toml:22: `probe`: `present` and `absent` take no `value`
    w.toml:35: `http`: unknown variant `is`, expected one of `eq`, `contains`, `present`, `absent`
    w.toml:26: `body.on`: a placeholder fills the whole text
    w.toml:22: `pointer` belongs to a read
    w.toml:28: `x{service}`: a placeholder in `path` fills one whole segment
    "#);
}

#[test]
fn a_read_has_nothing_of_a_write() {
    let read = WRITE
        .replace("risk = \"write\"", "risk = \"read\"")
        .replace("side_effects = [\"the service behaves otherwise\"]\n", "");
    insta::assert_snapshot!(load([operator("r.toml", &read)]).unwrap_err(), @r"
    r.toml:21: PUT changes something: a read is GET, or POST with a form
    r.toml:21: `body`, `preview` and `probe` belong to a write
    ");
}
