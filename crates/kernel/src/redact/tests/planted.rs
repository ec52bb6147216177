//! A seeded generator of secrets of every kind of `kinds.json`, of the lines they stand in, and of decoys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A small generator of numbers (splitmix64), so that one seed is one set of cases.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() % limit as u64).unwrap()
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// `count` letters of a class: `u` upper, `l` lower, `d` digits, `x` hex, anything else itself.
    pub fn letters(&mut self, class: &str, count: usize) -> String {
        let mut set = String::new();
        for letter in class.chars() {
            match letter {
                'u' => set.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                'l' => set.push_str("abcdefghijklmnopqrstuvwxyz"),
                'd' => set.push_str("0123456789"),
                'x' => set.push_str("0123456789abcdef"),
                other => set.push(other),
            }
        }
        let set: Vec<char> = set.chars().collect();
        (0..count).map(|_| self.pick(&set)).collect()
    }
}

/// The kinds, in the order of `kinds.json`.
pub const KINDS: [&str; 40] = [
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "gcp_api_key",
    "gcp_sa_json",
    "azure_storage",
    "azure_client_secret",
    "github_pat",
    "github_fine",
    "github_app",
    "gitlab_pat",
    "slack_bot",
    "slack_webhook",
    "slack_app",
    "stripe",
    "twilio",
    "sendgrid",
    "mailgun",
    "npm",
    "pypi",
    "dockerhub",
    "huggingface",
    "openai",
    "anthropic",
    "pagerduty",
    "datadog",
    "grafana_sa",
    "newrelic",
    "sentry_dsn",
    "vault",
    "terraform",
    "jwt",
    "rsa_pem",
    "openssh_pem",
    "basic_url",
    "postgres_dsn",
    "mongo_dsn",
    "redis_dsn",
    "bearer_opaque",
    "password_kv",
];

/// A secret and the words it stands in.
#[derive(Debug, Clone)]
pub struct Planted {
    pub kind: &'static str,
    /// The bytes that may not survive.
    pub secret: String,
    /// Those bytes with what makes them a secret (`password=...`).
    pub phrase: String,
}

