//! A case: what the situation is, what is attempted, what must come of it. Read from TOML; unknown keys are refused.

use std::path::Path;

use serde::Deserialize;
use toml::Table;

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

/// One row of the suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name, `approve-a-run-b`.
    pub id: String,
    /// The attack that it stands for, `AP-01`.
    pub attack: String,
    /// What it is about, in a sentence.
    pub about: String,
    #[serde(default)]
    pub situation: Situation,
    /// What is done, in order.
    pub attempt: Vec<Step>,
    pub expect: Expect,
}

/// What is there before anything is done.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Situation {
    /// What people have to say of a change here.
    pub asks: Asks,
    /// How many persons it takes.
    pub quorum: Quorum,
    /// What the agent may do.
    pub agent: Agent,
    /// What a stranger wrote where the agent reads.
    pub planted: Option<Planted>,
    /// Lines that the file holds beside its own.
    pub file: String,
    /// The case moves the clock of the host.
    pub clock: bool,
}

/// Who is asked about a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// Nobody; it is recorded.
    Nobody,
    /// Whoever asked, or another person.
    #[default]
    Anybody,
    /// Another person, who has opened the whole.
    Another,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    #[default]
    One,
    Two,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// It may propose changes.
    #[default]
    Changes,
    /// It may only look.
    Looks,
}

/// Text of a stranger.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planted {
    pub log: String,
}

/// One step, with what has to come of it where that matters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    #[serde(rename = "do")]
    pub deed: Deed,
    /// Which change: `a`, `b`, `c`; `other` is a change of what nobody asked about; `restart` restarts the service.
    #[serde(default)]
    pub change: Option<String>,
    /// Who does it.
    #[serde(default, rename = "as")]
    pub by: Option<String>,
    /// Which of the requests for approval, from 1.
    #[serde(default)]
    pub request: Option<u64>,
    /// How they prove who they are, where their user of the machine does not: the name of a token.
    #[serde(default)]
    pub token: Option<String>,
    /// What they looked at before they answered.
    #[serde(default)]
    pub saw: Saw,
    /// The text of it: a reason, what a tool is given, what is put into a file.
    #[serde(default)]
    pub text: Option<String>,
    /// A tool's name.
    #[serde(default)]
    pub tool: Option<String>,
    /// What stands beside the arguments of a proposal.
    #[serde(default)]
    pub with: Option<Table>,
    /// Of which kind: how the target is meddled with, which groups, how many hours.
    #[serde(default)]
    pub how: Option<String>,
    /// How often, or how long.
    #[serde(default)]
    pub n: Option<i64>,
    /// `ok`, `done`, `counted`, `superseded`, `refused: REASON`; alternatives are divided by ` | `.
    #[serde(default)]
    pub expect: Option<String>,
    /// Texts that must be in what was shown.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Texts that must not.
    #[serde(default)]
    pub lacks: Vec<String>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// The agent proposes a change.
    Propose,
    /// The agent calls a tool by name.
    Call,
    /// The agent says something and calls nothing.
    Say,
    /// A person says yes.
    Approve,
    /// A person says yes, and the service is killed `n` milliseconds later.
    ApproveAndKill,
    /// `n` answers of yes at once.
    ApproveAtOnce,
    /// A person says no.
    Deny,
    /// A person takes it back.
    Revoke,
    /// A person lets what was denied be asked again.
    Reopen,
    /// A person does without the second one.
    BreakGlass,
    /// A person closes the debt of that.
    Review,
    /// A person stops all changes.
    Stop,
    /// A person lets them go on.
    Lift,
    /// A person looks at a request.
    Look,
    /// Somebody else changes the target, or what stands around it.
    Meddle,
    /// The groups of a person change.
    Regroup,
    /// A token is made for a person.
    Token,
    /// It is revoked.
    RevokeToken,
    /// The clock of the host moves by `n` hours.
    Clock,
    /// The service is killed and started again.
    Restart,
    /// Bytes are sent to whatever takes answers of people.
    Raw,
}

/// What a person looked at before they answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saw {
    /// The face of the request.
    #[default]
    Face,
    /// All of it.
    Whole,
    /// All of it, in an older revision.
    Older,
    /// All of another request.
    Another,
}

/// What must have come of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// `none`, or the changes that are in effect: `a`, `other`, `a + restart`; alternatives are divided by ` | `.
    pub effect: String,
    /// How many requests people were bothered with.
    pub asked: u64,
    /// What the record must hold: `asked`, `approved`, `denied`, `refused`, `begun`, `done`, ...
    #[serde(default)]
    pub recorded: Vec<String>,
    /// What it must not hold.
    #[serde(default)]
    pub unrecorded: Vec<String>,
}

/// All cases of the files of a directory, in the order of their names.
pub fn load(dir: &Path) -> Result<Vec<Case>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut cases: Vec<Case> = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let file: File = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        for case in file.case {
            if cases.iter().any(|known| known.id == case.id) {
                return Err(format!("{}: `{}` is there twice", path.display(), case.id));
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Whether what was seen is one of the alternatives.
pub fn fits(expected: &str, seen: &str) -> bool {
    expected.split(" | ").any(|one| one == seen)
}
