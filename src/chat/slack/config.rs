//! `[slack]` of the config, checked: which workspace and app are ours, how events come, and what is told where.
//!
//! [`Slack::check`] says all that is wrong at once. Secrets are read by [`Checked::secrets`] from the environment or from
//! files; they never stand in the config.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use reqwest::Url;
use serde::{Deserialize, Deserializer, Serialize};

use super::id::is_id;

/// How events come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Over a connection that we open: no public address is needed.
    Socket,
    /// Slack posts them to us.
    Http,
}

/// One `[[slack.channels]]`: what is told there. No services means all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The channel's id.
    pub channel: String,
    /// The services whose incidents go there.
    #[serde(default)]
    pub services: Vec<String>,
    /// The routes of alerts whose incidents go there; no routes means all.
    #[serde(default)]
    pub routes: Vec<String>,
    /// The user groups that are on call for them, `S0123ABCD`: the first is asked at once, each other one when nobody has
    /// decided for long.
    #[serde(default, deserialize_with = "one_or_more")]
    pub oncall: Vec<String>,
    /// The groups of the policies that those who read there are in, each reader in one of them at least. Where it is not
    /// said, anybody may read there.
    #[serde(default)]
    pub groups: Vec<String>,
}

/// One text, or a list of them.
fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(String),
        More(Vec<String>),
    }
    Ok(match Written::deserialize(from)? {
        Written::One(text) => vec![text],
        Written::More(texts) => texts,
    })
}

impl Place {
    fn takes(&self, service: Option<&str>, route: Option<&str>) -> bool {
        let fits = |named: &[String], this: Option<&str>| {
            named.is_empty() || this.is_some_and(|name| named.iter().any(|it| it == name))
        };
        fits(&self.services, service) && fits(&self.routes, route)
    }
}

/// `[slack]` as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slack {
    /// How events come; over a connection of ours where it is not said.
    pub mode: Option<Mode>,
    /// The environment variable that holds the bot's token, `xoxb-...`.
    pub bot_token_env: Option<String>,
    /// The file that holds it.
    pub bot_token_file: Option<PathBuf>,
    /// The environment variable that holds the app's token, `xapp-...`; for `mode = "socket"`.
    pub app_token_env: Option<String>,
    /// The file that holds it.
    pub app_token_file: Option<PathBuf>,
    /// The environment variable that holds the signing secret; for `mode = "http"`.
    pub signing_secret_env: Option<String>,
    /// The file that holds it.
    pub signing_secret_file: Option<PathBuf>,
    /// The workspace: `T0123ABCD`.
    pub team: String,
    /// The organisation, where the workspace is in one: `E0123ABCD`.
    pub enterprise: Option<String>,
    /// The app: `A0123ABCD`.
    pub app: String,
    /// Where incidents go; the first that fits.
    #[serde(default)]
    pub channels: Vec<Place>,
    /// The Slack user group that each group of the policies is, for users whom no person of the config claims.
    #[serde(default)]
    pub groups: BTreeMap<String, String>,
    /// Where people see the pages of sources, by the names of `[metrics.NAME]` and `[alertmanagers.NAME]`.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// After which share of its time, in percent, a card that nobody answered is brought to mind.
    pub remind_percent: Option<u8>,
    /// After which share of its time, in percent, the next group on call is asked.
    pub escalate_percent: Option<u8>,
    /// Where the Web API is; Slack's own where it is not said.
    pub api_url: Option<String>,
}

/// Where Slack's Web API is.
const API: &str = "https://slack.com/api";

/// Where nothing is said: a card is brought to mind after so many percent of its time.
const REMIND: u8 = 60;

/// And the next group is asked after so many.
const ESCALATE: u8 = 80;

/// What a payload must say to be ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ours {
    /// The workspace.
    pub team: String,
    /// The organisation, where there is one.
    pub enterprise: Option<String>,
    /// The app.
    pub app: String,
}

