//! One `[alerts.NAME]`, looked at field by field; every problem names its key and what to write.

use super::{
    Authentication, Duration, Form, HeaderName, Kind, Pointers, Proof, Route, RouteSection, Secret, Signature,
    Subscriptions, Topic,
};

/// Shorter secrets can be guessed.
const SHORTEST: usize = 16;

const BODY_LIMIT: usize = 1 << 20;

/// How far a signed time may be off.
const TOLERANCE: Duration = Duration::from_mins(5);

pub(super) struct Checking<'c> {
    pub(super) name: &'c str,
    pub(super) section: &'c RouteSection,
    pub(super) env: &'c dyn Fn(&str) -> Option<String>,
    pub(super) problems: &'c mut Vec<String>,
}

impl Checking<'_> {
    fn problem(&mut self, key: &str, what: &str) {
        self.problems.push(format!("`alerts.{}.{key}`: {what}", self.name));
    }

    /// The route; none where something is wrong, which has been said.
    pub(super) fn route(&mut self) -> Option<Route> {
        let (before, name, section) = (self.problems.len(), self.name, self.section);
        let fits = (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_');
        if !fits {
            self.problems.push(format!("`[alerts.{name}]`: write a name of lower-case letters, digits, `-` and `_`"));
        }
        let Some(kind) = section.kind.or_else(|| Kind::of_name(name)) else {
            let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
            self.problem("kind", &format!("`{name}` is no kind; write one of {}", kinds.join(", ")));
            return None;
        };
        let authentication = self.authentication(kind);
        let topics = self.topics(kind);
        let pointers = self.pointers(kind);
        let body_limit = section.body_limit.unwrap_or(BODY_LIMIT);
        if !(1 << 10..=16 << 20).contains(&body_limit) {
            self.problem("body_limit", "write 1024 to 16777216 bytes");
        }
        let usual = ["service", "app", "application", "job", "container", "namespace"];
        let service_labels = section.service_labels.clone();
        (self.problems.len() == before).then(|| Route {
            name: name.to_owned(),
            kind,
            authentication,
            topics,
            subscriptions: if section.confirm_subscriptions { Subscriptions::Confirmed } else { Subscriptions::Told },
            role: section.role.clone(),
            groups: section.groups.clone(),
            severity_label: section.severity_label.clone().unwrap_or_else(|| "severity".to_owned()),
            service_labels: service_labels.unwrap_or_else(|| usual.map(str::to_owned).into()),
            pointers,
            body_limit,
            severities: section.severities.iter().map(|(word, urgency)| (word.to_lowercase(), *urgency)).collect(),
        })
    }

    fn secret(&mut self, key: &str, variable: &str) -> Option<Secret> {
        match (self.env)(variable) {
            Some(value) if value.trim().len() >= SHORTEST => Some(Secret::new(value.trim())),
            Some(_) => {
                self.problem(
                    key,
                    &format!("`${variable}` holds fewer than {SHORTEST} characters; set a longer secret"),
                );
                None
            }
            None => {
                self.problem(key, &format!("`${variable}` is not set; set it to the secret, or leave `{key}` out"));
                None
            }
        }
    }

    fn header(&mut self, key: &str, text: &str) -> Option<HeaderName> {
        let header = text.parse().ok();
        if header.is_none() {
            self.problem(key, "is no name of an HTTP header; write one as in `X-Signature`");
        }
        header
    }

    fn authentication(&mut self, kind: Kind) -> Authentication {
        let section = self.section;
        let mut asked = Vec::new();
        if let Some(variable) = &section.bearer_env {
            asked.extend(self.secret("bearer_env", variable).map(|token| Proof::Bearer(Box::new(token))));
        }
        match (&section.basic_user, &section.basic_password_env) {
            (Some(user), Some(variable)) => {
                if user.is_empty() || user.contains(':') {
                    self.problem("basic_user", "write a user's name without `:`");
                }
                let password = self.secret("basic_password_env", variable);
                asked.extend(password.map(|password| Proof::Basic(Box::new(password.after(&format!("{user}:"))))));
            }
            (None, None) => {}
            (Some(_), None) => self.problem("basic_password_env", "is missing beside `basic_user`"),
            (None, Some(_)) => self.problem("basic_user", "is missing beside `basic_password_env`"),
        }
        if section.bearer_env.is_some() && section.basic_user.is_some() {
            self.problem(
                "bearer_env",
                "stands beside `basic_user`; a request bears one `Authorization`: keep one of both",
            );
        }
        if kind == Kind::Sentry && !asked.is_empty() {
            self.problem("kind", "Sentry signs and sends no `Authorization`; write `secret_env` alone");
        }
        if kind == Kind::Sns && !asked.is_empty() {
            self.problem("kind", "SNS proves itself by its certificate; write `topics` alone");
        }
        asked.extend(self.signature(kind));
        Authentication::new(asked)
    }

    fn signature(&mut self, kind: Kind) -> Option<Proof> {
        let section = self.section;
        let Some(variable) = &section.secret_env else {
            for (key, given) in
                [("signature_header", &section.signature_header), ("timestamp_header", &section.timestamp_header)]
            {
                if given.is_some() {
                    self.problem(key, "means nothing without `secret_env`");
                }
            }
            return None;
        };
        let Some((own, form)) = kind.signature() else {
            self.problem(
                "secret_env",
                &format!("a sender of kind `{}` does not sign; write `bearer_env`", kind.as_str()),
            );
            return None;
        };
        let secret = self.secret("secret_env", variable);
        let header = match (&section.signature_header, own) {
            (Some(given), _) => self.header("signature_header", given),
            (None, Some(own)) => Some(HeaderName::from_static(own)),
            (None, None) => {
                self.problem("signature_header", "is missing beside `secret_env`: name the header with the signature");
                None
            }
        };
        let timestamp = match &section.timestamp_header {
            Some(_) if form == Form::List || kind == Kind::Sentry => {
                self.problem("timestamp_header", &format!("a sender of kind `{}` signs no time", kind.as_str()));
                None
            }
            Some(given) => self.header("timestamp_header", given),
            None => None,
        };
        Some(Proof::Signature(Signature { header: header?, form, timestamp, secret: secret?, tolerance: TOLERANCE }))
    }

    fn topics(&mut self, kind: Kind) -> Vec<Topic> {
        let section = self.section;
        if kind != Kind::Sns && (!section.topics.is_empty() || section.confirm_subscriptions) {
            self.problem("topics", "is for `kind = \"sns\"` alone, as is `confirm_subscriptions`");
        }
        let mut topics = Vec::new();
        for arn in &section.topics {
            match Topic::parse(arn) {
                Some(topic) => topics.push(topic),
                None => self.problem(
                    "topics",
                    &format!(
                        "`{arn}` is no ARN of a topic; write one as in `arn:aws:sns:eu-west-1:123456789012:alarms`"
                    ),
                ),
            }
        }
        topics
    }

    fn pointers(&mut self, kind: Kind) -> Pointers {
        let pointers = match (&self.section.pointers, kind) {
            (Some(pointers), Kind::Generic) => pointers.clone(),
            (None, Kind::Generic) => {
                self.problem(
                    "pointers",
                    "is missing: say where in the body things stand, at least `name = \"/title\"`",
                );
                Pointers::default()
            }
            (Some(_), _) => {
                self.problem("pointers", "is for `kind = \"generic\"` alone");
                Pointers::default()
            }
            (None, _) => return Pointers::default(),
        };
        for (key, pointer) in pointers.all() {
            if !pointer.starts_with('/') {
                self.problem(&format!("pointers.{key}"), &format!("`{pointer}` is no JSON pointer; begin it with `/`"));
            }
        }
        pointers
    }
}
