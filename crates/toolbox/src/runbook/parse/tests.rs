//! Front matter, and what is wrong with it.

use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use super::{MAX_BYTES, parse};
use crate::runbook::document::{Runbook, Shows};
use crate::runbook::expect::{Test, Than};

fn read(text: &str) -> Result<Runbook, String> {
    parse("pool", Path::new("runbooks/pool.md"), text).map_err(|problem| problem.to_string())
}

fn broken(matter: &str) -> String {
    read(&format!("+++\n{matter}\n+++\n# Pool\n")).unwrap_err()
}

const WHOLE: &str = r#"+++
title = "Pool exhausted"
alerts = ["PoolExhausted"]
services = ["api"]
symptoms = ["requests wait"]
changes = { keys = ["Max_Conn"] }

[[checks]]
id = "waits"
tool = "scrape_metrics"
args = { service = "{service}", interval = "5s" }
expect = { at = "/highest/value", is = "gt", value = 0 }
means = "callers wait"
rules_out = "nobody waits"
cause = true

[[checks]]
id = "errors"
tool = "compare_logs"
args = { service = "{service}", since = "{since}" }
expect = { at = "/errors/now", is = "rises" }
means = "more errors"

[[remedies]]
do = "Make it larger"
alternatives = ["Restart"]
+++

# Pool exhausted

## Meaning

