//! One write call through all seven stages, with a double at each seam: the tool, the people, who is who, the clock.
//!
//! `cargo run --example one_call`. Real are the stages, the policies that ship, and the ledger; the lamp is not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::definition::{Definition, DefinitionFile, Definitions, LoadContext, Standing as Source};
use warrant_kernel::call::execute::AtOnce;
use warrant_kernel::call::gate::approver::{Approver, Ballot};
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::exhibit::SoFar;
use warrant_kernel::call::gate::grounds::Grounds;
use warrant_kernel::call::gate::sequencer::rules::Rules;
use warrant_kernel::call::gate::sequencer::shown::Limits;
use warrant_kernel::call::gate::sequencer::{Parts, Sequencer};
use warrant_kernel::call::gate::vote::{Claim, Claimant, Proof, Whole};
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::gate::{Gate, Writes};
use warrant_kernel::call::record::NotKept;
use warrant_kernel::call::registry::{Code, Registry};
use warrant_kernel::call::tool::{Arguments, Clock, EvidencePage, EvidencePages, Problem, ReadError, Services};
use warrant_kernel::call::write::{Effect, Held, Looking, Probed, Verdict, WriteError, WriteTool};
use warrant_kernel::call::{Desk, carry_out};
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::domain::event::{Call, Caller};
use warrant_kernel::domain::name::{CallId, EvidenceId, PersonId, RoleName, ServiceName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::plan::{Facts, Plan, Preview};
use warrant_kernel::domain::result::{Origin, ToolResult};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes as MayWrite};
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::ledger::{Ledger, Options};
use warrant_kernel::people::directory::{Directory, DirectoryError, Freshness, Standing};
use warrant_kernel::policy::{Policy, PolicyText};
use warrant_kernel::redact::{RedactionKey, Redactor};

/// What the tool is, as data.
const TOOL: &str = r#"
name = "switch_lamp"
version = 1
description = "Switches the lamp of a service."
risk = "write"
roles = ["general-purpose"]
parallel_safe = false
timeout = "5s"
output = { max_chars = 2000, keep = "full" }
target = { kind = "service", arg = "service" }
side_effects = ["the lamp is switched"]
run = "builtin"

[args.service]
type = "service"
required = true
description = "Which."
"#;

/// One confirmation is enough for a lamp.
const POLICY: &str = r#"
@id("lamps")
@reason("a lamp is switched with one confirmation")
permit (principal in Role::"general-purpose", action in Action::"write", resource);
@id("lamps-medium")
@reason("a lamp is switched with one confirmation")
permit (principal, action == Action::"medium_suffices", resource);
@id("lamps-one")
@reason("one person is enough")
permit (principal, action == Action::"one_suffices", resource);
@id("anybody-approves")
@reason("whoever is here may approve")
permit (principal, action == Action::"approve", resource);
"#;

/// The tool: it says what would happen, and does it when it is handed a warrant.
struct Lamp(Arc<AtomicBool>);

impl Lamp {
    fn facts(&self) -> Facts {
        Facts::from([("lit".to_owned(), self.0.load(Ordering::SeqCst).to_string())])
    }
}

#[async_trait]
impl WriteTool for Lamp {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let name = args.text("service").unwrap_or_default();
        let no = |error: String| vec![Problem::of("service", error)];
        Ok(Target {
            kind: TargetKind::Service,
            name: name.to_owned(),
            service: Some(name.parse().map_err(|error| no(format!("{error}")))?),
            environment: None,
            owner: None,
            source: "lamps".parse().map_err(|error| no(format!("{error}")))?,
        })
    }

    async fn preview(&self, _args: &Arguments, target: &Target, _: Looking<'_>) -> Result<Preview, WriteError> {
        Ok(Preview {
            effect: format!("lights the lamp of `{}`", target.name),
            bound: self.facts(),
            shown: Facts::new(),
            diff: Vec::new(),
            notes: Vec::new(),
            floor: None,
        })
    }

    async fn write(&self, warrant: Warrant, _: Looking<'_>) -> Result<Effect, WriteError> {
        let plan = warrant.spend();
        if plan.preview.bound != self.facts() {
            let message = "somebody else switched it meanwhile".to_owned();
            return Err(WriteError::Refused { reason: "CHANGED", message });
        }
        self.0.store(true, Ordering::SeqCst);
        let output = Output::lines(Origin::Warrant, serde_json::Map::new(), Vec::new());
        Ok(Effect { after: self.facts(), side_effects: vec!["the lamp is lit".to_owned()], output, undo: None })
    }

    async fn probe(&self, _plan: &Plan, _: Looking<'_>) -> Probed {
        Probed::CantTell { because: "a lamp does not remember who lit it".to_owned() }
    }

    async fn verify(&self, _plan: &Plan, _effect: &Effect, _: Looking<'_>) -> Verdict {
        let held = if self.0.load(Ordering::SeqCst) { Held::Held } else { Held::Failed };
        Verdict { held, because: "looked at the lamp".to_owned(), facts: self.facts() }
    }
}

/// The person at hand: shows the card's effect, and says yes.
struct Ann;

