//! The 40 kinds of secrets, as their shapes are written down in `tests/data/secrets/kinds.json`.

use crate::draw::{ALNUM, BASE64, CAPITALS, Draw, HEX, LETTERS, URL_SAFE};

/// A secret as it stands in the world.
#[derive(Debug, Clone)]
pub struct Planted {
    /// Names that such a value bears, in the manner of an environment: the first is the usual one.
    pub name: String,
    /// The value with what belongs to it: the scheme and host of a URL, the armour of a key.
    pub text: String,
    /// What of it must not be seen. It stands in `text` literally, for keys in armour line by line.
    pub secret: Vec<String>,
    /// Where it can be known for what it is.
    pub known: Known,
}

/// What a kind is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// By itself.
    Alone,
    /// Only beside its name.
    ByName,
    /// As the value of an `Authorization` header.
    InHeader,
}

fn planted(name: &str, prefix: &str, secret: String, suffix: &str) -> Planted {
    Planted {
        name: name.to_owned(),
        text: format!("{prefix}{secret}{suffix}"),
        secret: vec![secret],
        known: Known::Alone,
    }
}

fn by_name(name: &str, secret: String) -> Planted {
    Planted { known: Known::ByName, ..planted(name, "", secret, "") }
}

/// A key in armour, its lines kept apart by `between`.
fn armoured(name: &str, label: &str, draw: &mut Draw, between: &str) -> Planted {
    let lines = draw.between(6, 14);
    let mut body: Vec<String> = (0..lines).map(|_| draw.chars(64, BASE64)).collect();
    let rest = draw.between(20, 60);
    body.push(draw.chars(rest, BASE64));
    let text = format!("-----BEGIN {label}-----{between}{}=={between}-----END {label}-----", body.join(between));
    Planted { name: name.to_owned(), text, secret: body, known: Known::Alone }
}

fn host(draw: &mut Draw) -> String {
    format!("{}-{}.internal", draw.one(&["db", "orders", "cache", "queue", "ledger"]), draw.between(1, 9))
}

fn user(draw: &mut Draw) -> &'static str {
    draw.one::<&str>(&["app", "svc_checkout", "admin", "reporting", "u"])
}

/// `scheme://user:secret@host/...`
fn dsn(name: &str, scheme: &str, user: &str, tail: &str, draw: &mut Draw) -> Planted {
    let secret = draw.password("-_.~!$");
    let host = host(draw);
    planted(name, &format!("{scheme}://{user}:"), secret, &format!("@{host}{tail}"))
}

