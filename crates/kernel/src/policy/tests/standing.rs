//! Who may approve, take back, stop.

use crate::domain::decision::{Action, Tier};
use crate::domain::name::PersonId;
use crate::domain::run::Channel;
use crate::domain::target::Target;
use crate::policy::standing::{About, Contributor, StandingQuestion, Verb};
use crate::policy::{Basis, DEFAULT_DENY, Policy, PolicyText, Ruling};

use super::{now, policy, service};

struct Asks<'a> {
    person: &'a str,
    groups: &'a [&'a str],
    tier: Tier,
    contributor: Contributor,
    target: Target,
}

fn asks<'a>(person: &'a str, groups: &'a [&'a str]) -> Asks<'a> {
    Asks { person, groups, tier: Tier::High, contributor: Contributor::No, target: service("checkout", "production") }
}

/// The requester is `ann@example.org`, in all of them.
fn may(policy: &Policy, verb: Verb, asks: &Asks<'_>) -> Ruling {
    let (person, requester): (PersonId, PersonId) = (asks.person.parse().unwrap(), "ann@example.org".parse().unwrap());
    let groups: Vec<String> = asks.groups.iter().map(|group| (*group).to_owned()).collect();
    let tool = "restart_service".parse().unwrap();
    let about = About {
        tool: &tool,
        target: &asks.target,
        tier: asks.tier,
        requester: &requester,
        contributor: asks.contributor,
    };
    policy.may(&StandingQuestion {
        verb,
        person: &person,
        groups: &groups,
        about: verb.is_about_a_write().then_some(about),
        channel: Channel::Terminal,
        now: now(),
    })
}

