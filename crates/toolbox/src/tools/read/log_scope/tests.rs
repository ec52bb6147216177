//! A service with log files in a temporary directory, for the tests of the log tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::arguments::check;
use warrant_kernel::call::definition::{DefinitionFile, Definitions, LoadContext, Standing};
use warrant_kernel::call::tool::{Arguments, EvidencePage, EvidencePages, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};

use crate::catalog::Catalog;
use crate::catalog::service::{LogFiles, Service};
use crate::catalog::source::{DirSource, Sources};
use crate::tools::read::{compare_logs, search_logs};

/// 2026-11-30T11:20:00Z.
pub(in crate::tools::read) const NOW: Timestamp = Timestamp::constant(1_796_037_600, 0);

/// A catalog in which `checkout` logs to `checkout/app.log` and `checkout/error.log` beneath `dir`, and `silent` nowhere.
pub(in crate::tools::read) fn catalog(dir: &Path) -> Arc<Catalog> {
    let mut sources = Sources::default();
    sources.logs.insert("files".parse().unwrap(), DirSource { dir: dir.to_path_buf() });
    let logs = ["checkout/app.log", "checkout/error.log"]
        .map(|file| LogFiles { source: "files".parse().unwrap(), file: file.to_owned() })
        .to_vec();
    let environment = Some("production".parse().unwrap());
    let checkout = Service { environment, logs, ..Service::default() };
    let services = [("checkout", checkout), ("silent", Service::default())];
    let services = services.into_iter().map(|(name, service)| (name.parse().unwrap(), service)).collect();
    Arc::new(Catalog::new(services, sources).unwrap())
}

/// Writes a log file of `checkout`.
pub(in crate::tools::read) fn write(dir: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::create_dir_all(dir.join("checkout")).unwrap();
    fs::write(dir.join("checkout").join(name), text).unwrap();
}

pub(in crate::tools::read) fn args(json: Value) -> Arguments {
    let Value::Object(map) = json else { panic!("arguments are an object") };
    Arguments::checked(map)
}

struct NoEvidence;

#[async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// Resolves and reads, as the stages do.
pub(in crate::tools::read) async fn read(tool: &Arc<dyn ReadTool>, json: Value) -> Result<Output, ReadError> {
    let args = args(json);
    if let Err(problems) = tool.resolve(&args, NOW) {
        panic!("{problems:?}");
    }
    let run = Run {
        investigation: "i1".parse().unwrap(),
        trigger: Trigger::Question { text: "why".to_owned() },
        requester: Requester { person: "anna".parse().unwrap(), groups: Vec::new() },
        role: "explore".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: None,
        since: NOW,
        opened_at: NOW,
    };
    let cancel = CancellationToken::new();
    tool.read(&args, Reading { now: NOW, run: &run, cancel: &cancel, evidence: &NoEvidence }).await
}

/// What is wrong with the arguments, pointer and message.
pub(in crate::tools::read) fn problems(tool: &Arc<dyn ReadTool>, json: Value) -> Vec<String> {
    let problems = tool.resolve(&args(json), NOW).expect_err("the arguments make no sense");
    problems.into_iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect()
}

/// An output as text, for snapshots.
pub(in crate::tools::read) fn shown(output: &Output) -> String {
    let rows = match &output.rows {
        Rows::Lines(lines) => lines.clone(),
        Rows::Items(items) => items.iter().map(Value::to_string).collect(),
    };
    let summary = serde_json::to_string_pretty(&output.summary).unwrap();
    let (key, rows) = (output.rows_key, rows.join("\n"));
    format!("{summary}\n{key}:\n{rows}\nmatched: {:?}\nleft out: {:?}", output.matched, output.left_out)
}

/// A text of lines.
pub(in crate::tools::read) fn text(lines: impl IntoIterator<Item = String>) -> String {
    let mut text = lines.into_iter().collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

#[test]
fn the_examples_of_the_definitions_are_understood_by_the_tools() {
    let texts = [
        ("search_logs", include_str!("../../../../../../tools/search_logs.toml")),
        ("compare_logs", include_str!("../../../../../../tools/compare_logs.toml")),
    ];
    let roles = BTreeSet::from(["explore".parse().unwrap(), "general-purpose".parse().unwrap()]);
    let context = LoadContext { http_sources: &BTreeSet::new(), roles: &roles };
    let files = texts.iter().map(|(name, text)| DefinitionFile { name, text, standing: Standing::BuiltIn });
    let definitions = Definitions::load(files, &context).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let catalog = catalog(dir.path());
    for (name, tool) in
        [("search_logs", search_logs::tool(catalog.clone())), ("compare_logs", compare_logs::tool(catalog.clone()))]
    {
        let definition = definitions.get(name).unwrap();
        for example in definition.tool().examples.iter().filter(|example| example.fits) {
            let given = example.args.to_string().replace("orders", "checkout");
            let args = check(definition, &given, NOW, &*catalog).unwrap().arguments;
            assert_eq!(tool.resolve(&args, NOW).unwrap().kind, definition.tool().target.kind, "{name}");
        }
    }
}