/// The names of all kinds, in the order of the file.
pub const KINDS: &[&str] = &[
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

/// A value of this kind.
#[expect(clippy::too_many_lines, reason = "one arm a kind, as in the file")]
pub fn plant(kind: &str, draw: &mut Draw) -> Planted {
    match kind {
        "aws_access_key_id" => {
            let prefix = *draw.one(&["AKIA", "ASIA"]);
            let rest = draw.chars(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
            planted("AWS_ACCESS_KEY_ID", "", format!("{prefix}{rest}"), "")
        }
        "aws_secret_access_key" => by_name("AWS_SECRET_ACCESS_KEY", draw.chars(40, BASE64)),
        "aws_session_token" => planted("AWS_SESSION_TOKEN", "FwoGZXIvYXdz", draw.chars(240, BASE64), ""),
        "gcp_api_key" => planted("GOOGLE_API_KEY", "AIza", draw.chars(35, URL_SAFE), ""),
        "gcp_sa_json" => {
            let key = armoured("GOOGLE_CREDENTIALS", "PRIVATE KEY", draw, "\\n");
            let id = draw.chars(40, HEX);
            let text = format!(
                r#"{{"type":"service_account","project_id":"shop-prod","private_key_id":"{id}","private_key":"{}\n","client_email":"checkout@shop-prod.iam.gserviceaccount.com"}}"#,
                key.text
            );
            Planted { text, ..key }
        }
        "azure_storage" => {
            let secret = draw.chars(86, BASE64);
            planted(
                "AZURE_STORAGE_CONNECTION_STRING",
                "DefaultEndpointsProtocol=https;AccountName=shopprod;AccountKey=",
                secret,
                "==;EndpointSuffix=core.windows.net",
            )
        }
        "azure_client_secret" => {
            planted("AZURE_CLIENT_SECRET", "", draw.chars(3, ALNUM) + "8Q~" + &draw.chars(34, ALNUM), "")
        }
        "github_pat" => planted("GITHUB_TOKEN", "ghp_", draw.chars(36, ALNUM), ""),
        "github_fine" => planted("GH_TOKEN", "github_pat_", draw.chars(22, ALNUM) + "_" + &draw.chars(59, ALNUM), ""),
        "github_app" => planted("GITHUB_APP_TOKEN", "ghs_", draw.chars(36, ALNUM), ""),
        "gitlab_pat" => planted("GITLAB_TOKEN", "glpat-", draw.chars(20, URL_SAFE), ""),
        "slack_bot" => {
            let ids = format!("xoxb-{}-{}-", draw.digits(12), draw.digits(13));
            planted("SLACK_BOT_TOKEN", &ids, draw.chars(24, ALNUM), "")
        }
        "slack_webhook" => {
            let place = format!("T{}/B{}/", draw.chars(8, CAPITALS), draw.chars(10, CAPITALS));
            let secret = draw.chars(24, ALNUM);
            planted("SLACK_WEBHOOK_URL", &format!("https://hooks.slack.com/services/{place}"), secret, "")
        }
        "slack_app" => {
            let ids = format!("xapp-1-A{}-{}-", draw.chars(10, CAPITALS), draw.digits(13));
            planted("SLACK_APP_TOKEN", &ids, draw.chars(64, HEX), "")
        }
        "stripe" => planted("STRIPE_SECRET_KEY", "sk_live_", draw.chars(24, ALNUM), ""),
        "twilio" => planted("TWILIO_API_KEY", "SK", draw.chars(32, HEX), ""),
        "sendgrid" => {
            planted("SENDGRID_API_KEY", "SG.", draw.chars(22, URL_SAFE) + "." + &draw.chars(43, URL_SAFE), "")
        }
        "mailgun" => planted("MAILGUN_API_KEY", "key-", draw.chars(32, HEX), ""),
        "npm" => planted("NPM_TOKEN", "npm_", draw.chars(36, ALNUM), ""),
        "pypi" => planted("TWINE_PASSWORD", "pypi-AgEIcHlwaS5vcmc", draw.chars(80, URL_SAFE), ""),
        "dockerhub" => planted("DOCKERHUB_TOKEN", "dckr_pat_", draw.chars(27, URL_SAFE), ""),
        "huggingface" => planted("HF_TOKEN", "hf_", draw.chars(34, LETTERS), ""),
        "openai" => {
            let secret = draw.chars(74, URL_SAFE) + "T3BlbkFJ" + &draw.chars(74, URL_SAFE);
            planted("OPENAI_API_KEY", "sk-proj-", secret, "")
        }
        "anthropic" => planted("ANTHROPIC_API_KEY", "sk-ant-api03-", draw.chars(93, URL_SAFE) + "AA", ""),
        "pagerduty" => {
            let it = planted("Authorization", "Token token=", draw.chars(20, ALNUM), "");
            Planted { known: Known::InHeader, ..it }
        }
        "datadog" => by_name("DD_API_KEY", draw.chars(32, HEX)),
        "grafana_sa" => planted("GRAFANA_TOKEN", "glsa_", draw.chars(32, ALNUM) + "_" + &draw.chars(8, HEX), ""),
        "newrelic" => planted("NEW_RELIC_API_KEY", "NRAK-", draw.chars(27, CAPITALS), ""),
        "sentry_dsn" => {
            let tail = format!("@o{}.ingest.sentry.io/{}", draw.digits(6), draw.digits(7));
            planted("SENTRY_DSN", "https://", draw.chars(32, HEX), &tail)
        }
        "vault" => planted("VAULT_TOKEN", "hvs.", draw.chars(95, URL_SAFE), ""),
        "terraform" => {
            let id = draw.chars(14, ALNUM);
            planted("TF_TOKEN_app_terraform_io", &format!("{id}.atlasv1."), draw.chars(64, URL_SAFE), "")
        }
        "jwt" => {
            let payload = draw.between(60, 140);
            let secret = format!("{}.{}", draw.chars(payload, URL_SAFE), draw.chars(43, URL_SAFE));
            planted("ID_TOKEN", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ", secret, "")
        }
        "rsa_pem" => armoured("TLS_PRIVATE_KEY", "RSA PRIVATE KEY", draw, "\\n"),
        "openssh_pem" => armoured("DEPLOY_KEY", "OPENSSH PRIVATE KEY", draw, "\\n"),
        "basic_url" => {
            let (scheme, user) = (*draw.one(&["https", "http", "amqp", "ftp"]), user(draw));
            dsn("REGISTRY_URL", scheme, user, "/v2/", draw)
        }
        "postgres_dsn" => {
            let user = user(draw);
            dsn("DATABASE_URL", "postgres", user, ":5432/orders?sslmode=require", draw)
        }
        "mongo_dsn" => {
            let user = user(draw);
            dsn("MONGO_URI", "mongodb+srv", user, "/orders?retryWrites=true", draw)
        }
        "redis_dsn" => dsn("REDIS_URL", "redis", "", ":6379/0", draw),
        "bearer_opaque" => {
            let it = planted("Authorization", "Bearer ", draw.chars(40, ALNUM), "");
            Planted { known: Known::InHeader, ..it }
        }
        "password_kv" => {
            let name = *draw.one(&["DB_PASSWORD", "PASSWORD", "PASSWD", "PWD", "ADMIN_PASSWORD"]);
            by_name(name, draw.password("!#^*_-+.@"))
        }
        other => panic!("no such kind: {other}"),
    }
}
