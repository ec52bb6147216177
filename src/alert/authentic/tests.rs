use std::path::Path;

use axum::http::HeaderValue;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/alerts").join(name)).unwrap()
}

fn vectors() -> Value {
    serde_json::from_slice(&data("signatures.json")).unwrap()
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    headers
}

fn signed(header: &'static str, form: Form, timestamp: Option<&'static str>) -> Authentication {
    Authentication::new(vec![Proof::Signature(Signature {
        header: HeaderName::from_static(header),
        form,
        timestamp: timestamp.map(HeaderName::from_static),
        secret: Secret::new(vectors()["secret"].as_str().unwrap()),
        tolerance: Duration::from_mins(5),
    })])
}

const NOW: i64 = 1_764_489_600;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

#[test]
fn wh_10_what_each_sender_signs_is_accepted() {
    let vectors = vectors();
    for (key, header, form) in [
        ("grafana", "x-grafana-alerting-signature", Form::Hex),
        ("sentry", "sentry-hook-signature", Form::Hex),
        ("pagerduty_v3", "x-pagerduty-signature", Form::List),
    ] {
        let vector = &vectors[key];
        let body = data(vector["body_file"].as_str().unwrap());
        let value = vector["hex"].as_str().or(vector["value_during_rotation"].as_str()).unwrap();
        let authentication = signed(header, form, None);
        let given = headers(&[(header, value)]);
        assert_eq!(authentication.whole(&given, &body, at(NOW)), Ok(()), "{key}");
        let mut other = body.clone();
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(authentication.whole(&given, &other, at(NOW)), Err(Refused), "{key}: another body");
    }
}

#[test]
fn wh_10_a_signed_time_is_signed_along_and_recent() {
    let value = vectors()["grafana"]["hex_with_ts_1764489600"].as_str().unwrap().to_owned();
    let body = data("grafana_webhook.json");
    let authentication = signed("x-grafana-alerting-signature", Form::Hex, Some("x-time"));
    let holds = |time: &str, now: i64| {
        let given = headers(&[("x-grafana-alerting-signature", &value), ("x-time", time)]);
        authentication.whole(&given, &body, at(now)).is_ok()
    };
    assert!(holds("1764489600", NOW) && holds("1764489600", NOW + 300) && holds("1764489600", NOW - 300));
    assert!(!holds("1764489600", NOW + 301) && !holds("1764489600", NOW - 301), "too old, or of the future");
    assert!(!holds("1764489601", NOW), "another time than the signed one");
    for odd in ["", "-1764489600", "+1764489600", "1764489600.0", "9223372036854775807", "-9223372036854775808", "x"] {
        assert!(!holds(odd, NOW), "{odd}");
    }
    let without = headers(&[("x-grafana-alerting-signature", &value)]);
    assert_eq!(authentication.whole(&without, &body, at(NOW)), Err(Refused));
}

#[test]
fn wh_10_forged_signatures_are_refused() {
    let good = vectors()["grafana"]["hex"].as_str().unwrap().to_owned();
    let body = data("grafana_webhook.json");
    let authentication = signed("x-grafana-alerting-signature", Form::Hex, None);
    let refused = |value: &str| {
        let given = headers(&[("x-grafana-alerting-signature", value)]);
        authentication.whole(&given, &body, at(NOW)).is_err()
    };
    assert!(!refused(&good) && !refused(&format!("sha256={good}")));
    let cut: String = good.chars().take(62).collect();
    for forged in ["", "sha256=", "v1=", &good.to_uppercase(), &cut, &format!("{good}00"), &"0".repeat(64)] {
        assert!(refused(forged), "{forged}");
    }
    let twice = headers(&[("x-grafana-alerting-signature", &good), ("x-grafana-alerting-signature", &good)]);
    assert_eq!(authentication.whole(&twice, &body, at(NOW)), Err(Refused), "which of the two?");
    assert_eq!(authentication.before(&HeaderMap::new()), Err(Refused), "before the body is read");
    let list = signed("x-pagerduty-signature", Form::List, None);
    let many = vec![format!("v1={}", "0".repeat(64)); 9].join(",");
    assert!(list.whole(&headers(&[("x-pagerduty-signature", &many)]), &body, at(NOW)).is_err());
}

#[test]
fn wh_10_tokens_and_passwords() {
    let token = Authentication::new(vec![Proof::Bearer(Box::new(Secret::new("a-token-of-the-tests")))]);
    let holds = |value: &str| token.whole(&headers(&[("authorization", value)]), b"", at(NOW)).is_ok();
    assert!(holds("Bearer a-token-of-the-tests") && holds("bearer a-token-of-the-tests"));
    for forged in [
        "Bearer a-token-of-the-test",
        "Bearer a-token-of-the-tests2",
        "Bearer ",
        "a-token-of-the-tests",
        "Basic a-token-of-the-tests",
        "",
    ] {
        assert!(!holds(forged), "{forged}");
    }
    let secret = Secret::new("a-password-of-the-tests").after("am:");
    let basic = Authentication::new(vec![Proof::Basic(Box::new(secret))]);
    let holds = |pair: &str| {
        let value = format!("Basic {}", STANDARD.encode(pair));
        basic.whole(&headers(&[("authorization", &value)]), b"", at(NOW)).is_ok()
    };
    assert!(holds("am:a-password-of-the-tests"));
    for forged in ["am:a-password", "ma:a-password-of-the-tests", "am", ""] {
        assert!(!holds(forged), "{forged}");
    }
    assert!(basic.before(&headers(&[("authorization", "Basic %%%")])).is_err());
}

#[test]
fn wh_10_nothing_asked_for_is_nothing_proved() {
    let none = Authentication::new(Vec::new());
    assert!(none.is_none());
    assert_eq!(none.before(&HeaderMap::new()), Err(Refused));
    assert_eq!(none.whole(&HeaderMap::new(), b"", at(NOW)), Err(Refused));
}

proptest! {
    #[test]
    fn no_header_panics_or_passes(value in proptest::collection::vec(any::<u8>(), 0..80), body in ".{0,40}") {
        let all = [
            signed("authorization", Form::Hex, Some("x-time")),
            signed("authorization", Form::List, None),
            Authentication::new(vec![Proof::Bearer(Box::new(Secret::new("a-token-of-the-tests")))]),
            Authentication::new(vec![Proof::Basic(Box::new(Secret::new("a:password-of-the-tests")))]),
        ];
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            let mut given = HeaderMap::new();
            given.insert("authorization", value.clone());
            given.insert("x-time", value);
            for authentication in all {
                prop_assert_eq!(authentication.whole(&given, body.as_bytes(), at(NOW)), Err(Refused));
            }
        }
    }
}
