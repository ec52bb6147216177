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
    /// The bytes that may not survive.
    pub secret: String,
    /// Those bytes with what makes them a secret (`password=...`).
    pub phrase: String,
}

/// A secret of this kind.
#[expect(clippy::too_many_lines, reason = "a table, one arm a kind")]
pub fn plant(kind: &'static str, dice: &mut Dice) -> Planted {
    let bare = |secret: String| Planted { phrase: secret.clone(), secret };
    let within =
        |before: &str, secret: String, after: &str| Planted { phrase: format!("{before}{secret}{after}"), secret };
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
            Self::Hex => text
                .bytes()
                .flat_map(|byte| [byte >> 4, byte & 15])
                .filter_map(|half| char::from_digit(half.into(), 16))
                .collect(),
        }
    }
}

fn url(text: &str) -> String {
    text.bytes().fold(String::new(), |all, byte| {
        let plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        if plain { all + &char::from(byte).to_string() } else { format!("{all}%{byte:02X}") }
    })
}
