//! The shapes of secrets, as data.
//!
//! A rule is looked at only where one of its keywords stands (found without regard to case; `Case::Exact` then insists
//! on it). The secret is the group `s`, else the whole match. No pattern may need a tail that a long text can keep it
//! from finding: repeats before a required tail exclude what starts the pattern, or are bounded.
//! Earlier rules win where two find the same bytes. Names with values (`password=...`) are in `names`, URLs in `url`,
//! private keys in `pem`.

/// Whether a keyword must stand exactly as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Exact,
    Any,
}

/// What is asked of the bytes beyond the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Nothing.
    None,
    /// Not a mask, a variable or an example.
    Real,
    /// As a generated value looks, not as a word or a name does.
    Random,
    /// Exactly forty characters, upper and lower case and digits.
    AwsSecret,
    /// Base64 of `user:password`.
    Basic,
    /// A list of cookies, of which each value is a secret.
    Cookies,
    /// Glued to a flag: letters and digits, no port mapping.
    Glued,
}

/// One shape.
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) case: Case,
    pub(super) keywords: &'static [&'static str],
    pub(super) pattern: &'static str,
    pub(super) check: Check,
}

const fn token(kind: &'static str, keywords: &'static [&'static str], pattern: &'static str) -> Shape {
    Shape { kind, case: Case::Exact, keywords, pattern, check: Check::None }
}

const fn phrase(kind: &'static str, keywords: &'static [&'static str], pattern: &'static str, check: Check) -> Shape {
    Shape { kind, case: Case::Any, keywords, pattern, check }
}

/// All of them, the narrow ones first.
pub(super) const SHAPES: &[Shape] = &[
    token("aws_access_key_id", &["AKIA", "ASIA"], "(?:AKIA|ASIA)[A-Z2-7]{16}"),
    token(
        "aws_session_token",
        &["FwoGZXIvYXdz", "IQoJb3JpZ2lu"],
        "(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9/+_-]{40,}={0,2}",
    ),
    token("gcp_api_key", &["AIza"], r"AIza[\w-]{35}"),
    phrase(
        "azure_storage",
        &["AccountKey", "SharedAccessKey"],
        r"(?i:AccountKey|SharedAccessKey)\s{0,4}[=:]\s{0,4}(?P<s>[A-Za-z0-9+/]{20,}={0,2})",
        Check::Real,
    ),
    token("azure_client_secret", &["8Q~", "7Q~"], r"[\w.~-]{3}[78]Q~[\w.~-]{31,37}"),
    token("github_fine", &["github_pat_"], r"github_pat_\w{40,}"),
    token("github_app", &["ghs_", "ghu_", "ghr_"], "gh[sur]_[A-Za-z0-9]{36,}"),
    token("github_pat", &["ghp_", "gho_"], "gh[po]_[A-Za-z0-9]{36,}"),
    token("warrant_token", &["warrant_"], "warrant_[0-9a-f]{64}"),
    token("gitlab_pat", &["glpat-", "glptt-", "gldt-", "glrt-"], r"gl(?:pat|ptt|dt|rt)-[\w-]{20,}"),
    token(
        "slack_bot",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe."],
        r"xox[bparse][.-][A-Za-z0-9.-]{10,}",
    ),
    token("slack_app", &["xapp-"], r"xapp-\d-[A-Za-z0-9-]{10,}"),
    phrase(
        "slack_webhook",
        &["hooks.slack.com/"],
        r"(?i:hooks\.slack\.com)/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/]{20,})",
        Check::None,
    ),
    phrase("webhook", &["/api/webhooks/"], r"(?i:/api/webhooks)/(?P<s>\d{5,}/[\w-]{20,})", Check::None),
    token(
        "stripe",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"],
        "(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}",
    ),
    token(
        "twilio",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe",
            "SKf",
        ],
        r"\b{start-half}SK[0-9a-f]{32}\b{end-half}",
    ),
    token("sendgrid", &["SG."], r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    token("mailgun", &["key-"], r"\b{start-half}key-[0-9a-f]{32}\b{end-half}"),
    token("npm", &["npm_"], "npm_[A-Za-z0-9]{36,}"),
    token("pypi", &["pypi-AgE"], r"pypi-AgE[\w-]{40,}"),
    token("dockerhub", &["dckr_pat_"], r"dckr_pat_[\w-]{20,}"),
    token("huggingface", &["hf_"], "hf_[A-Za-z0-9]{34,}"),
    token("anthropic", &["sk-ant-"], r"sk-ant-[\w-]{20,}"),
    token(
        "openai",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "T3BlbkFJ"],
        r"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,})",
    ),
    token("grafana_sa", &["glsa_"], "glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    token("grafana_cloud", &["glc_"], "glc_[A-Za-z0-9+/]{32,}={0,2}"),
    token("newrelic", &["NRAK-"], "NRAK-[A-Z0-9]{27}"),
    token("vault", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[\w-]{24,}"),
    token("terraform", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    token("jwt", &["eyJ"], r"eyJ[\w-]{5,}={0,2}\.eyJ[\w-]{5,}={0,2}(?:\.[\w-]*={0,2})?"),
    phrase(
        "datadog",
        &["dd_api", "dd-api", "dd_app", "dd-app", "datadog"],
        r#"(?i:dd|datadog)[_-]?(?i:api|app|application)[_-]?(?i:key)["'\\]{0,4}\s{0,4}[:=]{1,2}\s{0,4}["'\\]{0,4}(?P<s>[0-9a-fA-F]{32,40})"#,
        Check::None,
    ),
    phrase(
        "pagerduty",
        &["token token="],
        r#"(?i:token\s{1,4}token\s{0,4}=)\s{0,4}["'\\]{0,4}(?P<s>[\w+/=-]{16,})"#,
        Check::Real,
    ),
    phrase(
        "aws_secret_access_key",
        &["secret", "aws"],
        r#"(?i:secret|aws)[\w \t"'\\:=>.-]{0,40}?[ \t"'\\:=>](?P<s>[A-Za-z0-9/+]{40,})"#,
        Check::AwsSecret,
    ),
    phrase(
        "basic_auth",
        &["basic "],
        r"\b{start-half}(?i:basic)[ \t]{1,4}(?P<s>[A-Za-z0-9+/_-]{6,}={0,2})",
        Check::Basic,
    ),
    phrase(
        "bearer_opaque",
        &["authorization"],
        r#"(?i:authorization)["'\\\]]{0,4}\s{0,4}[:=]\s{0,4}["'\\\[]{0,4}(?i:bearer|token|digest|apikey|api-key|key|negotiate|ntlm|splunk)[ \t]{1,4}(?i:token=)?["'\\]{0,4}(?P<s>[^\s"'\\,;]{6,})"#,
        Check::Real,
    ),
    phrase(
        "bearer_opaque",
        &["authorization"],
        r#"(?i:authorization)["'\\\]]{0,4}\s{0,4}[:=]\s{0,4}["'\\\[]{0,4}(?P<s>[^\s"'\\,;]{8,})"#,
        Check::Random,
    ),
    phrase(
        "bearer_opaque",
        &["bearer "],
        r"\b{start-half}(?i:bearer)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/-]{12,}={0,2})",
        Check::Random,
    ),
    phrase(
        "cookie",
        &["cookie"],
        r#"(?i:cookie)["'\\\]]{0,4}\s{0,4}[:=]\s{0,4}["'\\\[]{0,4}(?P<s>[^\r\n"']+)"#,
        Check::Cookies,
    ),
    phrase(
        "password_dsn",
        &["@tcp(", "@unix("],
        r#"[\w.-]{1,64}:(?P<s>[^\s@"'/]{1,128})@(?i:tcp|unix)\("#,
        Check::Real,
    ),
    phrase(
        "password_flag",
        &["mysql", "mariadb"],
        r#"(?i:mysql|mariadb)[\w-]{0,12}[ \t][^\n|;"]{0,200}?[ \t]-p["']?(?P<s>[^\s'"-][^\s'"]{0,127})"#,
        Check::Real,
    ),
    phrase(
        "password_flag",
        &["sshpass", "docker login", "redis-cli"],
        r#"(?i:sshpass|docker login|redis-cli)(?: [^\n|;]{0,200}?)? -[pa][ \t]{0,4}["']?(?P<s>[^\s'"-][^\s'"]{0,127})"#,
        Check::Real,
    ),
    phrase(
        "password_flag",
        &["curl", "wget"],
        r#"(?i:curl|wget)\b[^\n|;]{0,300}?\s(?:-u|--user)[\s=]{0,4}["']?[^\s:"']{1,64}:(?P<s>[^\s"']{1,128})"#,
        Check::Real,
    ),
    phrase(
        "password_flag",
        &[" -p", "\t-p", "\n-p", "\"-p", "'-p"],
        r#"(?:^|[\s"'])-p["']?(?P<s>[^\s'"-][^\s'"]{4,127})"#,
        Check::Glued,
    ),
    phrase(
        "password_kv",
        &["identified by", "password '"],
        r"(?i:identified by|password)[ \t]{1,4}(?i:password[ \t]{1,4})?'(?P<s>[^'\n]{1,128})'",
        Check::Real,
    ),
];
