//! Operators' rules: they find what is theirs in every encoding, and what is wrong with one is told with its line.

use super::planted::Encoding;
use crate::redact::own::{self, OwnRule};
use crate::redact::{RedactionKey, Redactor};

const TICKET: &str = r#"
[[rule]]
name = "shop_ticket"
keywords = ["shpt_"]
regex = 'shpt_(?P<s>[a-z0-9]{24})'
matches = ["ticket shpt_0123456789abcdefghijklmn of order 7"]
misses = ["shpt_short"]
"#;

fn redactor(rules: Vec<OwnRule>) -> Redactor {
    Redactor::with_rules(RedactionKey::from_bytes([7; 32]), [], rules).unwrap()
}

#[test]
fn a_rule_finds_its_secret_in_every_encoding_and_over_a_line_break() {
    let redactor = redactor(own::read("shop.toml", TICKET, &[]).unwrap());
    let secret = "zz23456789abcdefghijklmn";
    let phrase = format!("shpt_{secret}");
    let mut texts: Vec<String> = Encoding::ALL.map(|encoding| format!("sent {} on", encoding.write(&phrase))).into();
    texts.extend([
        format!("sent {}\n{} on", phrase.split_at(15).0, phrase.split_at(15).1),
        "sent \u{1b}[1mshpt_zz2345\u{1b}[0m6789abcdefghijklmn on".to_owned(),
    ]);
    for text in texts {
        let out = redactor.redact_text(&text).unwrap();
        assert!(out.count > 0 && out.text.contains("[secret:shop_ticket:"), "{text}: {}", out.text);
        assert!(out.text.starts_with("sent ") && out.text.ends_with(" on"), "{}", out.text);
    }
    // It adds, and takes nothing from the rules that are built in.
    assert_eq!(redactor.redact_text("password=hunter2").unwrap().count, 1);
    assert_eq!(redactor.redact_text("the prefix shpt_ alone").unwrap().count, 0);
}

#[test]
fn a_rule_that_fails_is_refused_with_its_line() {
    let refused = |from: &str, to: &str| {
        let errors = own::read("shop.toml", &TICKET.replace(from, to), &[]).unwrap_err();
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(refused("[\"shpt_\"]", "[]"), @r#"
    shop.toml:4: `keywords` has 0; write 1 to 32: the rule is looked at where one stands
    shop.toml:6: `ticket shpt_0123456789abcdefghijklmn of order 7` holds none of the keywords, so the rule is not looked at there
    "#);
    insta::assert_snapshot!(refused("[\"shpt_\"]", "[\"s\"]"), @r#"shop.toml:4: the keyword `s` must be 3 to 64 characters of ASCII"#);
    insta::assert_snapshot!(refused("shop_ticket", "github_pat"), @r#"shop.toml:3: `github_pat` is built in; choose another name"#);
    insta::assert_snapshot!(refused("{24})'", "{24})('"), @r#"shop.toml:5: `regex` does not compile: error: unclosed group"#);
    insta::assert_snapshot!(refused("{24})'", "{24,9000}){9}'"), @r#"shop.toml:5: `regex` does not compile: Compiled regex exceeds size limit of 262144 bytes."#);
    insta::assert_snapshot!(refused("'shpt_(?P<s>[a-z0-9]{24})'", "'.*'"), @r#"
    shop.toml:5: `regex` matches where there is nothing; say more of what only the secret has
    shop.toml:7: `shpt_short` should not match `regex`, and does
    "#);
    insta::assert_snapshot!(refused("'shpt_(?P<s>[a-z0-9]{24})'", "'[a-z]{4,}'"), @r#"
    shop.toml:5: `regex` matches `2026-05-04T10:11:12.345Z INFO checkout GET /api/v1/orders/17 status=200 took=12ms`; say more of what only the secret has
    shop.toml:7: `shpt_short` should not match `regex`, and does
    "#);
    insta::assert_snapshot!(refused("of order 7", "of order 7\", \"a ticket"), @r#"shop.toml:6: `a ticket` holds none of the keywords, so the rule is not looked at there"#);
    insta::assert_snapshot!(refused("\"ticket shpt_0123", "\"ticket shpt_!"), @r#"shop.toml:6: `ticket shpt_!456789abcdefghijklmn of order 7` should match `regex`, and does not"#);
    insta::assert_snapshot!(refused("\"shpt_short\"", "\"no shpt_0123456789abcdefghijklmn\""), @r#"shop.toml:7: `no shpt_0123456789abcdefghijklmn` should not match `regex`, and does"#);
    insta::assert_snapshot!(refused("misses = [\"shpt_short\"]", "misses = []"), @r#"shop.toml:7: `misses` has 0 examples; write 1 to 32"#);
    insta::assert_snapshot!(refused("misses", "mises"), @r#"shop.toml:7: unknown field `mises`, expected one of `name`, `keywords`, `regex`, `matches`, `misses`"#);
    let again = own::read("more.toml", TICKET, &own::read("shop.toml", TICKET, &[]).unwrap()).unwrap_err();
    insta::assert_snapshot!(again[0], @r#"more.toml:3: there is a rule `shop_ticket` already; choose another name"#);
    let many: String = (0..201).map(|number| TICKET.replace("shop_ticket", &format!("rule_{number}"))).collect();
    insta::assert_snapshot!(own::read("many.toml", &many, &[]).unwrap_err()[0], @r#"many.toml:1403: there are more than 200 rules"#);
}
