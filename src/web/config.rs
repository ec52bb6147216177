//! `[web]`: where the server listens, under which names it answers, and what bounds it.
//!
//! Nothing has to be written: without the section it listens on loopback and answers under loopback's names.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::guard::Names;
use super::server::Limits;

/// Where it listens where nothing is written.
const LISTEN: &str = "127.0.0.1:8410";

/// The section as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebConfig {
    /// Address and port. TLS is left to a proxy in front; a token sent in the clear is anybody's.
    #[serde(default = "listen")]
    pub listen: String,
    /// Names under which everything is answered, besides loopback's.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Names under which webhooks (`/v1/alerts/...`, `/slack/...`) are answered and nothing else.
    #[serde(default)]
    pub webhook_hosts: Vec<String>,
    /// Connections at a time.
    #[serde(default = "connections")]
    pub connections: usize,
    /// Bytes of one body.
    #[serde(default = "body_bytes")]
    pub body_bytes: usize,
    /// Seconds that a request may take.
    #[serde(default = "request_s")]
    pub request_s: u64,
    /// Seconds that what is under way may go on at the end.
    #[serde(default = "drain_s")]
    pub drain_s: u64,
}

fn listen() -> String {
    LISTEN.to_owned()
}

fn connections() -> usize {
    Limits::standard().connections
}

fn body_bytes() -> usize {
    Limits::standard().body
}

fn request_s() -> u64 {
    Limits::standard().request.as_secs()
}

fn drain_s() -> u64 {
    Limits::standard().drain.as_secs()
}

/// The section, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Under which names.
    pub names: Names,
    /// Within what.
    pub limits: Limits,
}

impl WebConfig {
    /// The section that nobody wrote.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            listen: listen(),
            hosts: Vec::new(),
            webhook_hosts: Vec::new(),
            connections: connections(),
            body_bytes: body_bytes(),
            request_s: request_s(),
            drain_s: drain_s(),
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// One sentence for each that is wrong, naming the key and what to write.
    pub fn check(&self) -> Result<Checked, Vec<String>> {
        let mut wrong = Vec::new();
        let listen = self.listen.parse::<SocketAddr>().map_err(|_| {
            wrong.push(format!(
                "`listen` under `[web]`: `{}` is no address; write one with its port, as in `{LISTEN}`",
                self.listen.escape_debug()
            ));
        });
        let mut names = |key: &str, hosts: &[String]| -> BTreeSet<String> {
            let (good, bad): (Vec<&String>, Vec<&String>) = hosts.iter().partition(|host| is_name(host));
            wrong.extend(bad.into_iter().map(|host| {
                let host = host.escape_debug();
                format!("`{key}` under `[web]`: `{host}` is no name; write it without scheme and port, as in `warrant.example.com`")
            }));
            good.into_iter().map(|host| host.to_ascii_lowercase()).collect()
        };
        let everything = names("hosts", &self.hosts);
        let webhooks = names("webhook_hosts", &self.webhook_hosts);
        if let Ok(listen) = listen
            && listen.ip().is_unspecified()
            && self.hosts.is_empty()
            && self.webhook_hosts.is_empty()
        {
            wrong.push(
                "`hosts` under `[web]`: listening on all addresses, nothing would be answered under any name but \
                 loopback's; write the names under which this machine is reached, or a certain address in `listen`"
                    .to_owned(),
            );
        }
        let mut within = |key: &str, value: usize, least: usize, most: usize| {
            if !(least..=most).contains(&value) {
                wrong.push(format!("`{key}` under `[web]`: {value} is not from {least} to {most}"));
            }
        };
        let seconds = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        within("connections", self.connections, 8, 100_000);
        within("body_bytes", self.body_bytes, 64 << 10, 64 << 20);
        within("request_s", seconds(self.request_s), 1, 600);
        within("drain_s", seconds(self.drain_s), 1, 600);
        let (Ok(listen), true) = (listen, wrong.is_empty()) else { return Err(wrong) };
        let standard = Limits::standard();
        let limits = Limits {
            connections: self.connections,
            body: self.body_bytes,
            bodies: standard.bodies.max(self.body_bytes.saturating_mul(2)),
            request: Duration::from_secs(self.request_s),
            drain: Duration::from_secs(self.drain_s),
            ..standard
        };
        let address: Option<IpAddr> = Some(listen.ip()).filter(|address| !address.is_unspecified());
        Ok(Checked { listen, names: Names { everything, webhooks, address }, limits })
    }
}

/// A name as DNS has them, or the number of a machine.
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    host.parse::<IpAddr>().is_ok() || (host.len() <= 253 && host.split('.').all(is_label))
}

#[cfg(test)]
mod tests {
    use super::WebConfig;

    fn checked(text: &str) -> Result<super::Checked, String> {
        toml::from_str::<WebConfig>(text).unwrap().check().map_err(|wrong| wrong.join("\n"))
    }

    #[test]
    fn nothing_written_is_loopback() {
        let standard = checked("").unwrap();
        assert_eq!(standard, WebConfig::standard().check().unwrap());
        assert!(standard.listen.ip().is_loopback());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_key() {
        let wrong = checked(
            "listen = \"8410\"\nhosts = [\"https://w.example\"]\nwebhook_hosts = [\"\"]\nconnections = 1\nrequest_s = 0",
        );
        insta::assert_snapshot!(wrong.unwrap_err(), @r"
        `listen` under `[web]`: `8410` is no address; write one with its port, as in `127.0.0.1:8410`
        `hosts` under `[web]`: `https://w.example` is no name; write it without scheme and port, as in `warrant.example.com`
        `webhook_hosts` under `[web]`: `` is no name; write it without scheme and port, as in `warrant.example.com`
        `connections` under `[web]`: 1 is not from 8 to 100000
        `request_s` under `[web]`: 0 is not from 1 to 600
        ");
        assert!(checked("listen = \"0.0.0.0:80\"").unwrap_err().contains("`hosts`"));
        assert!(checked("listen = \"0.0.0.0:80\"\nhosts = [\"w.example\"]").is_ok());
        assert!(toml::from_str::<WebConfig>("port = 80").is_err(), "an unknown key is refused");
    }
}
