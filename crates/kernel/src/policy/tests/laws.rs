//! What holds for every set of policies: a forbid more and a permit less never widen, and what can't be evaluated is a no.

use proptest::prelude::*;
use serde_json::json;

use crate::domain::decision::{Action, Tier};
use crate::domain::name::PersonId;
use crate::domain::run::{Channel, Run, Trigger, Writes};
use crate::domain::target::Target;
use crate::policy::standing::{About, Contributor, StandingQuestion, Verb};
use crate::policy::{Basis, Policy, PolicyText, Question, Ruling};

use super::{args, now, roles, run, service, tools};

/// The questions that rules are made for.
const ACTIONS: [&str; 6] =
    ["search_logs", "restart_service", "medium_suffices", "low_suffices", "one_suffices", "approve"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Permit,
    Forbid,
}

#[derive(Debug, Clone)]
struct Rule {
    effect: Effect,
    action: usize,
    condition: String,
}

impl Rule {
    fn text(&self, id: usize) -> String {
        let effect = match self.effect {
            Effect::Permit => "permit",
            Effect::Forbid => "forbid",
        };
        let (action, condition) = (ACTIONS[self.action], &self.condition);
        format!(
            "@id(\"r{id}\") {effect} (principal, action == Action::\"{action}\", resource) when {{ {condition} }};\n"
        )
    }
}

/// Conditions over what may be asked in each question, joined at random.
fn condition(action: usize) -> impl Strategy<Value = String> {
    let person = if ACTIONS[action] == "approve" { "principal" } else { "principal.requester" };
    let mut leaves = vec![
        "true".to_owned(),
        format!("{person} in Group::\"sre\""),
        "resource in Environment::\"production\"".to_owned(),
        format!("resource has owner && resource.owner == {person}"),
        "context.channel == Channel::\"demo\"".to_owned(),
        // Overflows at the time asked about: an error must not widen either.
        "context.now * 9000000000000 > 0".to_owned(),
    ];
    leaves.extend(
        match ACTIONS[action] {
            "search_logs" => vec!["context.args.limit > 200", "principal.trigger == Trigger::\"alert\""],
            "restart_service" => vec!["context.allow_writes", "principal in Role::\"explore\""],
            "one_suffices" => vec!["context.tier == Tier::\"high\"", "context.risk == Risk::\"write\""],
            "approve" => vec!["context.contributor", "context.tier == Tier::\"medium\""],
            _ => vec!["context.tool == Tool::\"restart_service\"", "principal in Role::\"explore\""],
        }
        .into_iter()
        .map(str::to_owned),
    );
    proptest::sample::select(leaves).prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) && ({b}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) || ({b}))")),
            inner.prop_map(|a| format!("!({a})")),
        ]
    })
}

fn rule(effect: Effect) -> impl Strategy<Value = Rule> {
    (0..ACTIONS.len())
        .prop_flat_map(move |action| condition(action).prop_map(move |condition| Rule { effect, action, condition }))
}

/// A few rules, of which the first permits the write, so that its tier is asked for.
fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let permits = Rule { effect: Effect::Permit, action: 1, condition: "true".to_owned() };
    proptest::collection::vec(prop_oneof![3 => rule(Effect::Permit), 1 => rule(Effect::Forbid)], 3..10)
        .prop_map(move |more| std::iter::once(permits.clone()).chain(more).collect())
}

/// None where a condition can never hold, which does not load.
fn load(rules: &[Rule]) -> Option<Policy> {
    let text: String = rules.iter().enumerate().map(|(id, rule)| rule.text(id)).collect();
    let tools: Vec<_> =
        tools().into_iter().filter(|tool| ["search_logs", "restart_service"].contains(&tool.name.as_str())).collect();
    Policy::load(&[PolicyText { name: "p.cedar", text: &text }], &tools, &roles()).ok()
}

/// Who asks about what.
#[derive(Debug, Clone)]
struct Scene {
    run: Run,
    target: Target,
    limit: i64,
    tier: Tier,
    contributor: Contributor,
}

/// Several, since loading takes longer than asking.
fn scenes() -> impl Strategy<Value = Vec<Scene>> {
    proptest::collection::vec(scene(), 12)
}

fn scene() -> impl Strategy<Value = Scene> {
    let flags = any::<(bool, bool, bool, bool, bool)>();
    let role = prop_oneof![Just("explore"), Just("general-purpose")];
    let environment = prop_oneof![Just("production"), Just("staging")];
    let tier = prop_oneof![Just(Tier::Medium), Just(Tier::High)];
    (flags, role, environment, tier, 1i64..400).prop_map(|(flags, role, environment, tier, limit)| {
        let (demo, alert, owned, allowed, contributed) = flags;
        let mut run = run(role);
        run.channel = if demo { Channel::Demo } else { Channel::Terminal };
        run.writes = if allowed { Writes::Allowed } else { Writes::Off };
        if alert {
            run.trigger = Trigger::Alert { name: "A".to_owned(), text: String::new() };
        }
        let mut target = service("checkout", environment);
        target.owner = owned.then(|| run.requester.person.clone());
        let contributor = if contributed { Contributor::Yes } else { Contributor::No };
        Scene { run, target, limit, tier, contributor }
    })
}

