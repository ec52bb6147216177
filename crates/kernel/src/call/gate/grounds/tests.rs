//! Who named what, one source at a time: a word within another names nothing, and another tool's remedy is no remedy.

use serde_json::json;

use crate::call::gate::tests::world::{evidence, run};
use crate::domain::target::TargetKind;

use super::*;

fn target(name: &str, service: Option<&str>) -> Target {
    Target {
        kind: TargetKind::Service,
        name: name.to_owned(),
        service: service.map(|service| service.parse().unwrap()),
        environment: None,
        owner: None,
        source: "units".parse().unwrap(),
    }
}

fn remedy(tool: &str, arguments: &Value) -> Remedy {
    let arguments = arguments.as_object().unwrap().clone();
    Remedy { runbook: "pool".to_owned(), tool: tool.parse().unwrap(), arguments }
}

/// Who named the target `payments` and the argument `value` 16.
fn found(run: &Run, grounds: &Grounds, seen: &[&ToolResult]) -> (Ground, Ground) {
    let arguments = json!({ "value": "16" });
    let edit = "edit".parse().unwrap();
    let found = find(run, grounds, seen, &edit, arguments.as_object().unwrap(), &target("payments", Some("payments")));
    (found.target, found.arguments["value"].clone())
}

#[test]
fn a_word_within_another_names_nothing() {
    for (said, text, is_said) in [
        ("restart payments now", "payments", true),
        ("payments", "payments", true),
        ("\"payments\"", "payments", true),
        ("payments.", "payments", true),
        ("pay the bill", "payments", false),
        ("payments2", "payments", false),
        ("my-payments", "payments", false),
        ("payments_db", "payments", false),
        ("xpayments", "payments", false),
        ("payments_db and payments", "payments", true),
        ("anything", "", false),
        ("any thing", " ", false),
        ("größe", "größe", true),
        ("die größer", "größe", false),
    ] {
        assert_eq!(says(said, text), is_said, "{said:?} {text:?}");
    }
}

#[test]
fn people_name_what_they_ask_for_and_alerts_do_not() {
    let grounds = Grounds::none();
    assert_eq!(found(&run("set payments to 16"), &grounds, &[]), (Ground::Person, Ground::Person));
    assert_eq!(found(&run("why is it slow?"), &grounds, &[]), (Ground::Model, Ground::Model));
    let text = "set payments to 16".to_owned();
    let alert = Run { trigger: Trigger::Alert { name: "Slow".to_owned(), text: text.clone() }, ..run("") };
    assert_eq!(found(&alert, &grounds, &[]), (Ground::Model, Ground::Model));
    let steered = Grounds { steered: vec![text], ..Grounds::none() };
    assert_eq!(found(&alert, &steered, &[]), (Ground::Person, Ground::Person));
}

#[test]
fn the_service_of_the_trigger_and_its_neighbours_are_named_and_no_other() {
    let asked = |service: Option<&str>| Run { service: service.map(|name| name.parse().unwrap()), ..run("why?") };
    let none = Grounds::none();
    assert_eq!(found(&asked(Some("payments")), &none, &[]).0, Ground::Trigger);
    assert_eq!(found(&asked(Some("checkout")), &none, &[]).0, Ground::Model);
    assert_eq!(found(&asked(None), &none, &[]).0, Ground::Model);
    // Neither names a service: that they are alike is no word for it.
    let nameless = find(&asked(None), &none, &[], &"edit".parse().unwrap(), &Map::new(), &target("a file", None));
    assert_eq!(nameless.target, Ground::Model);
    let near = |name: &str| Grounds { neighbours: vec![name.parse().unwrap()], ..Grounds::none() };
    assert_eq!(found(&asked(None), &near("payments"), &[]).0, Ground::Catalog);
    assert_eq!(found(&asked(None), &near("vault"), &[]).0, Ground::Model);
    let named = |run: &Run, grounds: &Grounds| {
        let arguments = json!({ "service": "payments" });
        let edit = "edit".parse().unwrap();
        find(run, grounds, &[], &edit, arguments.as_object().unwrap(), &target("x", None)).arguments["service"].clone()
    };
    assert_eq!(named(&asked(Some("payments")), &none), Ground::Trigger);
    assert_eq!(named(&asked(Some("vault")), &none), Ground::Model);
    assert_eq!(named(&asked(None), &near("payments")), Ground::Catalog);
    assert_eq!(named(&asked(None), &near("vault")), Ground::Model);
}

#[test]
fn a_remedy_names_what_it_says_for_its_own_tool() {
    let with = |remedy: Remedy| Grounds { remedies: vec![remedy], ..Grounds::none() };
    let run = run("why?");
    let runbook = || Ground::Runbook("pool".to_owned());
    let own = with(remedy("edit", &json!({ "service": "payments", "value": "16" })));
    assert_eq!(found(&run, &own, &[]), (runbook(), runbook()));
    let others_tool = with(remedy("restart", &json!({ "service": "payments", "value": "16" })));
    assert_eq!(found(&run, &others_tool, &[]), (Ground::Model, Ground::Model));
    let others_value = with(remedy("edit", &json!({ "service": "vault", "value": "17" })));
    assert_eq!(found(&run, &others_value, &[]), (Ground::Model, Ground::Model));
    // The value stands there, under another name.
    let others_name = with(remedy("edit", &json!({ "service": "vault", "size": "16" })));
    assert_eq!(found(&run, &others_name, &[]).1, Ground::Model);
}

fn in_a_log_line() -> Said {
    Said { evidence: "E7".parse().unwrap(), field: "lines".to_owned(), origin: Origin::Log }
}

#[test]
fn what_strangers_wrote_is_told_apart_from_our_own_words() {
    let run = run("why?");
    let log = evidence(7, "payments wants 16");
    let stranger = || Ground::Stranger(in_a_log_line());
    assert_eq!(found(&run, &Grounds::none(), &[&log]), (stranger(), stranger()));
    // What a call asked for is repeated by its answer, and is no word for it. What the operator configured is one for an
    // argument, and makes no target.
    for (origin, argument) in [(Origin::Warrant, Ground::Model), (Origin::Catalog, Ground::Catalog)] {
        let mut ours = log.clone();
        ours.meta.origin = origin;
        assert_eq!(found(&run, &Grounds::none(), &[&ours]), (Ground::Model, argument));
    }
    let other = evidence(7, "vault wants 17");
    assert_eq!(found(&run, &Grounds::none(), &[&other]), (Ground::Model, Ground::Model));
}

#[test]
fn what_nobody_trusted_named_goes_one_tier_up() {
    let stranger = Ground::Stranger(in_a_log_line());
    for (ground, up) in [
        (Ground::Person, false),
        (Ground::Trigger, false),
        (Ground::Runbook("pool".to_owned()), false),
        (Ground::Catalog, false),
        (stranger, true),
        (Ground::Model, true),
    ] {
        let found = Found { arguments: BTreeMap::new(), target: ground.clone() };
        for (tier, next) in [(Tier::Low, Tier::Medium), (Tier::Medium, Tier::High), (Tier::High, Tier::High)] {
            let (raised, why) = found.raised(tier, &target("payments", None));
            assert_eq!((raised, why.is_some()), (if up { next } else { tier }, up), "{ground:?}");
        }
    }
}
