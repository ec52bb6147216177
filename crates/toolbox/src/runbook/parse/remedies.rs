//! The remedies of a front matter: texts for people, and the writes that can be proposed.

use serde::Deserialize;
use serde_json::{Map, Value};
use warrant_kernel::domain::name::ToolName;

use crate::runbook::document::{Check, Deed, Remedy};

/// One `[[remedies]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemedyForm {
    #[serde(rename = "do")]
    text: String,
    #[serde(default)]
    when: Option<String>,
    #[serde(default)]
    tool: Option<ToolName>,
    #[serde(default)]
    args: Map<String, Value>,
    #[serde(default)]
    then: Vec<DeedForm>,
    #[serde(default)]
    lesser: Vec<DeedForm>,
    #[serde(default)]
    alternatives: Vec<String>,
}

/// One write of `then` or `lesser`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeedForm {
    #[serde(rename = "do")]
    text: String,
    tool: ToolName,
    #[serde(default)]
    args: Map<String, Value>,
}

impl RemedyForm {
    /// The remedy that begins on this line, or what is wrong with it.
    pub(super) fn remedy(self, line: usize, checks: &[Check]) -> Result<Remedy, String> {
        if let Some(when) = self.when.as_ref().filter(|when| !checks.iter().any(|check| check.id == **when)) {
            return Err(format!("`when` names the check `{when}`, which is not there; name one of this runbook"));
        }
        if self.tool.is_none() {
            let fields = [
                ("when", self.when.is_some()),
                ("args", !self.args.is_empty()),
                ("then", !self.then.is_empty()),
                ("lesser", !self.lesser.is_empty()),
            ];
            if let Some((field, _)) = fields.into_iter().find(|(_, given)| *given) {
                return Err(format!("`{field}` goes with a write; name its `tool`, or remove `{field}`"));
            }
        }
        let deed = |form: DeedForm| Deed { text: form.text, tool: form.tool, args: form.args };
        let (text, args) = (self.text, self.args);
        Ok(Remedy {
            write: self.tool.map(|tool| Deed { text: text.clone(), tool, args }),
            text,
            when: self.when,
            then: self.then.into_iter().map(deed).collect(),
            lesser: self.lesser.into_iter().map(deed).collect(),
            alternatives: self.alternatives,
            line,
        })
    }
}