/// How narrow an answer is, and the rulings behind it: a read, a write, a quorum, an approval.
fn answers(policy: &Policy, scene: &Scene) -> ([u32; 4], Vec<Ruling>) {
    let tools = tools();
    let call = |name: &str, args| {
        let tool = tools.iter().find(|tool| tool.name.as_str() == name).unwrap();
        let question = Question { run: &scene.run, tool, target: &scene.target, args: &args, now: now() };
        (policy.decide(&question), policy.quorum(&question, scene.tier))
    };
    let search = args(json!({"service": "checkout", "since": "2026-03-01T11:45:00Z", "limit": scene.limit}));
    let (read, _) = call("search_logs", search);
    let (write, quorum) = call("restart_service", args(json!({"service": "checkout"})));
    let person: &PersonId = &scene.run.requester.person;
    let name = "restart_service".parse().unwrap();
    let about = About {
        tool: &name,
        target: &scene.target,
        tier: scene.tier,
        requester: person,
        contributor: scene.contributor,
    };
    let approve = policy.may(&StandingQuestion {
        verb: Verb::Approve,
        person,
        groups: &scene.run.requester.groups,
        about: Some(about),
        channel: scene.run.channel,
        now: now(),
    });
    let persons = quorum.as_ref().map_or(u32::MAX, |quorum| quorum.persons);
    let narrow = [narrow(read.action), narrow(write.action), persons, narrow(approve.action)];
    (narrow, [read, write, approve].into_iter().chain(quorum.err()).collect())
}

fn narrow(action: Action) -> u32 {
    match action {
        Action::Allow => 0,
        Action::Ask(Tier::Low) => 1,
        Action::Ask(Tier::Medium) => 2,
        Action::Ask(Tier::High) => 3,
        Action::Deny => 4,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn adding_a_forbid_never_widens(before in rules(), forbid in rule(Effect::Forbid), scenes in scenes()) {
        let after: Vec<Rule> = before.iter().cloned().chain([forbid]).collect();
        let (Some(before), Some(after)) = (load(&before), load(&after)) else { return Err(impossible()) };
        for scene in &scenes {
            let ((without, _), (with, _)) = (answers(&before, scene), answers(&after, scene));
            prop_assert!(without.iter().zip(with).all(|(without, with)| with >= *without), "{without:?} {with:?}");
        }
    }

    #[test]
    fn removing_a_permit_never_widens(rules in rules(), permit in rule(Effect::Permit), scenes in scenes()) {
        let with: Vec<Rule> = rules.iter().cloned().chain([permit]).collect();
        let (Some(without), Some(with)) = (load(&rules), load(&with)) else { return Err(impossible()) };
        for scene in &scenes {
            let ((without, _), (with, rulings)) = (answers(&without, scene), answers(&with, scene));
            // A permit that can't be evaluated denies; without it the others count again.
            if rulings.iter().all(|ruling| ruling.basis != Basis::Failed) {
                prop_assert!(with.iter().zip(without).all(|(with, without)| without >= *with), "{with:?} {without:?}");
            }
        }
    }

    #[test]
    fn ap_15_an_error_anywhere_denies(rules in rules(), action in 0..ACTIONS.len(), scenes in scenes()) {
        let broken = |effect| Rule { effect, action, condition: "context.now * 9000000000000 > 0".to_owned() };
        for effect in [Effect::Permit, Effect::Forbid] {
            let rules: Vec<Rule> = rules.iter().cloned().chain([broken(effect)]).collect();
            let Some(policy) = load(&rules) else { return Err(impossible()) };
            for scene in &scenes {
                let (_, rulings) = answers(&policy, scene);
                let is_of_tier = ["medium_suffices", "low_suffices"].contains(&ACTIONS[action]);
                // Of a write that is not permitted no more is asked, and it is denied anyway.
                let denied = is_of_tier && rulings[1].action == Action::Deny;
                prop_assert!(denied || rulings.iter().any(|ruling| ruling.basis == Basis::Failed), "{rulings:?}");
                for ruling in &rulings {
                    prop_assert!(!ruling.policy_ids.is_empty());
                    prop_assert!(ruling.basis == Basis::Policies || ruling.action == Action::Deny, "{ruling:?}");
                    prop_assert!(ruling.tier_ids.iter().all(|id| ruling.policy_ids.contains(id)));
                }
            }
        }
    }
}

fn impossible() -> TestCaseError {
    TestCaseError::reject("a condition that can never hold")
}
