//! Laws.

use proptest::prelude::*;
use serde_json::json;

use crate::domain::decision::Action;
use crate::domain::run::{Channel, Trigger};
use crate::policy::{Basis, Policy, PolicyText};

use super::{SHIPPED, args, decide, roles, run, service, tools};

/// Conditions over everything a policy may ask, joined at random.
fn condition() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("principal in Role::\"explore\"".to_owned()),
        Just("principal.requester in Group::\"sre\"".to_owned()),
        Just("principal.trigger == Trigger::\"alert\"".to_owned()),
        Just("resource in Environment::\"production\"".to_owned()),
        Just("resource has owner && resource.owner == principal.requester".to_owned()),
        Just("context.channel == Channel::\"demo\"".to_owned()),
        (0i64..400).prop_map(|limit| format!("context.args.limit > {limit}")),
        // Overflows for some: an error must not widen either.
        (1i64..i64::MAX).prop_map(|factor| format!("context.args.limit * {factor} > 0")),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) && ({b}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) || ({b}))")),
            inner.prop_map(|a| format!("!({a})")),
        ]
    })
}

/// None where a condition can never hold, which does not load.
fn with(texts: &[String]) -> Option<Policy> {
    let all: Vec<PolicyText<'_>> =
        std::iter::once(SHIPPED[1]).chain(texts.iter().map(|text| PolicyText { name: "p.cedar", text })).collect();
    Policy::load(&all, &tools()[..1], &roles()).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn adding_a_forbid_never_widens(
        before in condition(),
        forbid in condition(),
        role in prop_oneof![Just("explore"), Just("general-purpose"), Just("intern")],
        environment in prop_oneof![Just("production"), Just("staging"), Just("restricted")],
        owned in any::<bool>(),
        demo in any::<bool>(),
        alert in any::<bool>(),
        limit in 1i64..400,
    ) {
        let rule = |id: &str, effect: &str, condition: &str| {
            format!("@id(\"{id}\") {effect} (principal, action == Action::\"search_logs\", resource) when {{ {condition} }};")
        };
        let base = rule("base", "permit", &before);
        let narrow = rule("narrow", "forbid", &forbid);
        let mut run = run(role);
        if demo {
            run.channel = Channel::Demo;
        }
        if alert {
            run.trigger = Trigger::Alert { name: "A".to_owned(), text: String::new() };
        }
        let mut target = service("checkout", environment);
        target.owner = owned.then(|| run.requester.person.clone());
        let args = args(json!({"service": "checkout", "since": "2026-03-01T11:45:00Z", "limit": limit}));
        let (before, after) = (with(std::slice::from_ref(&base)), with(&[base, narrow]));
        prop_assume!(before.is_some() && after.is_some());
        let without = decide(&before.unwrap(), &run, "search_logs", &target, &args);
        let with = decide(&after.unwrap(), &run, "search_logs", &target, &args);
        prop_assert!(without.action == Action::Allow || with.action == Action::Deny, "{without:?} {with:?}");
        for ruling in [&without, &with] {
            prop_assert!(!ruling.policy_ids.is_empty());
            prop_assert!(ruling.basis == Basis::Policies || ruling.action == Action::Deny);
        }
    }
}