/// A secret of this kind.
pub fn plant(kind: &'static str, dice: &mut Dice) -> Planted {
    let bare = |secret: String| Planted { kind, phrase: secret.clone(), secret };
    let within = |before: &str, secret: String, after: &str| Planted {
        kind,
        phrase: format!("{before}{secret}{after}"),
        secret,
    };
    match kind {
        "aws_access_key_id" => {
            let head = dice.pick(&["AKIA", "ASIA"]);
            bare(format!("{head}{}", dice.letters("u234567", 16)))
        }
        "aws_secret_access_key" => {
            let name = dice.pick(&[
                "aws_secret_access_key = ",
                "AWS_SECRET_ACCESS_KEY=",
                "\"SecretAccessKey\": \"",
                "aws secret key: ",
            ]);
            let after = if name.ends_with('"') { "\"" } else { "" };
            within(name, dice.letters("uld+/", 40), after)
        }
        "aws_session_token" => bare(format!("FwoGZXIvYXdz{}", dice.letters("uld+/", 240))),
        "gcp_api_key" => bare(format!("AIza{}", dice.letters("uld_-", 35))),
        "gcp_sa_json" => {
            let body = pem_body(dice, 26);
            within(
                "{\"type\":\"service_account\",\"private_key\":\"-----BEGIN PRIVATE KEY-----",
                body,
                "\\n-----END PRIVATE KEY-----\\n\"}",
            )
        }
        "azure_storage" => within(
            "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=",
            format!("{}==", dice.letters("uld+/", 86)),
            ";EndpointSuffix=core.windows.net",
        ),
        "azure_client_secret" => bare(format!("{}8Q~{}", dice.letters("uld", 3), dice.letters("uld_.-", 34))),
        "github_pat" => bare(format!("ghp_{}", dice.letters("uld", 36))),
        "github_fine" => bare(format!("github_pat_{}_{}", dice.letters("uld", 22), dice.letters("uld", 59))),
        "github_app" => bare(format!("ghs_{}", dice.letters("uld", 36))),
        "gitlab_pat" => bare(format!("glpat-{}", dice.letters("uld_-", 20))),
        "slack_bot" => {
            bare(format!("xoxb-{}-{}-{}", dice.letters("d", 12), dice.letters("d", 13), dice.letters("uld", 24)))
        }
        "slack_webhook" => within(
            "https://hooks.slack.com/services/",
            format!("T{}/B{}/{}", dice.letters("ud", 8), dice.letters("ud", 10), dice.letters("uld", 24)),
            "",
        ),
        "slack_app" => {
            bare(format!("xapp-1-A{}-{}-{}", dice.letters("ud", 10), dice.letters("d", 13), dice.letters("x", 64)))
        }
        "stripe" => bare(format!("sk_live_{}", dice.letters("uld", 24))),
        "twilio" => bare(format!("SK{}", dice.letters("x", 32))),
        "sendgrid" => bare(format!("SG.{}.{}", dice.letters("uld_-", 22), dice.letters("uld_-", 43))),
        "mailgun" => bare(format!("key-{}", dice.letters("x", 32))),
        "npm" => bare(format!("npm_{}", dice.letters("uld", 36))),
        "pypi" => bare(format!("pypi-AgEIcHlwaS5vcmc{}", dice.letters("uld_-", 80))),
        "dockerhub" => bare(format!("dckr_pat_{}", dice.letters("uld_-", 27))),
        "huggingface" => bare(format!("hf_{}", dice.letters("ul", 34))),
        "openai" => bare(format!("sk-proj-{}T3BlbkFJ{}", dice.letters("uld_-", 74), dice.letters("uld_-", 74))),
        "anthropic" => bare(format!("sk-ant-api03-{}AA", dice.letters("uld_-", 93))),
        "pagerduty" => within("Authorization: Token token=", dice.letters("uld_+-", 20), ""),
        "datadog" => within(dice.pick(&["DD_API_KEY=", "DD_API_KEY: ", "dd-api-key: "]), dice.letters("x", 32), ""),
        "grafana_sa" => bare(format!("glsa_{}_{}", dice.letters("uld", 32), dice.letters("x", 8))),
        "newrelic" => bare(format!("NRAK-{}", dice.letters("ud", 27))),
        "sentry_dsn" => {
            let (org, project) = (dice.letters("d", 6), dice.letters("d", 7));
            within("https://", dice.letters("x", 32), &format!("@o{org}.ingest.sentry.io/{project}"))
        }
        "vault" => bare(format!("hvs.{}", dice.letters("uld_-", 95))),
        "terraform" => bare(format!("{}.atlasv1.{}", dice.letters("uld", 14), dice.letters("uld_-", 64))),
        "jwt" => {
            let encode = |text: String| STANDARD.encode(text).replace('+', "-").replace('/', "_").replace('=', "");
            let header = encode("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".to_owned());
            let claims = encode(format!("{{\"sub\":\"{}\"}}", dice.letters("d", 10)));
            bare(format!("{header}.{claims}.{}", dice.letters("uld_-", 43)))
        }
        "rsa_pem" => within("-----BEGIN RSA PRIVATE KEY-----", pem_body(dice, 25), "\\n-----END RSA PRIVATE KEY-----"),
        "openssh_pem" => {
            within("-----BEGIN OPENSSH PRIVATE KEY-----", pem_body(dice, 6), "\\n-----END OPENSSH PRIVATE KEY-----")
        }
        "basic_url" => {
            let scheme = dice.pick(&["https", "http", "amqp", "ftp", "mysql", "smtp"]);
            within(&format!("{scheme}://svc_{}:", dice.letters("l", 4)), password(dice), "@host.internal:8443/path?x=1")
        }
        "postgres_dsn" => within(
            dice.pick(&["postgres://app:", "postgresql://app:"]),
            password(dice),
            "@db.internal:5432/orders?sslmode=require",
        ),
        "mongo_dsn" => within("mongodb+srv://app:", password(dice), "@cluster0.ab1cd.mongodb.net/orders"),
        "redis_dsn" => within("redis://:", password(dice), "@cache.internal:6379/0"),
        "bearer_opaque" => within("Authorization: Bearer ", dice.letters("uld_-", 40), ""),
        "password_kv" => {
            let (before, after) = dice.pick(&[
                ("password=", ""),
                ("DB_PASSWORD=", ""),
                ("\"passwd\": \"", "\""),
                ("--password ", ""),
                ("pwd=", ""),
                ("--password=", ""),
                ("PASSWORD: ", ""),
                ("dbPassword=", ""),
                ("'password': '", "'"),
                ("password: ", ""),
            ]);
            within(before, password(dice), after)
        }
        other => panic!("no generator for `{other}`"),
    }
}

