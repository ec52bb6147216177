//! Lines are found where the evidence says they stand, and widened until they stand once.

use serde_json::{Value, json};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::document::Deed;

use super::{Filled, Fillings, setting, value_on};
use crate::agent::remedies::calls::{Calls, Wanted};
use crate::agent::remedies::tests::state;

fn deed(of: &str) -> Deed {
    let args = json!({ "path": format!("{{{of}.path}}"), "now": format!("{{{of}.line_now}}") });
    Deed { text: "d".to_owned(), tool: "edit_config".parse().unwrap(), args: args.as_object().unwrap().clone() }
}

fn catalog() -> Catalog {
    let orders = "[orders]\ntemp_files = [{ workspace = \"run\", path = \"o.yaml\" }]";
    let sources = "[workspaces]\netc = { dir = \"/e\" }\nrun = { dir = \"/r\" }";
    Catalog::new(toml::from_str(orders).unwrap(), toml::from_str(sources).unwrap()).unwrap()
}

fn fill(deed: &Deed, change: &Value, rows: &[&str]) -> Filled {
    let read = |path: &str| ("read_file", json!({ "path": path }), json!({ "lines": rows }));
    let state = state(&[read("etc:o.toml"), read("run:o.yaml")]);
    let (catalog, calls) = (catalog(), Calls::new(state.seen()));
    Fillings { catalog: &catalog, calls: &calls, service: &"orders".parse().unwrap(), change: Some(change) }.fill(deed)
}

fn now(filled: Filled) -> String {
    match filled {
        Filled::Call(Wanted { args, .. }) => args["now"].as_str().unwrap().to_owned(),
        Filled::Cant(why) => why,
        Filled::Reads(reads) => format!("{reads:?}"),
    }
}

fn change(more: &Value) -> Value {
    let mut row =
        json!({ "file": "etc:o.toml", "line": 3, "key": "a.max", "before": ["max = 20"], "after": ["max = 2"] });
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

#[test]
fn the_changed_line_is_the_one_at_its_place_or_the_only_one() {
    let rows = ["1| [a]", "2| min = 1", "3| max = 2", "4| [b]", "5| max = 2"];
    assert_eq!(now(fill(&deed("change"), &change(&json!({})), &rows)), "min = 1\nmax = 2");
    // The file has grown since: of two such lines none is the one that is meant.
    let moved = ["1| x", "2| [a]", "3| min = 1", "4| max = 2", "5| max = 2"];
    let unseen = "nothing that was seen says what `{change.line_now}` stands for";
    assert_eq!(now(fill(&deed("change"), &change(&json!({})), &moved)), unseen);
    let only = ["1| x", "2| [a]", "3| min = 1", "4| max = 2"];
    assert_eq!(now(fill(&deed("change"), &change(&json!({})), &only)), "max = 2");
    assert_eq!(now(fill(&deed("change"), &change(&json!({})), &["1| max = 9"])), unseen);
    for incomplete in [json!({ "more_lines": 3 }), json!({ "note": "long lines cut" }), json!({ "before": [] })] {
        assert_eq!(now(fill(&deed("change"), &change(&incomplete), &only)), unseen, "{incomplete}");
    }
}

#[test]
fn an_override_takes_the_place_of_its_line_or_is_added_at_the_end() {
    let of = |rows: &[&str]| now(fill(&deed("override"), &change(&json!({})), rows));
    assert_eq!(of(&["1| # none", "2| "]), "# none");
    assert_eq!(of(&["1| a.max: 5", "2| b: 1"]), "a.max: 5");
    let wanted = "nothing that was seen says what `{override.line_now}` stands for";
    assert_eq!(of(&["1| "]), wanted);
    assert_eq!(now(fill(&deed("override"), &change(&json!({ "before": ["max = [1]"] })), &["1| # none"])), wanted);
}

#[test]
fn only_plain_values_become_settings() {
    for (line, value) in [
        ("  max = 20", Some("20")),
        ("\"max\": 20,", Some("20")),
        ("level: \"info\"", Some("\"info\"")),
        ("list = [1]", None),
        ("name = a b", None),
        ("section:", None),
    ] {
        assert_eq!(value_on(line), value, "{line}");
    }
    assert_eq!(setting("etc:a.yml", "k.v", "1"), "k.v: 1");
    assert_eq!(setting("etc:a.toml", "k.v", "1"), "k.v = 1");
}
