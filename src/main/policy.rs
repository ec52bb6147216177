//! `warrant policy`.

use clap::{Args, Subcommand};
use serde_json::json;
use warrant::app::fault::{Fault, counted};
use warrant::app::policy::{self, Asked, Contributor, Explained};
use warrant::app::{App, print};
use warrant_kernel::domain::run::Writes;

use crate::flags::Json;

/// `warrant policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Load all policies strictly and run their tests.
    Check(Json),
    /// Say what policy would decide on a call, or on what a person wants to do, and which policies decide it.
    #[command(after_help = "\
Examples:
  warrant policy explain read_file --args '{\"path\": \"etc/app.toml\"}' \\
    --person alice --group oncall
  warrant policy explain stop_writes --person alice")]
    Explain(ExplainFlags),
}

/// `warrant policy explain`.
#[derive(Debug, Args)]
pub struct ExplainFlags {
    /// The tool; or what a person wants to do: `approve`, `deny`, `reopen`, `revoke`, `break_glass`, `review`, `resolve`,
    /// `stop_writes`, `lift_stop`, `seal`.
    what: String,
    /// For what a person wants to do: the tool of the write that it is about.
    #[arg(long)]
    tool: Option<String>,
    /// The tool's arguments as a JSON object.
    #[arg(long, default_value = "{}", value_name = "JSON")]
    args: String,
    /// The role that would call it.
    #[arg(long, default_value = "general-purpose")]
    role: String,
    /// The person on whose behalf, or who wants to do something; you, where none is named.
    #[arg(long)]
    person: Option<String>,
    /// A group that the person is in. May be repeated.
    #[arg(long = "group", requires = "person")]
    groups: Vec<String>,
    /// As if writes were allowed.
    #[arg(long)]
    allow_writes: bool,
    /// For what a person wants to do: the tier that is asked for, `low`, `medium` or `high`. [default: high]
    #[arg(long, requires = "tool")]
    tier: Option<String>,
    /// For what a person wants to do: on whose behalf the write is asked for; yours, where nobody is named.
    #[arg(long, requires = "tool", value_name = "PERSON")]
    requester: Option<String>,
    /// For what a person wants to do: they had a part in it.
    #[arg(long, requires = "tool")]
    contributor: bool,
    #[command(flatten)]
    json: Json,
}

/// Carries the command out.
pub async fn run(app: &App, command: PolicyCommand) -> Result<u8, Fault> {
    match command {
        PolicyCommand::Check(json) => Ok(check(app, json)),
        PolicyCommand::Explain(flags) => explain(app, flags).await,
    }
}

fn check(app: &App, json: Json) -> u8 {
    let checked = policy::check(app);
    if json.json {
        print::json(&checked);
    } else {
        for line in &checked.problems {
            print::line(line);
        }
        let cases = counted(checked.cases, "case");
        print::line(&format!("policies: {}; {cases}, {} to mend.", checked.policies, checked.problems.len()));
    }
    u8::from(!checked.problems.is_empty())
}

async fn explain(app: &App, flags: ExplainFlags) -> Result<u8, Fault> {
    let json = flags.json.json;
    let asked = Asked {
        what: flags.what,
        tool: flags.tool,
        arguments: flags.args,
        role: flags.role,
        person: flags.person,
        groups: flags.groups,
        writes: if flags.allow_writes { Writes::Allowed } else { Writes::Off },
        tier: flags.tier,
        requester: flags.requester,
        contributor: if flags.contributor { Contributor::Yes } else { Contributor::No },
    };
    let explained = policy::explain(app, &asked).await?;
    if json {
        as_json(&explained);
    } else {
        as_text(&explained);
    }
    Ok(0)
}

fn as_json(explained: &Explained) {
    let (ruling, explanation) = (&explained.explanation.ruling, &explained.explanation);
    let answers = explanation
        .answers
        .iter()
        .map(|it| json!({ "question": it.question, "yes": it.yes, "policy_ids": it.policy_ids }));
    let policies =
        explanation.policies.iter().map(|it| json!({ "id": it.id, "file": it.file, "line": it.line, "text": it.text }));
    let quorum = explained.quorum.as_ref().and_then(|quorum| quorum.as_ref().ok());
    print::json(&json!({
        "action": ruling.action, "reason": ruling.reason, "policy_ids": ruling.policy_ids, "tier_ids": ruling.tier_ids,
        "quorum": quorum.map(|it| json!({ "persons": it.persons, "policy_ids": it.policy_ids })),
        "answers": answers.collect::<Vec<_>>(), "target": explained.target,
        "policies": policies.collect::<Vec<_>>(), "errors": explanation.errors,
        "request": explanation.request, "entities": explanation.entities,
    }));
}

fn as_text(explained: &Explained) {
    let explanation = &explained.explanation;
    print::foreign(&format!("{:?}: {}", explanation.ruling.action, explanation.ruling.reason));
    if let Some(target) = &explained.target {
        print::foreign(&format!("target: {} {}", target.kind.as_str(), target.name));
    }
    for it in &explanation.answers {
        let answer = if it.yes { "yes" } else { "no" };
        let by = if it.policy_ids.is_empty() { "no policy says yes".to_owned() } else { it.policy_ids.join(", ") };
        print::foreign(&format!("{}: {answer} ({by})", it.question));
    }
    match &explained.quorum {
        Some(Ok(quorum)) => print::line(&format!("persons who must approve: {}", quorum.persons)),
        Some(Err(why)) => print::foreign(&format!("persons who must approve: {why}")),
        None => {}
    }
    for it in &explanation.policies {
        print::foreign(&format!("\n{}:{}  {}\n{}", it.file, it.line, it.id, it.text));
    }
    for error in &explanation.errors {
        print::foreign(error);
    }
}
