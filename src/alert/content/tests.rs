use proptest::prelude::*;
use warrant_kernel::domain::visible::is_plain;
use warrant_kernel::redact::{RedactionKey, Redactor};

use super::*;

const AT: Timestamp = Timestamp::UNIX_EPOCH;

fn redactor() -> Redactor {
    Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap()
}

fn draft(words: Words) -> Draft {
    Draft { fingerprint: "59313bc77f2e703d".to_owned(), starts_at: None, state: State::Firing, words, unsent: None }
}

fn kept(words: Words) -> Alert {
    keep(vec![draft(words)], &redactor(), AT).unwrap().remove(0)
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn wh_13_names_that_are_no_identifiers_are_refused_and_the_rest_is_cut_and_shown() {
    let big = "x".repeat(5 << 20);
    let alert = kept(Words {
        name: "Pay\u{202E}ments\x1b[2J down".to_owned(),
        summary: "line\nline".to_owned(),
        link: Some("javascript:alert(1)".to_owned()),
        labels: pairs(&[("a\nb", "1"), ("a}b", "1"), ("a\"b", "1"), ("", "1"), ("1a", "1"), ("job", "api\u{200B}")]),
        annotations: pairs(&[("description", &big), ("two", "one\ntwo\r\nthree")]),
        ..Words::default()
    });
    assert!(serde_json::to_string(&alert).unwrap().len() < 8_000);
    insta::assert_snapshot!(alert.words.name, @r"Pay\u{202E}ments\u{1B}[2J down");
    insta::assert_snapshot!(alert.words.summary, @r"line\u{A}line");
    assert_eq!(alert.words.link, None);
    assert_eq!(alert.words.labels, pairs(&[("job", r"api\u{200B}")]));
    assert_eq!(alert.words.annotations["two"], "one\ntwo\nthree");
    assert_eq!(alert.words.annotations["description"].len(), ANNOTATION);
    insta::assert_snapshot!(alert.left_out.join("\n"), @r#"
    a link that is no plain address of a web page
    the label ``, whose name is no identifier
    the label `1a`, whose name is no identifier
    the label `a\u{A}b`, whose name is no identifier
    the label `a"b`, whose name is no identifier
    the label `a}b`, whose name is no identifier
    5238784 characters of the annotation `description`
    "#);
}

#[test]
fn secrets_are_masked_before_anything_is_cut() {
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let padded = format!("{} {token}", "y".repeat(ANNOTATION - 12));
    let words = Words {
        name: format!("token {token}"),
        labels: pairs(&[("password", "hunter2-hunter2"), ("service", "checkout")]),
        annotations: pairs(&[("description", &padded)]),
        ..Words::default()
    };
    let text = serde_json::to_string(&kept(words)).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("ghp_"), "{text}");
    assert!(text.contains("\"service\":\"checkout\""), "{text}");
}

#[test]
fn nothing_gets_past_a_redactor_that_fails() {
    let draft = draft(Words { name: "a".to_owned(), ..Words::default() });
    assert!(matches!(keep(vec![draft], &Redactor::out_of_order(), AT), Err(KeepError::Masked(_))));
}

#[test]
fn an_alert_that_does_not_say_when_it_began_is_the_same_for_ten_minutes() {
    let began = |at: &str| {
        let draft = draft(Words::default());
        keep(vec![draft], &redactor(), at.parse().unwrap()).unwrap().remove(0).starts_at.to_string()
    };
    assert_eq!(began("2026-11-30T08:00:00.5Z"), "2026-11-30T08:00:00Z");
    assert_eq!(began("2026-11-30T08:09:59.9Z"), "2026-11-30T08:00:00Z");
    assert_eq!(began("2026-11-30T08:10:00Z"), "2026-11-30T08:10:00Z");
}

#[test]
fn fingerprints_of_senders_are_kept_and_others_are_hashes() {
    assert_eq!(fingerprint(&["59313bc77f2e703d"]), "59313bc77f2e703d");
    for other in [&["59313BC77F2E703D"][..], &["x"], &["a", "bc"], &["ab", "c"], &[]] {
        let hash = fingerprint(other);
        assert_eq!(hash.len(), 32, "{other:?}");
        assert_ne!(hash, fingerprint(&["y"]));
    }
    assert_ne!(fingerprint(&["a", "bc"]), fingerprint(&["ab", "c"]));
    let labels = pairs(&[("a", "1"), ("b", "2")]);
    assert_eq!(fingerprint_of("n", &labels), fingerprint_of("n", &labels.clone()));
    assert_ne!(fingerprint_of("n", &labels), fingerprint_of("m", &labels));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_comes_is_bounded_and_plain(
        name in "\\PC{0,300}|\\pC{0,40}",
        labels in proptest::collection::btree_map("[a-z\\pC]{0,8}", "\\PC{0,40}|\\pC{0,9}", 0..90),
        text in "(\\PC|\\pC){0,200}",
    ) {
        let words = Words { name, labels, annotations: pairs(&[("text", &text)]), ..Words::default() };
        let alert = kept(words);
        prop_assert!(is_plain(&alert.words.name));
        prop_assert!(alert.words.labels.len() <= MOST_LABELS && alert.left_out.len() <= MOST_CUTS + 1);
        for (name, value) in &alert.words.labels {
            prop_assert!(is_identifier(name) && is_plain(value));
        }
        let told = alert.words.told();
        prop_assert!(told.lines().all(is_plain), "{}", told);
    }
}
