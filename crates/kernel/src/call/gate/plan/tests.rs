//! What a digest is over, and what can't be shown.

use proptest::prelude::*;

use crate::domain::target::TargetKind;
use crate::redact::RedactionKey;

use super::*;

fn target(name: &str) -> Target {
    Target {
        kind: TargetKind::Path,
        name: name.to_owned(),
        service: None,
        environment: None,
        owner: None,
        source: "shop".parse().unwrap(),
    }
}

fn redactor() -> Redactor {
    Redactor::new(RedactionKey::from_bytes([3; 32]), []).unwrap()
}

fn refused(name: &str, value: &str) -> Option<&'static str> {
    let arguments = Map::from_iter([(name.to_owned(), Value::from(value))]);
    fit(&redactor(), &arguments, &target("conf/app.toml")).err().map(|unfit| unfit.reason())
}

#[test]
fn a_secret_is_found_by_its_shape_and_by_the_name_of_its_argument() {
    assert_eq!(refused("value", "size = 16"), None);
    assert_eq!(refused("value", "password = hunter2xYq"), Some("SECRET_IN_ARGUMENTS"));
    assert_eq!(refused("value", "use ghp_a8Kf02mXq7Lz41RtVbN5cWsDyE6uJhG3pQiO"), Some("SECRET_IN_ARGUMENTS"));
    // Nothing about the text tells; its name does.
    assert_eq!(refused("note", "hunter2xYq"), None);
    assert_eq!(refused("password", "hunter2xYq"), Some("SECRET_IN_ARGUMENTS"));
    assert_eq!(refused("value", "a [secret:token:0a1b2c] b"), Some("PLACEHOLDER"));
    let confusable = fit(&redactor(), &Map::new(), &target("shоp"));
    assert_eq!(confusable.unwrap_err().reason(), "CONFUSABLE_TARGET");
}

#[test]
fn the_key_of_a_plan_is_never_printed() {
    let key = PlanKey::of(&[0xab; 32]);
    assert_eq!(format!("{key:?}"), "PlanKey(..)");
}

/// What a plan is bound to.
type Bound = (String, u32, String, String, String, String);

fn digest_of((tool, version, name, value, target_name, fact): &Bound, key: u8) -> PlanDigest {
    let arguments = Map::from_iter([(name.clone(), Value::from(value.as_str()))]);
    let bound = Facts::from([("sha256".to_owned(), fact.clone())]);
    digest(&PlanKey::of(&[key; 32]), &tool.parse().unwrap(), *version, &arguments, &target(target_name), &bound)
        .unwrap()
}

fn bound() -> impl Strategy<Value = Bound> {
    ("[a-c]{1,2}", 1..4_u32, "[a-c\"\\\\]{1,3}", "[a-c\"\\\\,:{}\u{e000}😀]{0,4}", "[a-c]{1,2}", "[a-c\"]{0,3}")
}

proptest! {
    #[test]
    fn ap_01_whatever_differs_gives_another_digest(one in bound(), other in bound()) {
        prop_assert_eq!(digest_of(&one, 1) == digest_of(&other, 1), one == other);
        prop_assert_ne!(digest_of(&one, 1), digest_of(&one, 2));
    }
}
