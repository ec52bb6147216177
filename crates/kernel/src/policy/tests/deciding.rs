//! Rulings on calls, and explanations.

use serde_json::json;

use crate::domain::decision::Action;
use crate::domain::run::{Channel, Trigger, Writes};
use crate::policy::{Basis, DEFAULT_DENY, PolicyText, Question, cases};

use super::{CASES, args, decide, now, path, policy, run, search_args, service, tools};

#[test]
fn the_shipped_cases_hold() {
    let cases = cases::load(&PolicyText { name: "policies/tests.toml", text: CASES }).unwrap();
    assert!(cases.len() >= 40);
    assert_eq!(cases::run(&policy(&[]), &tools(), &cases), []);
}

#[test]
fn a_case_that_comes_out_otherwise_is_told_with_its_place() {
    let text = r#"
[[case]]
name = "wrong outcome"
role = "explore"
tool = "search_logs"
target = { kind = "service", name = "checkout" }
expect = "deny"

[[case]]
name = "wrong policy"
role = "explore"
tool = "search_logs"
target = { kind = "service", name = "checkout" }
expect = "allow"
by = ["another"]

[[case]]
name = "no such tool"
role = "explore"
tool = "search_log"
target = { kind = "service", name = "checkout" }
expect = "allow"

[[case]]
name = "a role that is not there fails, though it is denied"
role = "explorer"
tool = "search_logs"
target = { kind = "service", name = "checkout" }
expect = "deny"
"#;
    let cases = cases::load(&PolicyText { name: "tests.toml", text }).unwrap();
    let told: Vec<String> = cases::run(&policy(&[]), &tools(), &cases).iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    tests.toml:2: case `wrong outcome`: expected deny, and it is allow by `reads-by-role`: this role may read
    tests.toml:9: case `wrong policy`: expected `another` to decide, and it was `reads-by-role`
    tests.toml:17: case `no such tool`: there is no tool `search_log`
    tests.toml:24: case `a role that is not there fails, though it is denied`: policy could not be asked, so the answer is no: there is no role `explorer`
    ");
    let broken = PolicyText { name: "tests.toml", text: "[[case]]\nname = \"x\"\nrole = \"explore\"\nrol = 1\n" };
    insta::assert_snapshot!(cases::load(&broken).unwrap_err(), @"tests.toml:4: unknown field `rol`, expected one of `name`, `role`, `requester`, `groups`, `trigger`, `channel`, `allow_writes`, `tool`, `target`, `args`, `expect`, `quorum`, `by`");
}

