//! Plans and looks for tests of write tools: what the gate would make, without the gate.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, EvidencePage, EvidencePages, Problem, ReadError, Reading};
use warrant_kernel::call::write::{Looking, WriteError, WriteTool};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::{CallId, EvidenceId, ServiceName};
use warrant_kernel::domain::output::Rows;
use warrant_kernel::domain::plan::{ApprovalId, AskKey, Case, Plan, PlanDigest, Preview};
use warrant_kernel::domain::result::{Meta, Origin, Status, ToolResult};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::domain::target::Target;

use crate::catalog::Catalog;
use crate::catalog::service::Service;
use crate::catalog::source::{DirSource, Sources};
use crate::tools::read::read_file::read_file;
use crate::tools::workspace::{OwnFiles, Workspaces};
use crate::tools::write::file::Files;
use crate::tools::write::kept::Kept;

/// The time of every call.
pub(super) const NOW: &str = "2026-02-03T12:00:00Z";

pub(super) fn arguments(args: Value) -> Arguments {
    match args {
        Value::Object(map) => Arguments::checked(map),
        other => panic!("{other} is no object"),
    }
}

pub(super) fn run() -> Run {
    let now = NOW.parse().unwrap();
    Run {
        investigation: "test".parse().unwrap(),
        trigger: Trigger::Question { text: "why?".to_owned() },
        requester: Requester { person: "ada".parse().unwrap(), groups: Vec::new() },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Command,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    sources: Sources,
    services: BTreeMap<ServiceName, Service>,
}

/// A catalog from its part of a config; the workspace `ws` is there.
pub(super) fn catalog(toml: &str, workspace: Option<PathBuf>) -> Arc<Catalog> {
    let mut config: Config = toml::from_str(toml).unwrap();
    if let Some(dir) = workspace {
        config.sources.workspaces.insert("ws".parse().unwrap(), DirSource { dir });
    }
    Arc::new(Catalog::new(config.services, config.sources).unwrap())
}

/// `ws` is the workspace; `outside` and `store` lie beside it.
pub(super) struct Yard {
    pub(super) outer: TempDir,
    pub(super) files: Arc<Files>,
}

const SERVICES: &str = r#"
[services.shop]
environment = "staging"
files = [{ workspace = "ws", path = "conf" }, { workspace = "ws", path = "conf/both.toml" }]
temp_files = [{ workspace = "ws", path = "conf/override" }, { workspace = "ws", path = "conf/both.toml" }]
[services.front]
depends_on = ["shop"]
"#;

impl Yard {
    pub(super) fn new() -> Self {
        Self::with(SERVICES, &[])
    }

    pub(super) fn with(services: &str, own: &[&str]) -> Self {
        let outer = tempfile::tempdir().unwrap();
        for dir in ["ws/conf/override", "outside"] {
            fs::create_dir_all(outer.path().join(dir)).unwrap();
        }
        let own = OwnFiles::new(own.iter().map(|path| outer.path().join(path)));
        let catalog = catalog(services, Some(outer.path().join("ws")));
        let workspaces = Arc::new(Workspaces::open(&catalog.sources().workspaces, own).unwrap());
        let kept = Kept::at(outer.path().join("store/kept"));
        Self { files: Arc::new(Files { catalog, workspaces, kept }), outer }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.outer.path().join("ws").join(path)
    }

    pub(super) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(path), content).unwrap();
    }

    pub(super) fn get(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }

    /// What is in the workspace but for the directories, sorted: a temporary file that stays behind is found.
    pub(super) fn names(&self, dir: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(dir))
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The result of a read of some lines, as a model would see it if nothing were masked or cut.
    pub(super) async fn read(&self, path: &str, from_line: u64, lines: u64) -> ToolResult {
        let tool = read_file(Arc::clone(&self.files.workspaces));
        let args = arguments(json!({"path": path, "from_line": from_line, "lines": lines}));
        let (run, cancel) = (run(), CancellationToken::new());
        let reading = Reading { now: run.since, run: &run, cancel: &cancel, evidence: &NoEvidence };
        let output = tool.read(&args, reading).await.unwrap();
        let mut data = output.summary;
        let Rows::Lines(rows) = output.rows else { panic!("no lines") };
        data.insert("lines".to_owned(), rows.into());
        result("read_file", Value::Object(data))
    }
}

pub(super) fn result(tool: &str, data: Value) -> ToolResult {
    ToolResult {
        call_id: CallId::nth(1),
        tool: tool.to_owned(),
        status: Status::Ok,
        ok: true,
        evidence: Some(EvidenceId::nth(1)),
        data,
        truncated: false,
        error: None,
        hint: None,
        meta: Meta {
            source: None,
            origin: Origin::File,
            fields: BTreeMap::new(),
            lines_returned: 0,
            lines_matched: None,
            duration_ms: 0,
            output_chars: 0,
            redactions: 0,
            cached: false,
            captured: true,
            side_effects: Vec::new(),
            trace_reason: None,
        },
    }
}

struct NoEvidence;

#[async_trait::async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// Looks with what the model has seen.
pub(super) async fn preview(tool: &dyn WriteTool, args: &Value, seen: &[ToolResult]) -> Result<Preview, WriteError> {
    let (args, run, cancel) = (arguments(args.clone()), run(), CancellationToken::new());
    let target = tool.resolve(&args, run.since).map_err(|problems| WriteError::Refused {
        reason: "RESOLVE",
        message: problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; "),
    })?;
    let seen: Vec<&ToolResult> = seen.iter().collect();
    tool.preview(&args, &target, Looking { now: run.since, run: &run, seen: &seen, cancel: &cancel }).await
}

/// The plan that a preview becomes.
pub(super) fn plan(tool: &dyn WriteTool, name: &str, args: &Value, preview: Preview) -> Plan {
    let (args, run) = (arguments(args.clone()), run());
    let target: Target = tool.resolve(&args, run.since).unwrap();
    Plan {
        id: ApprovalId::nth(7),
        contributors: Vec::new(),
        call_id: CallId::nth(2),
        evidence: EvidenceId::nth(2),
        tool: name.parse().unwrap(),
        version: 1,
        arguments: args.as_map().clone(),
        grounds: BTreeMap::new(),
        target,
        preview,
        case: Case { because: "x".to_owned(), evidence: Vec::new(), alternatives: None, otherwise: None },
        tier: Tier::High,
        tier_reasons: Vec::new(),
        policy_ids: Vec::new(),
        digest: PlanDigest::of(&[0; 32]),
        ask_key: AskKey::of(&[0; 32]),
        frozen_at: run.since,
        run,
    }
}

/// Calls `work` with what a tool looks with after the gate: nothing the model has seen.
pub(super) async fn looking<T>(work: impl AsyncFnOnce(Looking<'_>) -> T) -> T {
    let (run, cancel) = (run(), CancellationToken::new());
    work(Looking { now: run.since, run: &run, seen: &[], cancel: &cancel }).await
}

pub(super) fn reason<T: std::fmt::Debug>(result: Result<T, WriteError>) -> &'static str {
    match result.unwrap_err() {
        WriteError::Refused { reason, .. } | WriteError::Backend { reason, .. } => reason,
        WriteError::Unknown { .. } => "UNKNOWN",
    }
}

pub(super) fn problems(tool: &dyn WriteTool, args: Value) -> Vec<Problem> {
    tool.resolve(&arguments(args), NOW.parse().unwrap()).unwrap_err()
}