/// Where a secret is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// An environment variable.
    Env(String),
    /// A file.
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "the environment variable `{name}`"),
            Self::File(path) => write!(f, "the file `{}`", path.display()),
        }
    }
}

/// How events come, with the secret that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// Over a connection of ours, opened with the app's token.
    Socket(Source),
    /// By Slack's posts, proved by the signing secret.
    Http(Source),
}

/// `[slack]`, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What is ours.
    pub ours: Ours,
    /// Where the bot's token is.
    pub bot_token: Source,
    /// How events come.
    pub way: Way,
    /// Where incidents go.
    pub places: Vec<Place>,
    /// Slack's user groups by the names of the policies' groups.
    pub groups: BTreeMap<String, String>,
    /// Where people see the pages of sources, by the sources' names.
    pub links: BTreeMap<String, String>,
    /// When a card is brought to mind, in percent of its time.
    pub remind: u8,
    /// When the next group is asked, in percent of its time.
    pub escalate: u8,
    /// Where the Web API is, without a slash at its end.
    pub api_url: String,
}

/// The secrets. They are shown nowhere, and the redactor must know them.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    /// The bot's token.
    pub bot_token: String,
    /// The app's token or the signing secret.
    pub arrival: String,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

impl Slack {
    /// Checks all of it.
    ///
    /// # Errors
    /// All that is wrong, each naming its key and what to write.
    pub fn check(&self) -> Result<Checked, Vec<String>> {
        let mut wrong = Vec::new();
        self.check_ids(&mut wrong);
        for (key, percent) in [("remind_percent", self.remind_percent), ("escalate_percent", self.escalate_percent)] {
            if percent.is_some_and(|percent| !(1..=99).contains(&percent)) {
                wrong.push(format!("`slack.{key}` is a share of a card's time; write a number from 1 to 99"));
            }
        }
        let bot_token = source("bot_token", self.bot_token_env.as_deref(), self.bot_token_file.as_ref(), &mut wrong);
        let way = match self.mode.unwrap_or(Mode::Socket) {
            Mode::Socket => {
                let (env, file) = (self.app_token_env.as_deref(), self.app_token_file.as_ref());
                source("app_token", env, file, &mut wrong).map(Way::Socket)
            }
            Mode::Http => {
                let (env, file) = (self.signing_secret_env.as_deref(), self.signing_secret_file.as_ref());
                source("signing_secret", env, file, &mut wrong).map(Way::Http)
            }
        };
        let api_url = api_url(self.api_url.as_deref().unwrap_or(API)).map_err(|why| wrong.push(why)).ok();
        match (bot_token, way, api_url) {
            (Some(bot_token), Some(way), Some(api_url)) if wrong.is_empty() => Ok(Checked {
                ours: Ours { team: self.team.clone(), enterprise: self.enterprise.clone(), app: self.app.clone() },
                bot_token,
                way,
                places: self.channels.clone(),
                groups: self.groups.clone(),
                links: self.links.clone(),
                remind: self.remind_percent.unwrap_or(REMIND),
                escalate: self.escalate_percent.unwrap_or(ESCALATE),
                api_url,
            }),
            _ => Err(wrong),
        }
    }

