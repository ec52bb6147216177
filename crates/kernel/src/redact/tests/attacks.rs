//! The RD cases of the list of attacks, and variants of each.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::ordinary::benign;
use super::planted::{Dice, Encoding};
use super::{masked, redactor, redactor_with};
use crate::redact::{RedactionKey, Redactor};

/// Each of the texts must lose `secret`.
fn lost(secret: &str, texts: &[&str]) {
    for text in texts {
        let out = masked(text);
        assert!(!out.contains(secret), "`{text}` became `{out}`");
        assert!(out.contains("[secret:"), "`{text}` became `{out}`");
    }
}

fn kept(texts: &[&str]) {
    for text in texts {
        assert_eq!(&masked(text), text);
    }
}

#[test]
fn rd_01_a_secret_beside_its_name_is_masked() {
    lost(
        "AKIAIOSFODNN7EXAMPLE",
        &["aws_key=AKIAIOSFODNN7EXAMPLE", "xAKIAIOSFODNN7EXAMPLE", "k\u{200b}=AKIAIOSFODNN7EXAMPLE"],
    );
    lost(
        "hunter2",
        &[
            "password=hunter2",
            "PassWord = hunter2",
            "passwd: hunter2",
            "pwd=hunter2;",
            "DB_PASS=hunter2",
            "dbPass=hunter2",
            "<password>hunter2</password>",
            "password => hunter2",
            "--password hunter2",
            "--password=hunter2",
            "user=x&password=hunter2&y=z",
            "{'password': 'hunter2'}",
            "\u{1b}[31mpassword\u{1b}[0m=hunter2",
            "pass\u{200b}word=hunter2",
            "ｐａｓｓｗｏｒｄ=hunter2",
            "password=ｈｕｎｔｅｒ２",
            "密码：hunter2",
            "curl -u bob:hunter2 http://x/",
            "- name: DB_PASSWORD\n  value: hunter2",
            "CREATE USER x IDENTIFIED BY 'hunter2'",
            "password:hunter2",
            "[\"--password\", \"hunter2\"]",
            "spring.datasource.password=hunter2",
            "password[0]=hunter2",
            "sshpass -p hunter2 ssh x",
        ],
    );
}

#[test]
fn rd_01_a_token_in_a_sentence_is_masked() {
    let token = "abcdef1234567890abcdef";
    lost(token, &[&format!("auth failed: token {token} is not valid"), &format!("auth_token '{token}' rejected")]);
    kept(&[
        "token expired at 2026-05-04T10:11:12.123Z",
        "secret 3 of 5 mounted",
        "secret default-token-x7k2p of checkout is gone",
    ]);
}

#[test]
fn rd_03_url_encoding_is_seen_through_twice() {
    lost(
        "hunter2",
        &[
            "password%3Dhunter2",
            "password%253Dhunter2",
            "%70assword%3dhunter2",
            "q=%7B%22password%22%3A%22hunter2%22%7D",
        ],
    );
    lost("%68unter2", &["password=%68unter2", "password%3D%68unter2"]);
}