/// Whether each of the verbs is theirs, in the order of [`Verb::ALL`].
fn rights(policy: &Policy, asks: &Asks<'_>) -> String {
    let yes = Verb::ALL.iter().filter(|verb| may(policy, **verb, asks).action == Action::Allow);
    yes.map(|verb| verb.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn who_may_do_what_at_each_tier() {
    let policy = policy(&[]);
    let mut lines = Vec::new();
    for tier in [Tier::Medium, Tier::High] {
        for contributor in [Contributor::No, Contributor::Yes] {
            for (person, groups) in [
                ("bob@example.org", &[][..]),
                ("bob@example.org", &["oncall"]),
                ("bob@example.org", &["breakglass"]),
                ("bob@example.org", &["auditors"]),
                ("owner@example.org", &[]),
                ("ann@example.org", &[]),
                ("ann@example.org", &["oncall"]),
            ] {
                let mut asks = Asks { tier, contributor, ..asks(person, groups) };
                asks.target.owner = Some("owner@example.org".parse().unwrap());
                let name = person.split('@').next().unwrap();
                let line = format!("{} {contributor:?} {name} {groups:?}", tier.as_str());
                lines.push(format!("{line}: {}", rights(&policy, &asks)));
            }
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    medium No bob []: stop_writes
    medium No bob ["oncall"]: approve deny reopen revoke review resolve stop_writes lift_stop
    medium No bob ["breakglass"]: break_glass stop_writes
    medium No bob ["auditors"]: stop_writes seal
    medium No owner []: approve deny reopen revoke review resolve stop_writes
    medium No ann []: approve deny revoke stop_writes
    medium No ann ["oncall"]: approve deny reopen revoke review resolve stop_writes lift_stop
    medium Yes bob []: deny revoke stop_writes
    medium Yes bob ["oncall"]: approve deny reopen revoke resolve stop_writes lift_stop
    medium Yes bob ["breakglass"]: deny revoke break_glass stop_writes
    medium Yes bob ["auditors"]: deny revoke stop_writes seal
    medium Yes owner []: approve deny reopen revoke resolve stop_writes
    medium Yes ann []: approve deny revoke stop_writes
    medium Yes ann ["oncall"]: approve deny reopen revoke resolve stop_writes lift_stop
    high No bob []: stop_writes
    high No bob ["oncall"]: approve deny reopen revoke review resolve stop_writes lift_stop
    high No bob ["breakglass"]: break_glass stop_writes
    high No bob ["auditors"]: stop_writes seal
    high No owner []: approve deny reopen revoke review resolve stop_writes
    high No ann []: deny revoke stop_writes
    high No ann ["oncall"]: deny revoke review resolve stop_writes lift_stop
    high Yes bob []: deny revoke stop_writes
    high Yes bob ["oncall"]: deny revoke resolve stop_writes lift_stop
    high Yes bob ["breakglass"]: deny revoke break_glass stop_writes
    high Yes bob ["auditors"]: deny revoke stop_writes seal
    high Yes owner []: deny revoke resolve stop_writes
    high Yes ann []: deny revoke stop_writes
    high Yes ann ["oncall"]: deny revoke resolve stop_writes lift_stop
    "#);
}

#[test]
fn ap_06_whoever_had_a_part_never_approves_at_high_whatever_else_is_permitted() {
    let more = PolicyText {
        name: "ops.cedar",
        text: "@id(\"all\") permit (principal, action in [Action::\"approve\", Action::\"reopen\"], resource);",
    };
    let mut asks = asks("ann@example.org", &["oncall", "sre"]);
    asks.contributor = Contributor::Yes;
    let ruling = may(&policy(&[more]), Verb::Approve, &asks);
    assert_eq!((ruling.action, ruling.policy_ids), (Action::Deny, vec!["no-contributor-at-high".to_owned()]));
    assert_eq!(ruling.reason, "at the high tier nobody decides who had a part in it");
    // Whoever asked had a part in it, whatever else was found.
    asks.contributor = Contributor::No;
    assert_eq!(may(&policy(&[more]), Verb::Approve, &asks).action, Action::Deny);
    asks.person = "bob@example.org";
    assert_eq!(may(&policy(&[more]), Verb::Approve, &asks).action, Action::Allow);
}

#[test]
fn ap_21_the_glass_is_not_broken_for_what_is_restricted() {
    let mut asks = asks("bob@example.org", &["breakglass"]);
    assert_eq!(may(&policy(&[]), Verb::BreakGlass, &asks).action, Action::Allow);
    asks.target = service("ledger", "restricted");
    let ruling = may(&policy(&[]), Verb::BreakGlass, &asks);
    assert_eq!((ruling.action, ruling.policy_ids), (Action::Deny, vec!["no-broken-glass-in-restricted".to_owned()]));
}

#[test]
fn ap_15_what_can_not_be_asked_or_evaluated_is_a_no() {
    let broken = PolicyText {
        name: "bad.cedar",
        text: "@id(\"broken\") forbid (principal, action == Action::\"approve\", resource)\n\
               when { context.now * 9223372036854775807 < 0 };",
    };
    let ruling = may(&policy(&[broken]), Verb::Approve, &asks("bob@example.org", &["oncall"]));
    assert_eq!((ruling.action, ruling.basis), (Action::Deny, Basis::Failed));
    assert_eq!(ruling.policy_ids, ["broken"]);

    let person = "bob@example.org".parse().unwrap();
    let groups = ["oncall".to_owned()];
    let (target, requester) = (service("checkout", "staging"), "ann@example.org".parse().unwrap());
    let gone = "no_such_tool".parse().unwrap();
    let restart = "restart_service".parse().unwrap();
    let about =
        |tool| About { tool, target: &target, tier: Tier::High, requester: &requester, contributor: Contributor::No };
    for (verb, about) in
        [(Verb::Approve, None), (Verb::Approve, Some(about(&gone))), (Verb::StopWrites, Some(about(&restart)))]
    {
        let channel = Channel::Terminal;
        let question = StandingQuestion { verb, person: &person, groups: &groups, about, channel, now: now() };
        let ruling = policy(&[]).may(&question);
        assert_eq!((ruling.action, ruling.basis), (Action::Deny, Basis::Failed), "{verb:?}");
        assert_eq!(ruling.policy_ids, [DEFAULT_DENY]);
    }
}
