//! Selectors, steps and the shapes of answers.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::answer::{Envelope, Matrix};
use super::selector::Selector;
use super::{MAX_POINTS, Window};

fn selector(pairs: &[(&str, &str)]) -> String {
    let labels: BTreeMap<String, String> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Selector::of(&labels).unwrap().unwrap().to_string()
}

#[test]
fn ql_01_a_label_value_can_not_end_its_quotes() {
    assert_snapshot!(
        selector(&[("service", "x\"} or vector(1) or up{a=\""), ("path", "C:\\n\n\u{7}é"), ("job", "a")]),
        @r#"{job="a",path="C:\\n\n\u0007é",service="x\"} or vector(1) or up{a=\""}"#
    );
    let bad = BTreeMap::from([("a=\"b\",c".to_owned(), "d".to_owned())]);
    assert_snapshot!(
        Selector::of(&bad).unwrap_err(),
        @r#"`a="b",c` is not a label name; letters, digits and `_`, not beginning with a digit"#
    );
    assert_eq!(Selector::of(&BTreeMap::new()), Ok(None));
}

/// Reads a quoted string as `PromQL` does and gives what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.strip_prefix('"')?.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 2..)?)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                'u' => {
                    let code: String = chars.by_ref().take(4).map(|(_, digit)| digit).collect();
                    value.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                }
                other => value.push(other),
            },
            _ => value.push(c),
        }
    }
    None
}

proptest! {
    #[test]
    fn ql_01_every_label_value_comes_out_as_it_went_in(value in any::<String>()) {
        let text = selector(&[("a", &value)]);
        let (back, rest) = unquoted(text.strip_prefix("{a=").unwrap()).unwrap();
        prop_assert_eq!((back, rest), (value, "}"));
    }

    #[test]
    fn a_series_has_at_most_200_points(start in 0_i64..4_000_000_000, seconds in 1_i64..31 * 86_400, nanos in 0_i64..1_000_000_000) {
        let since = Timestamp::from_second(start).unwrap().checked_add(SignedDuration::from_nanos(nanos)).unwrap();
        let window = Window::new(since, since.checked_add(SignedDuration::from_secs(seconds)).unwrap());
        let points = window.until.duration_since(window.since).as_secs() / window.step + 1;
        prop_assert!(points <= i64::try_from(MAX_POINTS).unwrap());
        // And no coarser than it has to be: the usual steps lie at most a factor of 2.5 apart.
        prop_assert!(window.step == 1 || points >= 79, "{} points at {} s", points, window.step);
    }
}

#[test]
fn an_answer_in_the_shape_of_victoriametrics_is_read() {
    let text = r#"{"status":"success","isPartial":true,"data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"up","job":"node"},"values":[[1772366400,"1"],[1772366460.5,"NaN"],[1772366520,"-Inf"]]}]},
        "stats":{"seriesFetched":"1"},"warnings":["slow"],"infos":["odd"]}"#;
    let told = serde_json::from_str::<Envelope<Matrix>>(text).unwrap().told();
    assert_eq!((told.partial, told.warnings), (true, vec!["slow".to_owned(), "odd".to_owned()]));
    let points = &told.data.result[0].values;
    assert_eq!(points[1].time, "2026-03-01T12:01:00.5Z".parse().unwrap());
    assert!(points[1].value.is_nan() && points[2].value == f64::NEG_INFINITY);
    let bad = r#"{"status":"success","data":{"result":[{"metric":{},"values":[[1e300,"1"]]}]}}"#;
    assert!(serde_json::from_str::<Envelope<Matrix>>(bad).is_err());
}
