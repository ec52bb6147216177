//! What a tool is, as data. Read by four readers: the model (name, description, schema), the gate (risk, roles, tier),
//! the executor (timeout, source, run) and the context (output policy).

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decision::{Risk, Tier};
use super::name::{RoleName, SourceName, ToolName};
use super::target::TargetKind;

/// The type of an argument; the JSON Schema, the checks and the policy schema come from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgType {
    /// A service of the catalog.
    Service,
    /// A point in time: RFC 3339, or relative to now as in `15m ago`.
    Time,
    /// A length of time: `90s`, `15m`, `1h30m`, `2d`.
    Duration,
    /// A path beneath a workspace root.
    Path,
    /// A metric or label name.
    Label,
    /// A regular expression in the syntax of the `regex` crate.
    Regex,
    /// A whole number.
    Int,
    /// True or false.
    Bool,
    /// One of `values`.
    Enum,
    /// Free text.
    Text,
    /// A query in the language of the source, e.g. `PromQL`.
    Query,
    /// An evidence id of the same investigation, `E7`.
    Evidence,
    /// A list of texts: the words of a command.
    Words,
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgSpec {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArgType,
    /// For the model.
    pub description: String,
    /// Whether a call without it is refused.
    #[serde(default)]
    pub required: bool,
    /// What stands in for it when it is left out.
    #[serde(default)]
    pub default: Option<Value>,
    /// Smallest value of an int; shortest duration in seconds.
    #[serde(default)]
    pub min: Option<i64>,
    /// Largest value of an int; longest duration in seconds; most characters of a text, regex, query, path or label.
    #[serde(default)]
    pub max: Option<i64>,
    /// The choices of an enum.
    #[serde(default)]
    pub values: Vec<String>,
}

/// How an output is cut to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Rows from the first on, as many as fit.
    Full,
    /// First and last rows, the middle left out.
    HeadTail,
    /// The summary only; rows are read through `read_evidence`.
    SummaryOnly,
}

/// The output policy of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputPolicy {
    /// Most characters of `data` as JSON.
    pub max_chars: usize,
    /// What is kept when there are more.
    pub keep: Keep,
}

/// Which argument names which kind of resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// The kind of resource.
    pub kind: TargetKind,
    /// The argument that names it; none where the tool has one target only.
    #[serde(default)]
    pub arg: Option<String>,
}

/// An example call, tested when the definition is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The arguments.
    pub args: Value,
    /// Whether they must fit the schema or must not.
    pub fits: bool,
}

/// A request to a source that the config names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpRun {
    /// The source of the config: its base URL and credentials.
    pub source: SourceName,
    /// A read: GET, or POST with the query as a form. A write: POST, PUT or DELETE.
    #[serde(default)]
    pub method: HttpMethod,
    /// Path below the base URL; `{arg}` stands for one percent-encoded segment.
    pub path: String,
    /// Query parameters; `{arg}` stands for an argument's value. A parameter whose argument is absent is left out.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// A read: JSON pointer to the rows in the answer; the whole answer where empty.
    #[serde(default)]
    pub pointer: String,
    /// A write: the fields of the JSON object that is sent; `"{arg}"` stands for an argument with its own type.
    #[serde(default)]
    pub body: BTreeMap<String, Value>,
    /// A write: what is looked at before it.
    #[serde(default)]
    pub preview: Option<HttpLook>,
    /// A write: how one can tell that it took effect.
    #[serde(default)]
    pub probe: Option<HttpProbe>,
}

/// A program that is run in the sandbox. There is no shell: each item of `argv` is one word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRun {
    /// The program, then its words. `{arg}` stands for an argument's value and fills a whole word, or all behind the `=` of
    /// `--flag=`; such a word is left out with its argument.
    pub argv: Vec<String>,
}

/// A GET before a write, and the facts in its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpLook {
    /// As in [`HttpRun`].
    pub path: String,
    /// As in [`HttpRun`].
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// JSON pointers to what the plan is bound to, by name.
    pub bound: BTreeMap<String, String>,
    /// JSON pointers to what people are shown beside it, by name.
    #[serde(default)]
    pub shown: BTreeMap<String, String>,
}

/// A GET after a write, and what its answer must hold if the write took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpProbe {
    /// As in [`HttpRun`].
    pub path: String,
    /// As in [`HttpRun`].
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// JSON pointer into the answer.
    #[serde(default)]
    pub at: String,
    /// How it is compared.
    pub is: HttpExpect,
    /// With what; `"{arg}"` stands for an argument with its own type.
    #[serde(default)]
    pub value: Option<Value>,
}

/// How a value in an answer is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpExpect {
    /// It is this value.
    Eq,
    /// It is an array or a text that holds this.
    Contains,
    /// It is there.
    Present,
    /// It is not there; an answer of 404 counts.
    Absent,
}

/// The method of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// GET.
    #[default]
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// DELETE.
    Delete,
}

impl HttpMethod {
    /// The word as it stands in a request.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// What carries a tool out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolRun {
    /// Code of this program, by the tool's name.
    Builtin,
    /// A request over HTTP.
    Http(Box<HttpRun>),
    /// A program, in the sandbox.
    Command(Box<CommandRun>),
}

/// What a tool is.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: ToolName,
    /// Raised when arguments or output change shape.
    pub version: u32,
    /// For the model.
    pub description: String,
    /// Arguments by name.
    pub args: BTreeMap<String, ArgSpec>,
    /// What it could do to the world.
    pub risk: Risk,
    /// The least tier it asks for.
    pub tier_floor: Option<Tier>,
    /// Roles that see it.
    pub roles: Vec<RoleName>,
    /// Whether calls of one turn may run together.
    pub parallel_safe: bool,
    /// After how long the work is ended.
    pub timeout: Duration,
    /// The output policy.
    pub output: OutputPolicy,
    /// For how long an identical call is answered from the first one; zero for never.
    pub cache: Duration,
    /// What it looks at.
    pub target: TargetSpec,
    /// What it changes, in words; empty for a read.
    pub side_effects: Vec<String>,
    /// What carries it out.
    pub run: ToolRun,
    /// Example calls.
    pub examples: Vec<Example>,
}
