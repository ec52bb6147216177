//! `[telemetry]` of the config, checked: where the spans of investigations are sent, with what, and how much of them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use warrant_toolbox::catalog::reach::Reach;

/// What the resource is called where the config does not say.
const SERVICE_NAME: &str = "warrant";

/// Headers that belong to the request itself.
const OWN: [&str; 6] =
    ["content-type", "content-length", "content-encoding", "transfer-encoding", "host", "connection"];

/// Most bytes of a header's value.
const MAX_VALUE: usize = 8 * 1024;

/// `[telemetry]` as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Where the collector is; `/v1/traces` is added, as the specification of OTLP says.
    pub otlp_endpoint: String,
    /// Headers whose values are in environment variables: header = variable.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    /// Headers whose values are in files: header = file.
    #[serde(default)]
    pub headers_file: BTreeMap<String, PathBuf>,
    /// `service.name` of the resource.
    pub service_name: Option<String>,
    /// Whether questions, answers, arguments and results are sent too.
    #[serde(default)]
    pub content: bool,
}

/// How much of an investigation leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Names, counts and times only.
    Left,
    /// What was said and found too, masked.
    Sent,
}

/// `[telemetry]`, checked.
#[derive(Clone)]
pub struct Checked {
    /// Where spans are posted.
    pub url: Url,
    /// What goes with each post.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// `service.name`.
    pub service_name: String,
    /// How much leaves.
    pub content: Content,
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

impl Telemetry {
    /// What is wrong with it, whatever the environment holds.
    pub fn check(&self, problems: &mut Vec<String>) {
        problems.extend(self.url().err());
        problems.extend(self.headers_env.keys().chain(self.headers_file.keys()).filter_map(|name| header(name).err()));
        let same = |name: &&String| self.headers_file.keys().any(|other| other.eq_ignore_ascii_case(name));
        problems.extend(self.headers_env.keys().filter(same).map(|name| {
            format!("`telemetry`: the header `{name}` is in `headers_env` and in `headers_file`; keep one")
        }));
        let named = self.service_name.as_deref().unwrap_or(SERVICE_NAME);
        if named.trim().is_empty() || named.chars().count() > 200 {
            problems.push("`telemetry.service_name` must be a name of at most 200 characters".to_owned());
        }
    }

    /// Reads the headers. `env` looks up environment variables. Beside it the values, which must never be shown.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn read(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<(Checked, Vec<String>), Vec<String>> {
        let mut problems = Vec::new();
        self.check(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let of_env = self.headers_env.iter().map(|(name, variable)| {
            let missing = || format!("`telemetry.headers_env`: `{variable}` is not set; it holds the header `{name}`");
            (name, env(variable).ok_or_else(missing))
        });
        let of_files = self.headers_file.iter().map(|(name, path)| {
            let unread = |error| format!("`telemetry.headers_file`: can't read `{}`: {error}", path.display());
            (name, std::fs::read_to_string(path).map_err(unread))
        });
        let (mut headers, mut secrets) = (Vec::new(), Vec::new());
        for (name, value) in of_env.chain(of_files) {
            match value.and_then(|value| Ok((header(name)?, sent(name, value.trim())?, value.trim().to_owned()))) {
                Ok((name, value, secret)) => {
                    // `Bearer abc`: what is secret is `abc`, wherever it stands.
                    secrets.extend(secret.split_whitespace().next_back().map(str::to_owned));
                    secrets.push(secret);
                    headers.push((name, value));
                }
                Err(problem) => problems.push(problem),
            }
        }
        match self.url() {
            Ok(url) if problems.is_empty() => {
                let service_name = self.service_name.clone().unwrap_or_else(|| SERVICE_NAME.to_owned());
                let content = if self.content { Content::Sent } else { Content::Left };
                Ok((Checked { url, headers, service_name, content }, secrets))
            }
            _ => Err(problems),
        }
    }

