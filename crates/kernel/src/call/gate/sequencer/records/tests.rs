//! Values as they stand in records.

use serde_json::Map;

use crate::call::gate::tests::world;

use super::*;

#[test]
fn values_stand_in_records_as_they_are() {
    assert_eq!(at(world::at(90)), world::at(90).to_string());
    assert_eq!(facts(&Facts::from([("mode".to_owned(), "0644".to_owned())])), json!({ "mode": "0644" }));
    let arguments = Map::from_iter([("service".to_owned(), json!("checkout"))]);
    let undo = Proposal { tool: "edit".parse().unwrap(), arguments, why: "as before".to_owned() };
    let told = json!({ "tool": "edit", "arguments": { "service": "checkout" }, "why": "as before" });
    assert_eq!(proposal(&undo), told);
    let text = || "a = 1".to_owned();
    let lines = [DiffLine::Hunk(text()), DiffLine::Context(text()), DiffLine::Removed(text()), DiffLine::Added(text())];
    assert_eq!(lines.map(|line| marked(&line)), ["@@ a = 1", " a = 1", "-a = 1", "+a = 1"]);
}
