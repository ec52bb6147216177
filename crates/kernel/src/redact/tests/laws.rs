//! Laws that hold for any text.

use proptest::prelude::*;
use serde_json::json;

use super::ordinary::line;
use super::planted::{Dice, Encoding, KINDS, plant};
use super::{masked, redactor, redactor_with};
use crate::redact::{RedactError, RedactionKey, Redactor};

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_planted_secret_survives_and_masking_again_changes_nothing(
        seed in any::<u64>(), before in "\\PC{0,40}", after in "\\PC{0,40}",
    ) {
        let mut dice = Dice::new(seed);
        let planted = plant(dice.pick(&KINDS), &mut dice);
        let phrase = dice.pick(&Encoding::ALL).write(&planted.phrase);
        let text = format!("{before}\n{}\n{after}", line(&mut dice, &phrase));
        let once = masked(&text);
        prop_assert!(!once.contains(&planted.secret), "{once}");
        prop_assert_eq!(&masked(&once), &once);
    }

    #[test]
    fn any_text_is_masked_to_a_fixed_point(
        text in "(password|token|secret|cookie|Authorization|Bearer |-p|://|@|\\[secret:jwt:0a1b2c\\]|%3[dD]|%25|\\\\\"|\\\\u003d|[=: \"'{},;&\\\\\n]|[a-zA-Z0-9]{1,9}|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|\u{200b}|ｐ){0,24}",
    ) {
        let once = masked(&text);
        prop_assert_eq!(masked(&once), once);
    }

    #[test]
    fn lines_keep_their_places_where_nothing_spans_them(lines in prop::collection::vec("[a-z =\n]{0,20}", 0..12)) {
        let out = redactor().redact_lines(&lines).unwrap();
        prop_assert_eq!(out.lines, lines);
    }
}

#[test]
fn a_redactor_out_of_order_lets_nothing_through() {
    let broken = Redactor::out_of_order();
    assert_eq!(broken.redact_text("plain"), Err(RedactError::OutOfOrder));
    assert_eq!(broken.redact_json(&json!({"a": "plain"})), Err(RedactError::OutOfOrder));
    assert_eq!(broken.redact_lines(&[]), Err(RedactError::OutOfOrder));
    assert_eq!(broken.with_key(RedactionKey::random().unwrap()).redact_text(""), Err(RedactError::OutOfOrder));
}

#[test]
fn every_rule_compiles_and_keys_are_not_shown() {
    assert_eq!(redactor().compile_all(), Ok(()));
    assert_eq!(format!("{:?}", RedactionKey::from_bytes([1; 32])), "RedactionKey(..)");
    let known = redactor_with(&[("a", "topsecret-value-1")]);
    assert_eq!(format!("{known:?}"), "Redactor(..)");
}

#[test]
fn a_value_whose_key_is_secret_is_masked_whole() {
    let value = json!({
        "password": "two words", "Token": "abcDEF123456", "api_key": "k1k2k3k4k5k6", "pin": 1234, "db_password": 12_345_678,
        "note": "login with password=hunter2", "list": ["--token", "abcdef123456"], "secretName": "checkout-tls",
        "env": [{"name": "DB_PASSWORD", "value": "hunter2hunter2"}, {"name": "PORT", "value": "8080"}],
        "password=hunter2": true, "token": null,
        "manifest": {"kind": "Secret", "data": {"a": "aHVudGVyMg==", "b": "c2hvcnQ="}},
    });
    let (out, count) = redactor().redact_json(&value).unwrap();
    assert_eq!(count, 10, "{out:#}");
    insta::assert_json_snapshot!(out, @r#"
    {
      "password": "[secret:password_kv:cfcdde]",
      "Token": "[secret:token:54c8b2]",
      "api_key": "[secret:api_key:3e4111]",
      "pin": 1234,
      "db_password": "[secret:password_kv:bfd688]",
      "note": "login with password=[secret:password_kv:326eb4]",
      "list": [
        "--token",
        "[secret:token:2dc835]"
      ],
      "secretName": "checkout-tls",
      "env": [
        {
          "name": "DB_PASSWORD",
          "value": "[secret:password_kv:e4b867]"
        },
        {
          "name": "PORT",
          "value": "8080"
        }
      ],
      "password=[secret:password_kv:326eb4]": true,
      "token": null,
      "manifest": {
        "kind": "Secret",
        "data": {
          "a": "[secret:k8s_secret:326eb4]",
          "b": "[secret:k8s_secret:438747]"
        }
      }
    }
    "#);
    assert_eq!(redactor().redact_json(&out).unwrap(), (out, 0));
}

#[test]
fn a_key_over_rows_is_one_placeholder() {
    let rows = json!([
        {"line": "start"}, {"line": "-----BEGIN RSA PRIVATE KEY-----"}, {"line": "MIIEabcdefgh0123456789ABCDEFGH"},
        {"line": "-----END RSA PRIVATE KEY----- done"}, {"line": "end"},
    ]);
    let (out, count) = redactor().redact_json(&rows).unwrap();
    assert_eq!(count, 1);
    insta::assert_compact_json_snapshot!(out, @r#"[{"line": "start"}, {"line": "[secret:rsa_pem:a11c17]"}, {"line": ""}, {"line": " done"}, {"line": "end"}]"#);
}

#[test]
fn nesting_is_bounded() {
    let mut value = json!("x");
    for _ in 0..300 {
        value = json!([value]);
    }
    assert_eq!(redactor().redact_json(&value), Err(RedactError::Depth));
}