#[test]
fn rd_04_json_in_json_and_escapes_are_seen_through() {
    lost(
        "hunter2",
        &[
            r#"{"body":"{\"password\":\"hunter2\"}"}"#,
            r#"{"a":"{\"b\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}"}"#,
            r#"{"pass\u0077ord":"hunter2"}"#,
            r#"{"x":"pass\u0077ord=hunter2"}"#,
            r"\x70assword=hunter2",
        ],
    );
    lost("unter2", &[r#"{"password":"\u0068unter2"}"#, r#"{"password":"ab\"hunter2"}"#]);
}

#[test]
fn rd_05_private_keys_over_lines_and_in_one_line() {
    let mut dice = Dice::new(3);
    let lines: Vec<String> = (0..20).map(|_| dice.letters("uld+/", 64)).collect();
    let over_lines = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", lines.join("\n"));
    let one_line = over_lines.replace('\n', "\\n");
    let prefixed = over_lines.replace('\n', "\n2026-05-04T10:11:12Z app[1]: ");
    let no_tail = over_lines.replace("\n-----END RSA PRIVATE KEY-----", "");
    let no_head = over_lines.replace("-----BEGIN RSA PRIVATE KEY-----\n", "");
    for text in [
        &over_lines,
        &one_line,
        &one_line.replace('\\', "\\\\"),
        &prefixed,
        &no_tail,
        &no_head,
        &no_head.replace('\n', "\\n"),
    ] {
        let out = masked(&format!("before\n{text}\nafter it"));
        assert!(lines.iter().all(|line| !out.contains(line)), "{out}");
        assert!(out.starts_with("before\n[secret:") && out.ends_with("\nafter it"), "{out}");
    }
    assert_eq!(masked(&over_lines), masked(&one_line));
    let rows: Vec<String> = over_lines.lines().map(str::to_owned).collect();
    let out = redactor().redact_lines(&rows).unwrap();
    assert_eq!(out.lines.len(), 1);
    kept(&["-----BEGIN CERTIFICATE-----\nMIIBabc\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----"]);
}

#[test]
fn rd_09_credentials_in_urls_headers_cookies_and_flags() {
    lost(
        "hunter2",
        &[
            "postgres://u:hunter2@h/db",
            "redis://:hunter2@h:6379/0",
            "mongodb+srv://u:hunter2@h",
            "amqp://u:hunter2@h",
            "https://u:hunter2@h/p?q=1",
            "postgres://u:p@hunter2@h/db",
            "postgres://u:p/hunter2@h/db",
            "u:hunter2@tcp(db:3306)/x",
            "Authorization: Bearer hunter2hunter2",
            "authorization=bearer hunter2hunter2",
            "\"authorization\":[\"Bearer hunter2hunter2\"]",
            "Cookie: session=hunter2hunter2",
            "Set-Cookie: sid=hunter2hunter2; Path=/; HttpOnly",
            "mysql -u root -phunter2 shop",
            "-phunter2",
            "run with -phunter2",
            "[\"mysql\",\"-phunter2\"]",
            "redis-cli -a hunter2 ping",
        ],
    );
    let basic = STANDARD.encode("bob:hunter2");
    lost(&basic, &[&format!("Authorization: Basic {basic}"), &format!("proxy-authorization: basic {basic}")]);
    insta::assert_snapshot!(masked("Cookie: theme=dark1234; session=abcdef123456\npostgres://app:s3cretpw@db:5432/shop"), @r"
    Cookie: theme=[secret:cookie:99ed32]; session=[secret:cookie:2dc835]
    postgres://app:[secret:postgres_dsn:e6f013]@db:5432/shop
    ");
}

#[test]
fn rd_10_a_known_secret_is_found_without_a_name_and_encoded() {
    let secret = "Zk4-known/secret+value";
    let redactor = redactor_with(&[("grafana_token", secret), ("short", "a"), ("word", "postgres")]);
    let hex = Encoding::Hex.write(secret);
    let texts = [
        secret.to_owned(),
        hex.clone(),
        hex.to_uppercase(),
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        STANDARD.encode(format!("prefix {secret} suffix")),
        Encoding::Url.write(secret),
        Encoding::DoubleUrl.write(secret),
        STANDARD.encode(STANDARD.encode(secret)),
        STANDARD.encode(Encoding::Url.write(secret)),
        secret.replace('/', "\\/"),
    ];
    let placeholder = redactor.redact_text(secret).unwrap().text.into_owned();
    assert!(placeholder.starts_with("[secret:grafana_token:"));
    for text in texts {
        let text = format!("x {text} y");
        let out = redactor.redact_text(&text).unwrap();
        assert_eq!(out.text, format!("x {placeholder} y"), "{text}");
    }
    let plain = "a postgres database, and 0123456789abcdefABCDEF0123456789abcdef01 without a name";
    assert_eq!(redactor.redact_text(plain).unwrap().text, plain);
}

#[test]
fn rd_11_our_own_tokens_are_masked_anywhere() {
    let mut dice = Dice::new(9);
    let tokens = [
        format!("xoxb-{}-{}-{}", dice.letters("d", 12), dice.letters("d", 13), dice.letters("uld", 24)),
        format!("glsa_{}_{}", dice.letters("uld", 32), dice.letters("x", 8)),
        dice.letters("ul", 40),
    ];
    let redactor = redactor_with(&[("slack", &tokens[0]), ("grafana", &tokens[1]), ("model", &tokens[2])]);
    for token in &tokens {
        for outer in Encoding::ALL {
            for inner in Encoding::ALL {
                let text = format!("error sending {} to host", outer.write(&inner.write(token)));
                let out = redactor.redact_text(&text).unwrap();
                assert_eq!(out.count, 1, "{inner:?} in {outer:?}: {text}\n{}", out.text);
                assert!(!out.text.contains(token.as_str()));
            }
        }
    }
}

/// A personal token is known by its form, wherever it was made.
#[test]
fn rd_11_a_personal_token_is_masked_wherever_it_stands() {
    let token = format!("warrant_{}", Dice::new(11).letters("x", 64));
    let redactor = redactor_with(&[]);
    for text in [format!("WARRANT_TOKEN={token} warrant approvals list"), format!("\"{token}\""), format!("a {token}.")]
    {
        let out = redactor.redact_text(&text).unwrap();
        assert_eq!((out.count, out.text.contains(&token)), (1, false), "{text}: {}", out.text);
    }
}

#[test]
fn rd_13_what_only_looks_secret_is_kept() {
    kept(&[
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "traceparent 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "uuid 123e4567-e89b-42d3-a456-426614174000",
        "image sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "resourceVersion: \"182736455\"",
        "CgVoZWxsbxIFd29ybGQYASAB",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "password expired",
        "invalid token for user",
        "secret mounted at /var/run/secrets/x",
        "password: expired",
        "Authorization: required",
        "Authorization: AWS4-HMAC-SHA256 SignedHeaders=host",
        "bearer authentication is not configured",
        "docker run -p8080:80 -p 22:22 x",
        "PWD=/srv/app",
        "imagePullSecrets: [regcred]",
        "secretName: checkout-tls",
        "token_count=1234 max_tokens=4096",
        "tests: pass=12 fail=3",
        "password=${DB_PASSWORD} token=$TOKEN secret={{ .Values.secret }}",
        "password=**** passwd=<hidden>",
        "http://a:8080/users/@me",
        "could not read /etc/app/api_key: no such file",
        "api_key: missing",
        "secret/checkout-7d9f8b6c5-x2x4z configured",
        "user@example.com wrote http://h/p?mail=a@b.c",
        "mkdir -p /var/lib/app/data2",
        "ssh -p 2222 host",
        "etag W/\"0815-abcDEF123456\"",
    ]);
}

#[test]
fn rd_14_one_long_line_is_linear() {
    for unit in [
        "token:",
        "password=",
        "://a:b",
        "eyJ",
        "%25",
        "\\u0070",
        "AKIA",
        "-----BEGIN RSA PRIVATE KEY-----",
        "[secret:jwt:",
        "Cookie: a=b;",
        "secret aws ",
        "-p1a",
        "YWJj",
        "authorization: ",
        "-----END PRIVATE KEY-----",
        "\"name\":\"password\",",
        "\u{200b}",
        "mysql ",
    ] {
        let time = |size: usize| {
            let text = unit.repeat(size / unit.len());
            let mut least = std::time::Duration::MAX;
            for _ in 0..2 {
                let redactor = redactor();
                let start = std::time::Instant::now();
                redactor.redact_text(&text).unwrap();
                least = least.min(start.elapsed());
            }
            least
        };
        let (small, large) = (time(1 << 16), time(1 << 18));
        assert!(large < small * 12 + std::time::Duration::from_millis(200), "`{unit}`: {small:?} then {large:?}");
    }
    let mut dice = Dice::new(4);
    let mut text = String::new();
    while text.len() < 1 << 20 {
        text.push_str(&benign(&mut dice));
        text.push(' ');
    }
    let secret = format!("ghp_{}", dice.letters("uld", 36));
    let middle = text.floor_char_boundary(1 << 19);
    text.insert_str(middle, &format!(" {secret} password=hunter2 {} ", STANDARD.encode("password=hunter3 as text")));
    let out = redactor().redact_text(&text).unwrap();
    assert_eq!(out.count, 3);
    assert!(!out.text.contains(&secret) && !out.text.contains("hunter2"));
}

#[test]
fn rd_15_placeholders_are_stable_keyed_and_masked_once() {
    let texts = [
        "password=hunter2",
        "{\"password\":\"hunter2\"}",
        "password%3Dhunter2",
        "password: aHVudGVyMg==",
        "password=%68unter2",
        "{\\\"password\\\":\\\"hunter2\\\"}",
    ];
    let of = |redactor: &Redactor, text: &str| {
        let out = redactor.redact_text(text).unwrap().text.into_owned();
        let start = out.find("[secret:").unwrap_or_else(|| panic!("`{text}` was not masked"));
        out.split_at(start).1.split_inclusive(']').next().unwrap().to_owned()
    };
    let first = redactor();
    let other = first.with_key(RedactionKey::from_bytes([8; 32]));
    let wanted = of(&first, texts[0]);
    for text in texts {
        assert_eq!(of(&first, text), wanted, "{text}");
        assert_ne!(of(&other, text), wanted);
    }
    assert_ne!(of(&first, "password=hunter3"), wanted);
    insta::assert_snapshot!(wanted, @"[secret:password_kv:326eb4]");
    kept(&[
        &format!("password={wanted}"),
        &format!("token: {wanted}, next"),
        &format!("Authorization: Bearer {wanted}"),
        &format!("password%3D{}", Encoding::Url.write(&wanted)),
        &format!("https://u:{wanted}@h/"),
        &format!("Cookie: a={wanted}; b={wanted}"),
    ]);
    // A placeholder that a stranger wrote shields nothing.
    lost("hunter2", &[&format!("password={wanted}hunter2"), &format!("password=hunter2{wanted}")]);
}
