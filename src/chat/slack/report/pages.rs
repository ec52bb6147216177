//! Where evidence can be seen in the sources' own pages: built from what the config names, never from what was read.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reqwest::Url;
use serde_json::Value;
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::result::ToolResult;

use crate::agent::state::State;

/// The pages of the evidence that a report lists. `bases` are the addresses of the sources' pages, by the sources' names.
#[must_use]
pub fn pages(report: &Report, state: &State, bases: &BTreeMap<String, String>) -> BTreeMap<EvidenceId, String> {
    let page = |id: EvidenceId| {
        let (_, result) = state.evidence(id)?;
        let base = bases.get(result.meta.source.as_ref()?.as_str())?;
        Some((id, of(result, base)?.into()))
    };
    report.evidence.iter().filter_map(|exhibit| page(exhibit.evidence)).collect()
}

fn of(result: &ToolResult, base: &str) -> Option<Url> {
    let mut url = Url::parse(base).ok()?;
    match result.tool.as_str() {
        "query_metrics" => {
            let text = |pointer: &str| result.data.pointer(pointer).and_then(Value::as_str);
            let time = |pointer: &str| text(pointer)?.parse::<Timestamp>().ok();
            let (since, until) = (time("/window/since")?, time("/window/until")?);
            url.path_segments_mut().ok()?.pop_if_empty().push("graph");
            url.query_pairs_mut()
                .append_pair("g0.expr", text("/query")?)
                .append_pair("g0.tab", "0")
                .append_pair("g0.range_input", &format!("{}s", until.duration_since(since).as_secs().max(1)))
                .append_pair("g0.end_input", &until.strftime("%Y-%m-%d %H:%M:%S").to_string());
            Some(url)
        }
        "active_alerts" => Some(url),
        _ => None,
    }
}