fn password(dice: &mut Dice) -> String {
    let length = 8 + dice.below(16);
    let symbols = dice.pick(&["uld", "uld", "uld!", "uld$^*_-.", "uld#+~"]);
    // The last one is a digit, so that no trailing mark is a sentence's.
    format!("{}{}{}", dice.letters("l", 1), dice.letters(symbols, length), dice.letters("d", 1))
}

fn pem_body(dice: &mut Dice, lines: usize) -> String {
    let mut body = String::new();
    for _ in 0..lines {
        body.push_str("\\n");
        body.push_str(&dice.letters("uld+/", 64));
    }
    body
}

/// A log line around a phrase.
pub fn line(dice: &mut Dice, phrase: &str) -> String {
    let (id, took) = (dice.letters("x", 16), dice.below(900));
    match dice.below(8) {
        0 => format!("2026-05-04T10:{:02}:11.123Z ERROR checkout request {id} failed: {phrase}", dice.below(60)),
        1 => format!("level=warn service=payments took={took}ms trace={id} msg={phrase} retry=3"),
        2 => format!("May  4 10:11:12 node-7 app[{took}]: {phrase} rejected by upstream"),
        3 => {
            format!("10.2.3.4 - - [04/May/2026:10:11:12 +0000] \"GET /v1/orders/{took} HTTP/1.1\" 502 {took} {phrase}")
        }
        4 => format!("config loaded ({phrase}) in {took} ms"),
        5 => format!("+ env {phrase} ./run --port {took}"),
        6 => phrase.to_owned(),
        _ => format!("DEBUG [{id}] sending {phrase}; attempt 2 of 5"),
    }
}

/// A way to write a phrase, and what then must not survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Plain,
    Url,
    DoubleUrl,
    Json,
    Unicode,
    Base64,
    Hex,
}

impl Encoding {
    pub const ALL: [Self; 7] =
        [Self::Plain, Self::Url, Self::DoubleUrl, Self::Json, Self::Unicode, Self::Base64, Self::Hex];

