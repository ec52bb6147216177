//! What there is to see once all is done: files, requests, and the record.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Started;
use super::wire;
use super::yard::{LINES, OLD};
use crate::safety::adapter::Observed;

impl Started {
    /// Ends the agent, and looks.
    pub(super) async fn observe(&mut self) -> Result<Observed, String> {
        let asked = self.asked().await?;
        self.kill().await?;
        let effect = self.effect();
        if !self.yard.path("run/warrant.db.key").exists() {
            return Ok(Observed { effect, asked, recorded: Vec::new(), unsound: None });
        }
        let (listed, verified) = tokio::join!(
            self.yard.run(&["audit", "list", "--all", "--limit", "500", "--json"]),
            self.yard.run(&["audit", "verify"])
        );
        let records = listed?.1;
        let kinds = records.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let kinds = kinds.filter_map(|record| record.get("kind")?.as_str().map(word)).collect();
        let (code, said) = verified?;
        Ok(Observed { effect, asked, recorded: kinds, unsound: (code != 0).then_some(said) })
    }

    /// The changes that are in effect.
    fn effect(&self) -> String {
        let mut effects: Vec<String> = Vec::new();
        let mut explained: BTreeSet<&str> = BTreeSet::new();
        for (change, new) in &self.proposed {
            let target = self.yard.target(change);
            let content = self.yard.file(target);
            if content.contains(new.as_str()) && !content.contains(&format!("{OLD}\n")) {
                effects.push(change.clone());
                explained.insert(target);
            }
        }
        for file in ["shop", "override", "till"] {
            let content = self.yard.file(file);
            if !explained.contains(file) && !content.is_empty() && !content.starts_with(LINES) {
                effects.push(format!("something else in {file}"));
            }
        }
        match self.yard.restarts() {
            0 => {}
            1 => effects.push("restart".to_owned()),
            more => effects.push(format!("{more} restarts")),
        }
        if effects.is_empty() { "none".to_owned() } else { effects.join(" + ") }
    }

    async fn asked(&mut self) -> Result<u64, String> {
        if !self.yard.socket().exists() {
            return Ok(0);
        }
        self.yard.i_am("operator")?;
        let listed = wire::ask(&self.yard.socket(), None, &json!({ "what": "list" })).await?;
        let listed = listed.map_err(|code| format!("not listed: {code}"))?;
        let quorum = |it: &Value| it.get("quorum").and_then(Value::as_u64).unwrap_or(0);
        let approvals = listed.get("approvals").and_then(Value::as_array).into_iter().flatten();
        Ok(approvals.filter(|it| quorum(it) > 0).count() as u64)
    }
}

/// What a record says, in the words of the suite.
fn word(kind: &str) -> String {
    match kind {
        "approval_requested" => "asked",
        "intent" => "begun",
        "outcome" => "ended",
        "break_glass" => "glass-broken",
        "review_due" => "review-owed",
        "writes_stopped" => "stopped",
        "writes_allowed" => "let-go-on",
        other => return other.replace('_', "-"),
    }
    .to_owned()
}
