//! What secrets are seen through: packed fields, control characters, entities, manifests, values that do not close.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::planted::{Dice, Encoding, KINDS, plant};
use super::{masked, redactor, redactor_with};

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[test]
fn rd_10_a_known_secret_is_found_in_a_packed_field_two_levels_deep() {
    let secret = "Rk3v9-known secret of ours, Lw2Xp7";
    let redactor = redactor_with(&[("model_key", secret)]);
    let wanted = redactor.redact_text(secret).unwrap().text.into_owned();
    for inner in Encoding::ALL {
        let packed = gzip(&format!("the key is {} here", inner.write(secret)));
        for field in [STANDARD.encode(&packed), hex(&packed), Encoding::Url.write(&STANDARD.encode(&packed))] {
            let text = format!("body {field} end");
            let out = redactor.redact_text(&text).unwrap();
            assert_eq!(out.text, format!("body {wanted} end"), "{inner:?} {field}");
        }
    }
    let other = STANDARD.encode(gzip("nothing of ours, an ordinary text that somebody packed"));
    assert_eq!(redactor.redact_text(&other).unwrap().text, other);
}

#[test]
fn rd_14_what_a_packed_field_says_is_read_only_as_far_as_a_packed_secret_goes() {
    let bomb = STANDARD.encode(gzip(&"password=hunter2 ".repeat(4_000_000 / 17)));
    let start = std::time::Instant::now();
    assert_eq!(redactor().redact_text(&bomb).unwrap().count, 1);
    assert!(start.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn rd_01_control_and_invisible_characters_within_a_secret_hide_nothing() {
    let mut dice = Dice::new(61);
    let hidden = [
        "\u{1b}[1;31m",
        "\u{1b}(B",
        "\u{1b}]8;;http://x\u{7}",
        "\u{9b}1m",
        "\u{1b}P1$r\u{1b}\\",
        "\u{0}",
        "\u{8}",
        "\u{7f}",
        "\u{200b}",
        "\u{ad}",
        "\u{61c}",
        "\u{34f}",
        "\u{180e}",
        "\u{115f}",
        "\u{3164}",
        "\u{ffa0}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{e0100}",
        "\u{2066}",
        "\u{feff}",
    ];
    for kind in KINDS {
        let planted = plant(kind, &mut dice);
        let between = dice.pick(&hidden);
        let text = planted.secret.char_indices().fold(String::new(), |text, (at, one)| {
            if at % 5 == 4 { format!("{text}{between}{one}") } else { format!("{text}{one}") }
        });
        let out = masked(&format!("a {} b", planted.phrase.replace(&planted.secret, &text)));
        let left = out.chars().filter(|one| planted.secret.contains(*one)).collect::<String>();
        let parts = text.split(between).filter(|part| part.len() == 5 && out.contains(*part)).count();
        assert!(parts < 2 && out.contains("[secret:"), "{kind} {between:?}\n{text}\n{out}\n{left}");
    }
}

#[test]
fn rd_04_entities_are_seen_through() {
    for text in [
        "{&quot;password&quot;:&quot;hunter2&quot;}",
        "<a v=\"password&#61;hunter2\"/>",
        "&#x70;assword=hunter2",
        "&amp;password=hunter2&amp;x=1",
    ] {
        assert!(!masked(text).contains("hunter2"), "{text}: {}", masked(text));
    }
    assert_eq!(masked("a &amp; b &lt; c &quot;d&quot;"), "a &amp; b &lt; c &quot;d&quot;");
}

#[test]
fn rd_01_every_value_of_a_secret_manifest_is_masked() {
    let yaml = "apiVersion: v1\nkind: ConfigMap\ndata:\n  plain: kept-value\n---\napiVersion: v1\ndata:\n  color: Ymx1ZS00Mg==\n  blob: |\n    c29tZSBsaW5l\nstringData:\n  any.name: \"some words\"\nkind: Secret\nmetadata:\n  name: checkout\n---\nkind: SecretStore\ndata:\n  kept: other-value";
    insta::assert_snapshot!(masked(yaml), @r#"
    apiVersion: v1
    kind: ConfigMap
    data:
      plain: kept-value
    ---
    apiVersion: v1
    data:
      color: [secret:k8s_secret:304446]
      blob: |
        [secret:k8s_secret:7ba9e5]
    stringData:
      any.name: "[secret:k8s_secret:02234f]"
    kind: Secret
    metadata:
      name: checkout
    ---
    kind: SecretStore
    data:
      kept: other-value
    "#);
    let json = "{\"kind\":\"Secret\",\"data\":{\"color\":\"Ymx1ZS00Mg==\",\"size\":\"c21hbGw=\"},\"metadata\":{\"name\":\"checkout\"}}";
    insta::assert_snapshot!(masked(json), @r#"{"kind":"Secret","data":{"color":"[secret:k8s_secret:304446]","size":"[secret:k8s_secret:399e3f]"},"metadata":{"name":"checkout"}}"#);
    let escaped = json.replace('"', "\\\"");
    assert!(!masked(&escaped).contains("Ymx1ZS00Mg"), "{}", masked(&escaped));
}

#[test]
fn rd_05_keys_whose_lines_were_joined_by_spaces() {
    let mut dice = Dice::new(65);
    let lines: Vec<String> = (0..12).map(|_| dice.letters("uld+/", 64)).collect();
    let key = format!("-----BEGIN RSA PRIVATE KEY----- {} -----END RSA PRIVATE KEY-----", lines.join(" "));
    for text in [
        key.clone(),
        key.replace(" -----END RSA PRIVATE KEY-----", ""),
        key.replace("-----BEGIN RSA PRIVATE KEY----- ", ""),
    ] {
        let out = masked(&format!("before {text} after it"));
        assert!(lines.iter().all(|line| !out.contains(line)), "{out}");
        assert!(out.starts_with("before ") && out.ends_with(" after it"), "{out}");
    }
}

#[test]
fn rd_06_a_quoted_value_that_does_not_close_is_masked_to_the_end_of_its_line() {
    assert!(!masked("{\"user\": 1, \"password\": \"correct horse batt").contains("horse"));
    assert!(!masked("password: 'correct horse\nnext").contains("horse"));
    assert!(masked("password: 'correct horse\nnext").ends_with("\nnext"));
}