    pub fn write(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Url => url(text),
            Self::DoubleUrl => url(&url(text)),
            Self::Json => serde_json::to_string(text).unwrap().trim_matches('"').to_owned(),
            Self::Unicode => text.chars().fold(String::new(), |all, character| {
                if "aeiou=:\\\"".contains(character) {
                    format!("{all}\\u{:04x}", u32::from(character))
                } else {
                    all + &character.to_string()
                }
            }),
            Self::Base64 => STANDARD.encode(text),
            Self::Hex => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

fn url(text: &str) -> String {
    text.bytes().fold(String::new(), |all, byte| {
        let plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        if plain { all + &char::from(byte).to_string() } else { format!("{all}%{byte:02X}") }
    })
}

/// A line that holds no secret and looks as if.
pub fn decoy(dice: &mut Dice) -> String {
    let hex = |dice: &mut Dice, count| dice.letters("x", count);
    match dice.below(16) {
        0 => format!(
            "request_id={}-{}-4{}-a{}-{} done",
            hex(dice, 8),
            hex(dice, 4),
            hex(dice, 3),
            hex(dice, 3),
            hex(dice, 12)
        ),
        1 => format!("pulled image registry.local/checkout@sha256:{}", hex(dice, 64)),
        2 => format!("deployed commit {} to production", hex(dice, 40)),
        3 => format!("trace_id={} span_id={} sampled=true", hex(dice, 32), hex(dice, 16)),
        4 => format!("ETag: \"{}==\" cache hit", dice.letters("uld+/", 22)),
        5 => format!(
            "password={} user=root",
            dice.pick(&[
                "****",
                "********",
                "<redacted>",
                "[FILTERED]",
                "${DB_PASSWORD}",
                "$DB_PASSWORD",
                "[REDACTED]",
                "xxxxxxxx",
                "null"
            ])
        ),
        6 => format!("invalid password for root from 10.0.{}.{} port 22", dice.below(255), dice.below(255)),
        7 => "secret mounted at /var/run/secrets/kubernetes.io/serviceaccount".to_owned(),
        8 => format!("integrity sha512-{}==", dice.letters("uld+/", 86)),
        9 => format!(
            "pod checkout-{}-{} started on node-{}",
            dice.letters("bcdfghjklmnpqrstvwxz2456789", 10),
            dice.letters("bcdfghjklmnpqrstvwxz2456789", 5),
            dice.below(9)
        ),
        10 => format!("GET /v1/objects/{}/versions/{} 200", hex(dice, 24), dice.letters("uld_-", 22)),
        11 => format!(
            "resourceVersion: \"{}\" uid: {}-{}-4{}-8{}-{}",
            dice.letters("d", 9),
            hex(dice, 8),
            hex(dice, 4),
            hex(dice, 3),
            hex(dice, 3),
            hex(dice, 12)
        ),
        12 => dice
            .pick(&[
                "password expired for user alice",
                "token expired, asking for a new one",
                "invalid token: unexpected end of input",
                "secret \"checkout-tls\" not found in namespace shop",
                "no password: required",
                "password: must be at least 12 characters long",
            ])
            .to_owned(),
        13 => format!(
            "max_tokens={} tokens=512 next_token={} token_type=bearer",
            dice.below(9000),
            dice.letters("uld", 24)
        ),
        14 => format!(
            "payload {} bytes protobuf {}",
            dice.below(900),
            STANDARD.encode(dice.letters("\u{1}\u{8}\u{12}\u{1a}\u{20}ld", 48))
        ),
        _ => format!(
            "https://grafana.local:3000/d/{}?orgId=1&from=now-1h@utc key={}",
            dice.letters("uld", 9),
            hex(dice, 40)
        ),
    }
}

/// An ordinary log line.
pub fn benign(dice: &mut Dice) -> String {
    let (id, took, code) = (dice.letters("x", 32), dice.below(900), dice.pick(&[200, 201, 404, 502]));
    let service = dice.pick(&["checkout", "payments", "gateway", "orders", "inventory", "search"]);
    match dice.below(10) {
        0 => format!(
            "{{\"ts\":\"2026-05-04T10:11:{:02}.{took:03}Z\",\"level\":\"info\",\"service\":\"{service}\",\"trace_id\":\"{id}\",\"msg\":\"handled request\",\"status\":{code},\"duration_ms\":{took}}}",
            dice.below(60)
        ),
        1 => format!(
            "2026-05-04T10:{:02}:12.{took:03}Z INFO {service} GET /api/v1/orders/{took} status={code} took={took}ms",
            dice.below(60)
        ),
        2 => format!(
            "10.1.{}.{} - - [04/May/2026:10:11:12 +0000] \"POST /v1/cart/{took}/items HTTP/1.1\" {code} {took} \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"",
            dice.below(255),
            dice.below(255)
        ),
        3 => format!("level=debug service={service} msg=\"pool stats\" size=20 idle={} waiting={took}", dice.below(20)),
        4 => format!(
            "May  4 10:11:{:02} node-{} kubelet[812]: I0504 10:11:12.{took:06} 812 kubelet.go:1234] SyncLoop UPDATE source=\"api\" pods=[\"shop/{service}-7d9f8b6c5-x2x4z\"]",
            dice.below(60),
            dice.below(9)
        ),
        5 => format!(
            "WARN {service} retrying call to http://{service}.svc.cluster.local:8080/internal/quote?item={took} attempt={}",
            dice.below(5)
        ),
        6 => format!(
            "2026-05-04 10:11:12,{took:03} [http-nio-8080-exec-{}] DEBUG o.s.web.servlet.DispatcherServlet - Completed {code} OK in {took} ms",
            dice.below(20)
        ),
        7 => format!(
            "ts=2026-05-04T10:11:12Z caller=compact.go:519 level=info component=tsdb msg=\"write block\" mint={took}000 maxt={took}999 ulid=01HX{} duration={took}ms",
            dice.letters("ud", 22)
        ),
        8 => format!(
            "{service}: cache miss for key cart:{took}:{} falling back to store, {} rows",
            dice.letters("d", 6),
            dice.below(50)
        ),
        _ => format!(
            "INFO authentication of user u{took} succeeded, session refreshed, {} tokens left in bucket",
            dice.below(100)
        ),
    }
}