    fn check_ids(&self, wrong: &mut Vec<String>) {
        let mut id = |key: &str, text: &str, first: &[char], example: &str| {
            if !(is_id(text) && text.starts_with(first)) {
                let shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
                wrong.push(format!("`slack.{key}`: `{shown}` is no id of that kind; write it as in `{example}`"));
            }
        };
        id("team", &self.team, &['T'], "T0123ABCD");
        id("app", &self.app, &['A'], "A0123ABCD");
        if let Some(enterprise) = &self.enterprise {
            id("enterprise", enterprise, &['E'], "E0123ABCD");
        }
        for place in &self.channels {
            id("channels.channel", &place.channel, &['C', 'G'], "C0123ABCD");
            for group in &place.oncall {
                id("channels.oncall", group, &['S'], "S0123ABCD");
            }
        }
        for (name, group) in &self.groups {
            id(&format!("groups.{name}"), group, &['S'], "S0123ABCD");
        }
        for (name, address) in &self.links {
            if !is_page(address) {
                wrong.push(format!(
                    "`slack.links.{name}` is no address of the web; write it as in `https://prometheus.example`, without a \
                     name, password or query"
                ));
            }
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.groups.values().find(|group| !seen.insert(*group)) {
            wrong.push(format!(
                "`slack.groups`: `{twice}` stands there twice; a user group is one group of the policies"
            ));
        }
    }
}

fn source(key: &str, env: Option<&str>, file: Option<&PathBuf>, wrong: &mut Vec<String>) -> Option<Source> {
    match (env.map(str::trim).filter(|name| !name.is_empty()), file) {
        (Some(name), None) => return Some(Source::Env(name.to_owned())),
        (None, Some(path)) => return Some(Source::File(path.clone())),
        (Some(_), Some(_)) => wrong.push(format!("`slack.{key}_env` and `slack.{key}_file` are both set; keep one")),
        (None, None) => wrong.push(format!(
            "`slack.{key}_env` is missing; write the name of the environment variable that holds it, or `{key}_file`"
        )),
    }
    None
}

fn is_page(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        let plain =
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        plain && url.has_host() && matches!(url.scheme(), "http" | "https")
    })
}

fn api_url(text: &str) -> Result<String, String> {
    let wrong =
        || "`slack.api_url` must be an https URL, or http on this machine; leave it out for Slack's own".to_owned();
    let url = Url::parse(text).map_err(|_| wrong())?;
    let here = matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if plain && (url.scheme() == "https" || url.scheme() == "http" && here) {
        return Ok(url.as_str().trim_end_matches('/').to_owned());
    }
    Err(wrong())
}

impl Checked {
    /// Where an incident of a service goes that came by a route, the first one first.
    pub fn places_of(&self, service: Option<&str>, route: Option<&str>) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(move |place| place.takes(service, route))
    }

    /// Reads the secrets. `env` looks up environment variables.
    ///
    /// # Errors
    /// All that are missing, empty or of another kind. An empty signing secret would let anybody in.
    pub fn secrets(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<Secrets, Vec<String>> {
        let (arrival, kind) = match &self.way {
            Way::Socket(from) => (from, Kind::AppToken),
            Way::Http(from) => (from, Kind::SigningSecret),
        };
        match (read(&self.bot_token, Kind::BotToken, env), read(arrival, kind, env)) {
            (Ok(bot_token), Ok(arrival)) => Ok(Secrets { bot_token, arrival }),
            (one, other) => Err([one.err(), other.err()].into_iter().flatten().collect()),
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    BotToken,
    AppToken,
    SigningSecret,
}

fn read(from: &Source, kind: Kind, env: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let value = match from {
        Source::Env(name) => env(name).ok_or_else(|| format!("`slack`: {from} is not set"))?,
        Source::File(path) => {
            std::fs::read_to_string(path).map_err(|error| format!("`slack`: can't read {from}: {error}"))?
        }
    };
    let value = value.trim().to_owned();
    let is_of = |prefix: &str, least: usize| {
        value.starts_with(prefix) && (least..=512).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_graphic())
    };
    let (good, what) = match kind {
        Kind::BotToken => (is_of("xoxb-", 6), "the bot's token, which begins with `xoxb-`"),
        Kind::AppToken => (is_of("xapp-", 6), "the app's token, which begins with `xapp-`"),
        Kind::SigningSecret => (is_of("", 16), "the signing secret, which is at least 16 visible characters"),
    };
    if good { Ok(value) } else { Err(format!("`slack`: {from} does not hold {what}")) }
}

#[cfg(test)]
mod tests;