#[async_trait]
impl Approver for Ann {
    async fn attend(&self, card: &Card, ballot: &Ballot<'_>) {
        println!("{} ({}): {}", card.approval, card.tier.as_str(), card.effect);
        let Ok(person) = "ann".parse() else { return };
        let claim = Claim {
            by: Claimant { person, proof: Proof::Demo },
            revision: card.revision,
            digest_prefix: card.digest_prefix.clone(),
            whole: Whole::Opened,
        };
        match ballot.vote(&claim).await {
            Ok(tally) => println!("ann says yes: {tally:?}"),
            Err(objection) => println!("ann's yes does not count: {objection}"),
        }
    }
}

/// Who is who: everybody is here, in no group.
struct Everybody;

#[async_trait]
impl Directory for Everybody {
    async fn standing(&self, _: &PersonId, _: Freshness) -> Result<Standing, DirectoryError> {
        Ok(Standing { groups: Vec::new(), active: true, human: true })
    }
}

/// A clock that stands.
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// The services there are.
struct OneService;

impl Services for OneService {
    fn names(&self) -> Vec<ServiceName> {
        "orders".parse().into_iter().collect()
    }
}

/// No earlier evidence.
struct NoEvidence;

#[async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// Carries out one write call over a ledger in `dir`; its result, and whether the lamp is lit.
///
/// # Errors
/// Where the parts do not fit together.
pub async fn one_call(dir: &std::path::Path) -> anyhow::Result<(ToolResult, bool)> {
    let role: RoleName = "general-purpose".parse()?;
    let roles = BTreeSet::from([role.clone()]);
    let context = LoadContext { http_sources: &BTreeSet::new(), roles: &roles };
    let file = DefinitionFile { name: "switch_lamp.toml", text: TOOL, standing: Source::BuiltIn };
    let definitions = Definitions::load([file], &context).map_err(|errors| anyhow::anyhow!("{errors:?}"))?;
    let policies = [PolicyText { name: "lamps.cedar", text: POLICY }];
    let tools = definitions.iter().map(Definition::tool);
    let policy = Policy::load(&policies, tools, &roles).map_err(|errors| anyhow::anyhow!("{errors:?}"))?;
    let lit = Arc::new(AtomicBool::new(false));
    let code: Arc<dyn WriteTool> = Arc::new(Lamp(Arc::clone(&lit)));
    let code = BTreeMap::from([("switch_lamp".parse()?, Code::Write(code))]);
    let registry = Registry::new(definitions, code).map_err(|errors| anyhow::anyhow!("{errors:?}"))?;
    let (registry, policy) = (Arc::new(registry), Arc::new(policy));
    let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), Vec::new())?;

    let store = dir.join("warrant.db");
    let database = Database::open(&store).await?;
    let options =
        Options::new(dir.join("key"), Arc::new(|| Timestamp::UNIX_EPOCH), "example".to_owned(), "0".to_owned());
    let random = Arc::clone(&options.random);
    let ledger = Ledger::open(&database, Lease::take(&store)?, options).await?;
    let sequencer = Sequencer::open(Parts {
        ledger: ledger.clone(),
        rules: Rules { registry: Arc::clone(&registry), policy: Arc::clone(&policy) },
        directory: Arc::new(Everybody),
        redactor: redactor.clone(),
        clock: Arc::new(Noon),
        random,
        limits: Limits::standard(),
    })
    .await?;
    sequencer.sweep().await?;

    let run = Run {
        investigation: "example".parse()?,
        trigger: Trigger::Question { text: "is it dark around orders?".to_owned() },
        requester: Requester { person: "ann".parse()?, groups: Vec::new() },
        role,
        channel: Channel::Demo,
        writes: MayWrite::Allowed,
        service: Some("orders".parse()?),
        since: Timestamp::UNIX_EPOCH,
        opened_at: Timestamp::UNIX_EPOCH,
    };
    let arguments = json!({ "service": "orders", "because": "nobody sees anything", "evidence": [] });
    let call = Call {
        id: CallId::nth(1),
        number: 1,
        tool: "switch_lamp".to_owned(),
        arguments: arguments.to_string(),
        by: Caller::Person,
    };
    let writes = Writes {
        sequencer: &sequencer,
        approver: &Ann,
        seen: &[],
        grounds: &Grounds::none(),
        contributors: &[],
        so_far: &SoFar::nothing(),
    };
    let desk = Desk {
        registry: &registry,
        services: &OneService,
        policy: &policy,
        redactor: &redactor,
        run: &run,
        evidence: &NoEvidence,
        conduct: &AtOnce,
        recorder: &NotKept,
        gate: Gate::Open(writes),
        now: Timestamp::UNIX_EPOCH,
        cancel: &CancellationToken::new(),
    };
    let result = carry_out(desk, &call).await;
    drop(sequencer);
    ledger.shut().await;
    database.close().await;
    Ok((result, lit.load(Ordering::SeqCst)))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let dir = tempfile::tempdir().context("a directory for the ledger")?;
    let (result, lit) = one_call(dir.path()).await?;
    println!("{}", serde_json::to_string_pretty(&result.for_model())?);
    println!("the lamp is lit: {lit}");
    Ok(())
}