#[test]
fn a_read_is_allowed_with_the_deciding_policy() {
    let ruling =
        decide(&policy(&[]), &run("explore"), "search_logs", &service("checkout", "production"), &search_args());
    insta::assert_debug_snapshot!(ruling, @r#"
    Ruling {
        action: Allow,
        reason: "this role may read",
        policy_ids: [
            "reads-by-role",
        ],
        tier_ids: [],
        basis: Policies,
    }
    "#);
}

#[test]
fn what_no_policy_permits_is_denied_by_default() {
    let policy = policy(&[]);
    let target = service("checkout", "production");
    let intern = decide(&policy, &run("intern"), "search_logs", &target, &search_args());
    insta::assert_debug_snapshot!(intern, @r#"
    Ruling {
        action: Deny,
        reason: "no policy permits `search_logs` (read) for role `intern`",
        policy_ids: [
            "default-deny",
        ],
        tier_ids: [],
        basis: NoPolicy,
    }
    "#);
    let mut run = run("general-purpose");
    run.writes = Writes::Allowed;
    for tool in ["run_shell", "fetch", "unknown_power"] {
        let ruling = decide(&policy, &run, tool, &target, &args(json!({})));
        assert_eq!((ruling.action, ruling.policy_ids), (Action::Deny, vec![DEFAULT_DENY.to_owned()]), "{tool}");
    }
}

#[test]
fn a_forbid_wins_and_gives_its_reason() {
    let mut demo = run("explore");
    demo.channel = Channel::Demo;
    let ruling = decide(&policy(&[]), &demo, "search_logs", &service("checkout", "production"), &search_args());
    assert_eq!(ruling.action, Action::Deny);
    assert_eq!(ruling.policy_ids, ["demo-stays-out-of-production"]);
    assert_eq!(ruling.reason, "the demo does not look at production");
}

#[test]
fn groups_owners_triggers_and_paths_decide() {
    let text = r#"
@id("not-secrets") forbid (principal, action, resource in Path::"shop/config/secrets");
@id("alerts-narrow") forbid (principal, action == Action::"search_logs", resource)
when { principal.trigger == Trigger::"alert" && context.args.limit > 100 };
@id("recent") forbid (principal, action == Action::"search_logs", resource)
when { context.now - context.args.since > 86400 };
@id("sre-only") forbid (principal, action == Action::"read_file", resource)
unless { principal.requester in Group::"sre" };
"#;
    let policy = policy(&[PolicyText { name: "more.cedar", text }]);
    let file = |name: &str, run: &crate::domain::run::Run| {
        decide(&policy, run, "read_file", &path(name), &args(json!({"path": name}))).policy_ids.join(" ")
    };
    let sre = run("general-purpose");
    assert_eq!(file("config/pool.toml", &sre), "reads-by-role");
    assert_eq!(file("config/secrets/db", &sre), "not-secrets");
    assert_eq!(file("./config//secrets/", &sre), "not-secrets");
    assert_eq!(file("shop:config/secrets/db", &sre), "not-secrets");
    assert_eq!(file("config/secrets-are-not-here", &sre), "reads-by-role");
    let mut other = sre.clone();
    other.requester.groups.clear();
    assert_eq!(file("config/pool.toml", &other), "sre-only");

    let checkout = service("checkout", "production");
    let mut alert = run("explore");
    alert.trigger = Trigger::Alert { name: "A".to_owned(), text: String::new() };
    assert_eq!(decide(&policy, &alert, "search_logs", &checkout, &search_args()).policy_ids, ["alerts-narrow"]);
    let old = args(json!({"service": "checkout", "since": "2026-02-01T00:00:00Z", "limit": 10}));
    assert_eq!(decide(&policy, &alert, "search_logs", &checkout, &old).policy_ids, ["recent"]);
}

#[test]
fn ap_15_any_evaluation_error_denies_and_names_the_policy() {
    // Overflows when evaluated; the validator can't know.
    let text = "@id(\"overflows\") forbid (principal, action == Action::\"search_logs\", resource)\n\
                when { context.args.limit * 9223372036854775807 < 0 };";
    let policy = policy(&[PolicyText { name: "bad.cedar", text }]);
    let ruling = decide(&policy, &run("explore"), "search_logs", &service("checkout", "staging"), &search_args());
    insta::assert_debug_snapshot!(ruling, @r#"
    Ruling {
        action: Deny,
        reason: "policy `overflows` could not be evaluated, so the answer is no",
        policy_ids: [
            "overflows",
        ],
        tier_ids: [],
        basis: Failed,
    }
    "#);
}

#[test]
fn a_question_that_does_not_fit_the_schema_is_denied() {
    let policy = policy(&[]);
    let target = service("checkout", "staging");
    let told = |run: &str, args: serde_json::Map<String, serde_json::Value>| {
        let ruling = decide(&policy, &crate::policy::tests::run(run), "search_logs", &target, &args);
        assert_eq!((ruling.action, ruling.basis), (Action::Deny, Basis::Failed));
        ruling.reason
    };
    let all = [
        told("unheard-of", search_args()),
        told("explore", args(json!({"limit": 1}))),
        told("explore", args(json!({"service": "checkout", "since": "yesterday", "limit": 1}))),
        told("explore", args(json!({"service": 7, "since": "2026-03-01T11:45:00Z", "limit": 1}))),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    policy could not be asked, so the answer is no: there is no role `unheard-of`
    policy could not be asked, so the answer is no: context `{allow_writes: false, args: {limit: 1}, channel: Channel::"terminal", now: 1772366400}` is not valid for `Action::"search_logs"`
    policy could not be asked, so the answer is no: the argument `since` has a wrong form
    policy could not be asked, so the answer is no: the argument `service` has a wrong form
    "#);
    let other = super::tool("unknown", crate::domain::decision::Risk::Read, target.kind, &[]);
    let question = Question { run: &run("explore"), tool: &other, target: &target, args: &args(json!({})), now: now() };
    assert_eq!(policy.decide(&question).basis, Basis::Failed);
    assert_eq!(
        decide(&policy, &run("explore"), "read_file", &path("a/../b"), &args(json!({"path": "a"}))).basis,
        Basis::Failed
    );
}

#[test]
fn an_explanation_shows_policies_request_and_entities() {
    let policy = policy(&[]);
    let (run, target, args) = (run("explore"), service("checkout", "staging"), search_args());
    let tools = tools();
    let explanation =
        policy.explain(&Question { run: &run, tool: &tools[0], target: &target, args: &args, now: now() });
    let source = &explanation.policies[0];
    assert_eq!((source.id.as_str(), source.file.as_str()), ("reads-by-role", "policies/reads.cedar"));
    assert!(super::SHIPPED[1].text.lines().nth(source.line - 1).unwrap().starts_with("@id(\"reads-by-role\")"));
    assert!(source.text.contains("permit (") && source.text.ends_with(';'), "{}", source.text);
    assert_eq!(explanation.request["resource"], "Service::\"checkout\"");
    assert_eq!(explanation.request["context"]["now"], now().as_second());
    assert!(explanation.entities.to_string().contains("ann@example.org"));
}