    /// The address of the traces below the endpoint.
    fn url(&self) -> Result<Url, String> {
        let wrong = |what: &str| format!("`telemetry.otlp_endpoint` {what}; write it as in `http://127.0.0.1:4318`");
        let url = Url::parse(&self.otlp_endpoint).map_err(|_| wrong("is not an http or https URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("is not an http or https URL"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("holds a user or password, which belong into `headers_env`"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("holds a query or fragment"));
        }
        if url.host_str().is_none_or(|host| Reach::anywhere(host).is_err()) {
            return Err(wrong("is a link-local or metadata address"));
        }
        let path = url.path().trim_end_matches('/');
        if path.ends_with("/v1/traces") {
            return Err(wrong("ends with `/v1/traces`, which is added by itself"));
        }
        let path = format!("{path}/v1/traces");
        let mut traces = url;
        traces.set_path(&path);
        Ok(traces)
    }
}

fn header(name: &str) -> Result<HeaderName, String> {
    let wrong = || format!("`telemetry`: `{}` is no name of a header that can be set", name.escape_debug());
    let parsed: HeaderName = name.parse().map_err(|_| wrong())?;
    if OWN.contains(&parsed.as_str()) { Err(wrong()) } else { Ok(parsed) }
}

fn sent(name: &str, value: &str) -> Result<HeaderValue, String> {
    let wrong =
        || format!("`telemetry`: the header `{name}` is empty, too long or has other than visible ASCII characters");
    if value.is_empty() || value.len() > MAX_VALUE {
        return Err(wrong());
    }
    let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
    value.to_str().map_err(|_| wrong())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Checked, Vec<String>), Vec<String>> {
        let section: Telemetry = toml::from_str(text).unwrap();
        section.read(&|name| (name == "OTLP").then(|| "Bearer abc-def-123".to_owned()))
    }

    #[test]
    fn the_path_of_traces_is_added_to_the_endpoint() {
        for (endpoint, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otlp.example.com/", "https://otlp.example.com/v1/traces"),
            ("https://otlp.example.com/tenant/7/", "https://otlp.example.com/tenant/7/v1/traces"),
        ] {
            assert_eq!(read(&format!("otlp_endpoint = \"{endpoint}\"")).unwrap().0.url.as_str(), url);
        }
    }

    #[test]
    fn headers_are_read_from_variables_and_files_and_are_secrets() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        std::fs::write(&file, "k-42-k-42\n").unwrap();
        let (checked, secrets) = read(&format!(
            "otlp_endpoint = \"http://127.0.0.1:4318\"\nheaders_env = {{ Authorization = \"OTLP\" }}\n\
             headers_file = {{ x-key = \"{}\" }}\n",
            file.display()
        ))
        .unwrap();
        let shown: Vec<_> =
            checked.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(shown, [("authorization", "Bearer abc-def-123"), ("x-key", "k-42-k-42")]);
        assert_eq!(secrets, ["abc-def-123", "Bearer abc-def-123", "k-42-k-42", "k-42-k-42"]);
        assert!(!format!("{checked:?}").contains("abc-def"), "{checked:?}");
        assert_eq!((checked.service_name.as_str(), checked.content), ("warrant", Content::Left));
    }

    #[test]
    fn what_is_wrong_is_told_at_once_with_what_to_write() {
        let mut told = Vec::new();
        for text in [
            "otlp_endpoint = \"127.0.0.1:4318\"",
            "otlp_endpoint = \"grpc://127.0.0.1:4317\"",
            "otlp_endpoint = \"http://user:word@127.0.0.1:4318\"",
            "otlp_endpoint = \"http://127.0.0.1:4318/?a=1\"",
            "otlp_endpoint = \"http://169.254.169.254\"",
            "otlp_endpoint = \"http://127.0.0.1:4318/v1/traces\"",
            "otlp_endpoint = \"http://127.0.0.1:4318\"\nservice_name = \" \"\nheaders_env = { Host = \"OTLP\", \"a b\" = \"NONE\" }\n\
             headers_file = { host = \"/nowhere\" }",
            "otlp_endpoint = \"http://127.0.0.1:4318\"\nheaders_env = { x-key = \"NONE\" }\n\
             headers_file = { x-other = \"/nowhere\" }",
        ] {
            told.extend(read(text).unwrap_err());
        }
        insta::assert_snapshot!(told.join("\n"), @r"
        `telemetry.otlp_endpoint` is not an http or https URL; write it as in `http://127.0.0.1:4318`
        `telemetry.otlp_endpoint` is not an http or https URL; write it as in `http://127.0.0.1:4318`
        `telemetry.otlp_endpoint` holds a user or password, which belong into `headers_env`; write it as in `http://127.0.0.1:4318`
        `telemetry.otlp_endpoint` holds a query or fragment; write it as in `http://127.0.0.1:4318`
        `telemetry.otlp_endpoint` is a link-local or metadata address; write it as in `http://127.0.0.1:4318`
        `telemetry.otlp_endpoint` ends with `/v1/traces`, which is added by itself; write it as in `http://127.0.0.1:4318`
        `telemetry`: `Host` is no name of a header that can be set
        `telemetry`: `a b` is no name of a header that can be set
        `telemetry`: `host` is no name of a header that can be set
        `telemetry`: the header `Host` is in `headers_env` and in `headers_file`; keep one
        `telemetry.service_name` must be a name of at most 200 characters
        `telemetry.headers_env`: `NONE` is not set; it holds the header `x-key`
        `telemetry.headers_file`: can't read `/nowhere`: No such file or directory (os error 2)
        ");
    }
}
