//! Text from outside is cut through the redactor's guard only: half a secret has no shape to be found by.

use std::fs;
use std::path::{Path, PathBuf};

/// What cuts a text or a stream, and may stand before masking only where the guard is asked too.
const CUTS: [&str; 4] = [".chars().take(", ".chars().by_ref().take(", ".bytes().take(", ".take(MAX"];

/// Cuts of what is no text from outside, or was masked before.
const ALLOWED: [(&str, &str); 30] = [
    ("src/model/wire.rs", "a name that the model is told, of characters of tool names"),
    ("src/model/endpoint.rs", "the type of a body, from its header"),
    ("src/model/config.rs", "a URL of the config, without credentials"),
    ("src/model/anthropic/answer.rs", "a stop reason"),
    ("src/model/openai/answer.rs", "a stop reason"),
    ("src/app/audit/show.rs", "an id that a person typed"),
    ("src/app/serve/live.rs", "what is wrong with files, masked right before"),
    ("src/agent/sweep.rs", "the trigger, which was masked when it came in"),
    ("src/agent/writes/told.rs", "arguments, which are masked in the event"),
    ("src/agent/report.rs", "a claim of a masked answer"),
    ("src/chat/terminal/card.rs", "a masked card"),
    ("src/demo/fault.rs", "a flag"),
    ("src/config.rs", "counts lines"),
    ("src/web/error.rs", "what the parts above say, masked there"),
    ("src/alert/incident", "an alert, masked before it was kept"),
    ("src/alert/recurrence.rs", "the cause of a masked report"),
    ("src/chat/slack/incoming/message.rs", "the name of a file, which Slack keeps no longer"),
    ("src/chat/slack/card/face.rs", "a masked card"),
    ("src/chat/slack/http.rs", "what Slack wants to have said back to it"),
    ("src/chat/slack/config.rs", "an id of the config"),
    ("src/chat/slack/client/connector.rs", "why a connection failed, without its address"),
    ("src/chat/slack/chart", "a query and names of masked evidence"),
    ("crates/toolbox/src/runbook", "an operator's file, or a question that was masked"),
    ("crates/toolbox/src/tools/workspace/held.rs", "a file that is edited, refused where it is longer"),
    ("crates/toolbox/src/tools/workspace/walk.rs", "counts the entries of a directory"),
    ("crates/toolbox/src/catalog/network.rs", "a network of the config"),
    ("crates/toolbox/src/tools/process/sandbox", "what Warrant and its own launcher say to each other"),
    ("crates/toolbox/src/tools/command/load.rs", "counts lines"),
    ("crates/toolbox/src/tools/read/describe_service.rs", "names of services"),
    ("crates/toolbox/src/tools/sources/changes", "the id of a commit, and files read by lines that are guarded"),
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn rd_06_text_from_outside_is_cut_through_the_guard_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("crates/toolbox/src"), &mut files);
    assert!(files.len() > 100);
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let is_test = name.contains("/tests") || name.contains("fixture");
        if is_test || ALLOWED.iter().any(|(allowed, _)| name.starts_with(allowed)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let shipped = text.split("#[cfg(test)]").next().unwrap();
        let lines = shipped.lines().enumerate().filter(|(_, line)| CUTS.iter().any(|cut| line.contains(cut)));
        found.extend(lines.map(|(at, line)| format!("{name}:{}: {}", at + 1, line.trim())));
    }
    assert!(found.is_empty(), "cut these with `redact::guard`, or say why not:\n{}", found.join("\n"));
}

#[test]
fn every_leave_to_cut_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, why) in ALLOWED {
        let mut files = Vec::new();
        let path = root.join(name);
        if path.is_dir() {
            sources(&path, &mut files);
        } else {
            files.push(path);
        }
        let used = files.iter().any(|file| {
            let text = fs::read_to_string(file).unwrap();
            CUTS.iter().any(|cut| text.contains(cut))
        });
        assert!(used, "nothing in {name} cuts any more ({why}); take it out of the list");
    }
}