All `connections` are in use, see [tuning](https://example.org/pool/how-to-size).
"#;

#[test]
fn everything_a_runbook_may_say_is_read() {
    let runbook = read(WHOLE).unwrap();
    assert_eq!(
        (runbook.title.as_str(), runbook.change_words.as_slice()),
        ("Pool exhausted", &["max_conn".to_owned()][..])
    );
    let lines: Vec<_> = runbook.checks.iter().map(|check| (check.id.as_str(), check.shows, check.line)).collect();
    assert_eq!(lines, [("waits", Shows::Cause, 8), ("errors", Shows::Symptom, 17)]);
    assert_eq!(runbook.checks[1].expect.test, Test::Rises(Than::Previous, 1.0));
    assert!(runbook.checks[1].expect.needs_previous());
    let [section] = runbook.sections.as_slice() else { panic!("{:?}", runbook.sections) };
    assert_eq!((section.heading.as_str(), section.line), ("Meaning", 31));
    assert_eq!(section.text, "All connections are in use, see tuning.");
    assert_eq!(section.links, "pool how to size ");
    assert!(runbook.text.starts_with("\n# Pool exhausted"));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_read_too() {
    let text = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n"));
    assert_eq!(read(&text).unwrap().checks[1].line, 17);
}

/// A runbook of one check `pool` and these remedies.
fn remedies(remedies: &str) -> Result<Runbook, String> {
    let check =
        "[[checks]]\nid = \"pool\"\ntool = \"http_check\"\nmeans = \"m\"\nexpect = { at = \"\", is = \"absent\" }";
    read(&format!("+++\ntitle = \"t\"\n{check}\n{remedies}\n+++\n"))
}

#[test]
fn a_remedy_names_its_write_what_follows_it_and_what_is_less() {
    let restart = "{ do = \"Restart it\", tool = \"restart_service\", args = { service = \"{service}\" } }";
    let rest = format!("args = {{ path = \"{{change.path}}\" }}\nthen = [{restart}]\nlesser = [{restart}]");
    let text = format!("[[remedies]]\ndo = \"Take it back\"\ntool = \"edit_config\"\nwhen = \"pool\"\n{rest}");
    let runbook = remedies(&text).unwrap();
    let remedy = &runbook.remedies[0];
    assert_eq!((remedy.when.as_deref(), remedy.line), (Some("pool"), 8));
    let deeds: Vec<String> =
        remedy.deeds().map(|it| format!("{}: {} {}", it.text, it.tool, Value::Object(it.args.clone()))).collect();
    assert_eq!(
        deeds,
        [
            "Take it back: edit_config {\"path\":\"{change.path}\"}",
            "Restart it: restart_service {\"service\":\"{service}\"}",
            "Restart it: restart_service {\"service\":\"{service}\"}",
        ]
    );
    assert_eq!(remedies("[[remedies]]\ndo = \"Call them\"").unwrap().remedies[0].deeds().count(), 0);
}

#[test]
fn a_remedy_that_makes_no_sense_is_told_with_its_line() {
    let broken = |text: &str| remedies(&format!("[[remedies]]\ndo = \"d\"\n{text}")).unwrap_err();
    assert_snapshot!(broken("tool = \"edit_config\"\nwhen = \"disk\""), @"runbooks/pool.md:8: `when` names the check `disk`, which is not there; name one of this runbook");
    assert_snapshot!(broken("args = { path = \"a\" }"), @"runbooks/pool.md:8: `args` goes with a write; name its `tool`, or remove `args`");
    assert_snapshot!(broken("lesser = [{ do = \"x\", tool = \"edit_config\" }]"), @"runbooks/pool.md:8: `lesser` goes with a write; name its `tool`, or remove `lesser`");
    assert_snapshot!(broken("tool = \"edit_config\"\nthen = [{ do = \"x\" }]"), @"runbooks/pool.md:11: missing field `tool`");
}

#[test]
fn each_fault_is_told_with_its_line() {
    let check = |expect: &str| {
        let rest = "id = \"a\"\ntool = \"http_check\"\nmeans = \"m\"";
        broken(&format!("title = \"t\"\n[[checks]]\n{rest}\nexpect = {{ {expect} }}"))
    };
    assert_snapshot!(broken("title = \"t\"\nalert = [\"A\"]"), @"runbooks/pool.md:3: unknown field `alert`, expected one of `title`, `alerts`, `services`, `symptoms`, `checks`, `remedies`, `changes`");
    assert_snapshot!(broken("alerts = []"), @"runbooks/pool.md:2: missing field `title`");
    assert_snapshot!(broken("title = \" \""), @"runbooks/pool.md:1: `title` is empty; say what the runbook is about");
    assert_snapshot!(broken("title = \"t\"\nservices = [\"a b\"]"), @"runbooks/pool.md:3: `a b` is not a service name: letters, digits and `_-./:`, at most 128, beginning with a letter or digit");
    assert_snapshot!(broken("title = \"t\n"), @r#"runbooks/pool.md:2: invalid basic string, expected `"`"#);
    assert_snapshot!(check("at = \"/a\", is = \"above\", value = 1"), @"runbooks/pool.md:7: unknown variant `above`, expected one of `eq`, `lt`, `gt`, `between`, `contains`, `absent`, `rises`, `falls`");
    assert_snapshot!(check("at = \"a\", is = \"gt\", value = 1"), @"runbooks/pool.md:7: `a` is no JSON pointer; write it as in `/matched/total`, `~1` for a slash and `~0` for a tilde");
    assert_snapshot!(check("at = \"/a~2\", is = \"gt\", value = 1"), @"runbooks/pool.md:7: `/a~2` is no JSON pointer; write it as in `/matched/total`, `~1` for a slash and `~0` for a tilde");
    assert_snapshot!(check("at = \"/a\", is = \"gt\", value = \"1\""), @"runbooks/pool.md:7: `gt` needs a number as `value`");
    assert_snapshot!(check("at = \"/a\", is = \"between\", value = [3, 1]"), @"runbooks/pool.md:7: `between` needs two numbers as `value`, the lower first");
    assert_snapshot!(check("at = \"/a\", is = \"absent\", value = 1"), @"runbooks/pool.md:7: `absent` takes no `value`; remove it");
    assert_snapshot!(check("at = \"/a\", is = \"eq\""), @"runbooks/pool.md:7: `eq` needs a `value`");
    assert_snapshot!(check("at = \"/a\", is = \"gt\", value = 1, than = \"previous\""), @"runbooks/pool.md:7: `than` goes with `rises` and `falls` only; remove it");
    assert_snapshot!(check("at = \"/a\", is = \"rises\", than = \"yesterday\""), @r#"runbooks/pool.md:7: `than = "yesterday"`: write "previous" or a JSON pointer as in "/errors/before""#);
    assert_snapshot!(check("at = \"/a\", is = \"falls\", value = 0.5"), @"runbooks/pool.md:7: `value` of `rises` and `falls` is by how many times at least, a number from 1 on");
    let twice = WHOLE.replace("\"errors\"", "\"waits\"");
    assert_snapshot!(read(&twice).unwrap_err(), @"runbooks/pool.md:17: there are two checks with the id `waits`; rename one");
    assert_snapshot!(read("+++\ntitle = \"t\"\n# Pool\n").unwrap_err(), @"runbooks/pool.md:1: the front matter that begins here is not closed; add a line `+++` below it");
    assert_snapshot!(read(&"x".repeat(MAX_BYTES + 1)).unwrap_err(), @"runbooks/pool.md:1: the file is longer than 262144 bytes; split it");
}

#[test]
fn other_peoples_runbooks_load_as_text() {
    let file = Path::new("x.md");
    let yaml = parse(
        "a/KubePodCrashLooping",
        file,
        "---\ntitle: \"Kube Pod Crash Looping\"\nweight: 20\n---\n\n# KubePodCrashLooping\n\n## Meaning\n\nPod dies.\n",
    )
    .unwrap();
    assert_eq!(
        (yaml.title.as_str(), yaml.alerts.as_slice()),
        ("Kube Pod Crash Looping", &["KubePodCrashLooping".to_owned()][..])
    );
    assert_eq!((yaml.sections[0].heading.as_str(), yaml.sections[0].line), ("Meaning", 8));
    let plain = parse("pod-dies", file, "# PodDies\n\nIt dies.").unwrap();
    assert_eq!((plain.title.as_str(), plain.alerts.join(" ")), ("PodDies", "pod-dies PodDies".to_owned()));
    let bare = parse("notes", file, "---\n\nA rule, then text.").unwrap();
    assert_eq!((bare.title.as_str(), bare.checks.len()), ("notes", 0));
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in any::<String>(), fence in "(\\+\\+\\+\n|---\n)?", more in "[#+\\-`\\[\\]()<>*_|\n a={}\"]{0,200}") {
        if let Err(problem) = read(&format!("{fence}{text}\n{fence}{more}")) {
            prop_assert!(problem.starts_with("runbooks/pool.md:"));
        }
    }
}
