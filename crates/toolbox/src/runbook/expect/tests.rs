//! The laws of a verdict.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Expect, Seen, Test, Than, Verdict};

fn judged(at: &str, test: Test, data: &Value) -> Verdict {
    Expect { at: at.to_owned(), test }.judge(Seen::Data { data, truncated: false }, None)
}

fn is_unknown(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unknown { .. })
}

#[test]
fn each_word_of_the_list_holds_and_fails() {
    let data =
        json!({"n": 3, "text": "disk FULL", "list": ["a", 2], "none": null, "empty": [], "inf": "+Inf", "s": "4.5"});
    for (at, test, verdict) in [
        ("/n", Test::Equals(json!(3.0)), Verdict::Held),
        ("/n", Test::Equals(json!("3")), Verdict::Failed),
        ("/n", Test::Below(4.0), Verdict::Held),
        ("/n", Test::Below(3.0), Verdict::Failed),
        ("/n", Test::Above(2.0), Verdict::Held),
        ("/s", Test::Above(4.0), Verdict::Held),
        ("/n", Test::Between(3.0, 3.0), Verdict::Held),
        ("/n", Test::Between(4.0, 9.0), Verdict::Failed),
        ("/text", Test::Contains(json!("disk full")), Verdict::Held),
        ("/list", Test::Contains(json!(2)), Verdict::Held),
        ("/list", Test::Contains(json!("b")), Verdict::Failed),
        ("", Test::Contains(json!("text")), Verdict::Held),
        ("/missing", Test::Absent, Verdict::Held),
        ("/none", Test::Absent, Verdict::Held),
        ("/empty", Test::Absent, Verdict::Held),
        ("/n", Test::Absent, Verdict::Failed),
        ("/n", Test::Rises(Than::At("/s".to_owned()), 1.0), Verdict::Failed),
        ("/n", Test::Falls(Than::At("/s".to_owned()), 1.5), Verdict::Failed),
        ("/n", Test::Falls(Than::At("/s".to_owned()), 1.4), Verdict::Held),
    ] {
        assert_eq!(judged(at, test.clone(), &data), verdict, "{at} {test:?}");
    }
    for (at, test) in [
        ("/missing", Test::Above(0.0)),
        ("/none", Test::Equals(Value::Null)),
        ("/text", Test::Above(0.0)),
        ("/inf", Test::Above(0.0)),
        ("/n", Test::Rises(Than::Previous, 1.0)),
        ("/n", Test::Rises(Than::At("/missing".to_owned()), 1.0)),
    ] {
        assert!(is_unknown(&judged(at, test.clone(), &data)), "{at} {test:?}");
    }
}

#[test]
fn what_was_cut_off_is_not_absent() {
    let data = json!({"lines": [], "text": "a"});
    let cut = Seen::Data { data: &data, truncated: true };
    for (at, test) in [("/lines", Test::Absent), ("/text", Test::Contains(json!("b")))] {
        assert!(is_unknown(&Expect { at: at.to_owned(), test }.judge(cut, None)));
    }
    let there = Expect { at: "/text".to_owned(), test: Test::Absent };
    assert_eq!(there.judge(cut, None), Verdict::Failed);
}

#[test]
fn rises_compares_with_the_window_before() {
    let (now, before) = (json!({"errors": 12}), json!({"errors": 4}));
    let data = |data| Seen::Data { data, truncated: false };
    let rises = |factor| Expect { at: "/errors".to_owned(), test: Test::Rises(Than::Previous, factor) };
    assert_eq!(rises(2.0).judge(data(&now), Some(data(&before))), Verdict::Held);
    assert_eq!(rises(3.0).judge(data(&now), Some(data(&before))), Verdict::Failed);
    let error = Seen::Nothing { why: "the source is down" };
    let Verdict::Unknown { why } = rises(1.0).judge(data(&now), Some(error)) else {
        panic!("the window before is unknown")
    };
    assert_eq!(why, "of the window before nothing is known: the source is down");
    assert!(is_unknown(&rises(1.0).judge(error, Some(data(&before)))));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-c~/0-2.]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[ab/~]{0,2}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_test() -> impl Strategy<Value = Test> {
    let than = prop_oneof![Just(Than::Previous), "(/[ab~/]{0,2})?".prop_map(Than::At)];
    prop_oneof![
        any_json().prop_map(Test::Equals),
        any_json().prop_map(Test::Contains),
        any::<f64>().prop_map(Test::Below),
        any::<f64>().prop_map(Test::Above),
        (any::<f64>(), any::<f64>()).prop_map(|(low, high)| Test::Between(low, high)),
        Just(Test::Absent),
        (than.clone(), 1.0..5.0).prop_map(|(than, factor)| Test::Rises(than, factor)),
        (than, 1.0..5.0).prop_map(|(than, factor)| Test::Falls(than, factor)),
    ]
}

proptest! {
    #[test]
    fn every_result_has_a_verdict(at in "(/[ab~/]{0,3})?", test in any_test(), now in any_json(), before in any_json()) {
        let expect = Expect { at, test };
        let data = |data| Seen::Data { data, truncated: false };
        let whole = expect.judge(data(&now), Some(data(&before)));
        let cut = expect.judge(Seen::Data { data: &now, truncated: true }, Some(data(&before)));
        // A cut can only take certainty away.
        prop_assert!(whole == cut || is_unknown(&cut));
        let nothing = expect.judge(Seen::Nothing { why: "down" }, None);
        prop_assert!(is_unknown(&nothing));
    }
}
