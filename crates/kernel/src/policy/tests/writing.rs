//! Rulings on writes: whether they are permitted, and how much they take.

use serde_json::{Map, Value, json};

use crate::domain::decision::{Action, Tier};
use crate::domain::run::{Run, Writes};
use crate::domain::target::Target;
use crate::policy::{Basis, DEFAULT_DENY, Policy, PolicyText, Question, Ruling};

use super::{args, decide, now, path, policy, run, service, tools};

fn writer() -> Run {
    let mut run = run("general-purpose");
    run.writes = Writes::Allowed;
    run
}

fn file(environment: &str) -> Target {
    let mut file = path("shop:etc/app.toml");
    file.service = Some("checkout".parse().unwrap());
    file.environment = Some(environment.parse().unwrap());
    file
}

fn edit() -> Map<String, Value> {
    args(json!({"path": "shop:etc/app.toml", "new_string": "pool = 8"}))
}

fn told(ruling: &Ruling) -> String {
    format!(
        "{:?} by {}; tier by {}: {}",
        ruling.action,
        ruling.policy_ids.join(" "),
        ruling.tier_ids.join(" "),
        ruling.reason
    )
}

fn with(text: &str) -> Policy {
    policy(&[PolicyText { name: "ops.cedar", text }])
}

#[test]
fn how_much_the_shipped_writes_take() {
    let policy = policy(&[]);
    let restart = args(json!({"service": "checkout"}));
    let silence = args(json!({"service": "checkout", "duration": "1h"}));
    let restore = args(json!({"path": "shop:etc/app.toml"}));
    let drain = args(json!({"node": "n1"}));
    let mut lines = Vec::new();
    for environment in ["staging", "production"] {
        for (tool, target, args) in [
            ("edit_temp_config", file(environment), &edit()),
            ("edit_config", file(environment), &edit()),
            ("restore_config", file(environment), &restore),
            ("create_silence", service("checkout", environment), &silence),
            ("restart_service", service("checkout", environment), &restart),
            ("drain_node", service("checkout", environment), &drain),
        ] {
            lines.push(format!("{environment} {tool}: {}", told(&decide(&policy, &writer(), tool, &target, args))));
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    staging edit_temp_config: Ask(Low) by low-for-temporary-config writes-by-role; tier by low-for-temporary-config: this role may propose changes; a file that its owner lists as temporary is changed without asking, and recorded
    staging edit_config: Ask(Medium) by medium-for-config-and-silences writes-by-role; tier by medium-for-config-and-silences: this role may propose changes; a change that can be taken back takes one confirmation
    staging restore_config: Ask(Medium) by medium-for-config-and-silences writes-by-role; tier by medium-for-config-and-silences: this role may propose changes; a change that can be taken back takes one confirmation
    staging create_silence: Ask(Medium) by medium-for-config-and-silences writes-by-role; tier by medium-for-config-and-silences: this role may propose changes; a change that can be taken back takes one confirmation
    staging restart_service: Ask(High) by writes-by-role; tier by : this role may propose changes; no policy says that less than high suffices
    staging drain_node: Ask(High) by writes-by-role; tier by : this role may propose changes; no policy says that less than high suffices
    production edit_temp_config: Ask(Medium) by medium-for-config-and-silences production-is-asked writes-by-role; tier by medium-for-config-and-silences production-is-asked: this role may propose changes; a change that can be taken back takes one confirmation; in production nothing is changed without asking
    production edit_config: Ask(High) by production-is-reviewed writes-by-role; tier by production-is-reviewed: this role may propose changes; in production a change is reviewed by another person
    production restore_config: Ask(High) by production-is-reviewed writes-by-role; tier by production-is-reviewed: this role may propose changes; in production a change is reviewed by another person
    production create_silence: Ask(High) by production-is-reviewed writes-by-role; tier by production-is-reviewed: this role may propose changes; in production a change is reviewed by another person
    production restart_service: Ask(High) by production-is-reviewed writes-by-role; tier by production-is-reviewed: this role may propose changes; in production a change is reviewed by another person
    production drain_node: Ask(High) by production-is-reviewed writes-by-role; tier by production-is-reviewed: this role may propose changes; in production a change is reviewed by another person
    ");
}

#[test]
fn writes_are_off_until_they_are_allowed_and_explore_only_looks() {
    let policy = policy(&[]);
    let off = run("general-purpose");
    let mut explore = run("explore");
    explore.writes = Writes::Allowed;
    let mut intern = run("intern");
    intern.writes = Writes::Allowed;
    let lines =
        [off, explore, intern].map(|run| told(&decide(&policy, &run, "edit_config", &file("staging"), &edit())));
    insta::assert_snapshot!(lines.join("\n"), @r"
    Deny by writes-are-off; tier by : writes are off; set `allow = true` under `[writes]` in the config, or ask with `--allow-writes`
    Deny by explore-only-looks; tier by : the role `explore` only looks
    Deny by default-deny; tier by : no policy permits `edit_config` (write) for role `intern`
    ");
}

#[test]
fn ap_20_a_deny_wins_over_every_permit() {
    let policy = with(
        "@id(\"all\") permit (principal, action in Action::\"write\", resource);\n\
         @id(\"easy\") permit (principal, action in [Action::\"low_suffices\", Action::\"medium_suffices\"], resource);\n\
         @id(\"not-here\") forbid (principal, action in Action::\"write\", resource in Service::\"payments\");",
    );
    let low =
        decide(&policy, &writer(), "restart_service", &service("checkout", "staging"), &args(json!({"service": "x"})));
    assert_eq!(low.action, Action::Ask(Tier::Low));
    let denied =
        decide(&policy, &writer(), "restart_service", &service("payments", "staging"), &args(json!({"service": "x"})));
    assert_eq!((denied.action, denied.policy_ids), (Action::Deny, vec!["not-here".to_owned()]));
    let off = decide(
        &policy,
        &run("general-purpose"),
        "restart_service",
        &service("checkout", "staging"),
        &args(json!({"service": "x"})),
    );
    assert_eq!((off.action, off.policy_ids), (Action::Deny, vec!["writes-are-off".to_owned()]));
}

#[test]
fn low_needs_no_word_on_medium_but_goes_where_medium_is_forbidden() {
    let low = "@id(\"low\") permit (principal, action == Action::\"low_suffices\", resource);\n";
    let not_medium = "@id(\"not-medium\") forbid (principal, action == Action::\"medium_suffices\", resource);\n";
    let target = service("checkout", "staging");
    let of = |text: &str| decide(&with(text), &writer(), "restart_service", &target, &args(json!({"service": "x"})));
    let stated = of(low);
    assert_eq!((stated.action, stated.tier_ids), (Action::Ask(Tier::Low), vec!["low".to_owned()]));
    let forbidden = of(&format!("{low}{not_medium}"));
    assert_eq!((forbidden.action, forbidden.tier_ids), (Action::Ask(Tier::High), vec!["not-medium".to_owned()]));
    assert_eq!(forbidden.policy_ids, ["not-medium", "writes-by-role"]);
}

#[test]
fn a_policy_on_a_tier_may_ask_for_arguments() {
    let policy = with(
        "@id(\"pool\") permit (principal, action == Action::\"low_suffices\", resource)\n\
         when { context.args has edit_config && context.args.edit_config.new_string like \"pool = *\" };",
    );
    let of = |text: &str| {
        let args = args(json!({"path": "shop:etc/app.toml", "new_string": text}));
        decide(&policy, &writer(), "edit_config", &file("staging"), &args).action
    };
    assert_eq!([of("pool = 8"), of("rm")], [Action::Ask(Tier::Low), Action::Ask(Tier::Medium)]);
}

#[test]
fn ap_15_an_error_in_any_of_the_questions_denies() {
    for action in ["Action::\"restart_service\"", "Action::\"medium_suffices\"", "Action::\"low_suffices\""] {
        for effect in ["permit", "forbid"] {
            let policy = with(&format!(
                "@id(\"broken\") {effect} (principal, action == {action}, resource)\n\
                 when {{ context.now * 9223372036854775807 < 0 }};"
            ));
            let ruling = decide(
                &policy,
                &writer(),
                "restart_service",
                &service("checkout", "staging"),
                &args(json!({"service": "x"})),
            );
            assert_eq!((ruling.action, ruling.basis), (Action::Deny, Basis::Failed), "{effect} {action}");
            assert_eq!(ruling.policy_ids, ["broken"]);
            assert_eq!(ruling.tier_ids, Vec::<String>::new());
        }
    }
}

#[test]
fn it_takes_two_unless_a_policy_says_that_one_suffices() {
    let tools = tools();
    let args = args(json!({"service": "x"}));
    let (run, target) = (writer(), service("checkout", "staging"));
    let of = |policy: &Policy, name: &str, tier: Tier| {
        let tool = tools.iter().find(|tool| tool.name.as_str() == name).unwrap();
        policy.quorum(&Question { run: &run, tool, target: &target, args: &args, now: now() }, tier)
    };
    let one = of(&policy(&[]), "restart_service", Tier::High).unwrap();
    assert_eq!((one.persons, one.policy_ids), (1, vec!["one-person-suffices".to_owned()]));
    let two = of(&policy(&[]), "fetch", Tier::High).unwrap();
    assert_eq!((two.persons, two.policy_ids), (2, vec![DEFAULT_DENY.to_owned()]));
    let strict = with(
        "@id(\"two-at-high\") forbid (principal, action == Action::\"one_suffices\", resource)\n\
         when { context.tier == Tier::\"high\" };",
    );
    let of_strict = |tier: Tier| of(&strict, "restart_service", tier).map(|quorum| quorum.persons);
    assert_eq!((of_strict(Tier::High), of_strict(Tier::Medium)), (Ok(2), Ok(1)));
    let broken = with(
        "@id(\"broken\") forbid (principal, action == Action::\"one_suffices\", resource)\n\
         when { context.now * 9223372036854775807 < 0 };",
    );
    assert_eq!(of(&broken, "restart_service", Tier::High).unwrap_err().basis, Basis::Failed);
}

#[test]
fn an_explanation_of_a_write_shows_all_three_answers() {
    let tools = tools();
    let tool = tools.iter().find(|tool| tool.name.as_str() == "edit_config").unwrap();
    let (run, target, args) = (writer(), file("production"), edit());
    let explained = policy(&[]).explain(&Question { run: &run, tool, target: &target, args: &args, now: now() });
    let lines: Vec<String> =
        explained.answers.iter().map(|it| format!("{}: {} {}", it.question, it.yes, it.policy_ids.join(" "))).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    edit_config: true writes-by-role
    medium_suffices: false production-is-reviewed
    low_suffices: false production-is-asked
    ");
    assert_eq!(explained.policies.len(), 2);
    assert_eq!(explained.request["action"], "Action::\"edit_config\"");
}
