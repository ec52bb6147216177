//! What `warrant serve` serves: `[serve]`, `[web]`, `[alerts.NAME]`, `[alerting]`, `[slack]`.
//!
//! The parts check their own sections, with the secrets that the environment holds for them; [`Serve::check`] asks all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::alert::config as alerts;
use crate::alert::config::{LimitsSection, RouteSection};
use crate::chat::slack::config as slack;
use crate::chat::slack::config::Slack;
use crate::web::config as web;
use crate::web::config::WebConfig;

/// Investigations at a time, where the config says nothing.
const AT_ONCE: usize = 64;

/// The most that may be asked for.
const MOST_AT_ONCE: usize = 10_000;

/// `[serve]` as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Section {
    at_once: Option<usize>,
}

impl Section {
    pub(super) fn check(&self, problems: &mut Vec<String>) -> usize {
        let at_once = self.at_once.unwrap_or(AT_ONCE);
        if !(1..=MOST_AT_ONCE).contains(&at_once) {
            problems.push(format!("`serve.at_once` is {at_once}; write a number from 1 to {MOST_AT_ONCE}"));
        }
        at_once
    }
}

/// The sections as they are written.
#[derive(Debug, Clone)]
pub struct Serve {
    /// Where it listens.
    pub web: WebConfig,
    /// The senders of alerts.
    pub alerts: BTreeMap<String, RouteSection>,
    /// Their limits.
    pub alerting: LimitsSection,
    /// The chat, where there is one.
    pub slack: Option<Slack>,
    /// Investigations at a time.
    pub at_once: usize,
}

/// `[slack]`, and its secrets.
type Chat = (slack::Checked, slack::Secrets);

/// The sections, checked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Where it listens.
    pub web: web::Checked,
    /// The senders of alerts, and their limits.
    pub alerts: alerts::Checked,
    /// The chat, and its secrets.
    pub slack: Option<Chat>,
}

impl Serve {
    /// Checks them with the secrets of the environment.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn check(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<Checked, Vec<String>> {
        let slack = self.slack(env).transpose();
        match (self.web.check(), alerts::check(&self.alerts, &self.alerting, env), slack) {
            (Ok(web), Ok(alerts), Ok(slack)) => Ok(Checked { web, alerts, slack }),
            (web, alerts, slack) => {
                Err(web.err().into_iter().chain(alerts.err()).chain(slack.err()).flatten().collect())
            }
        }
    }

    /// The chat, where there is one.
    fn slack(&self, env: &dyn Fn(&str) -> Option<String>) -> Option<Result<Chat, Vec<String>>> {
        let checked = self.slack.as_ref()?.check();
        Some(checked.and_then(|checked| {
            let secrets = checked.secrets(env)?;
            Ok((checked, secrets))
        }))
    }

    /// The secrets of the environment and of files by the names under which they are masked; those that are not there
    /// are told of when it is served.
    #[must_use]
    pub fn secrets(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let of_senders = alerts::secrets_env(&self.alerts).into_iter();
        let of_senders = of_senders.filter_map(|name| Some((name.to_owned(), env(name)?)));
        let of_slack = self
            .slack(env)
            .and_then(Result::ok)
            .map(|(_, secrets)| [("slack_bot_token", secrets.bot_token), ("slack_arrival_secret", secrets.arrival)]);
        let of_slack = of_slack.into_iter().flatten().map(|(name, secret)| (name.to_owned(), secret));
        of_senders.chain(of_slack).collect()
    }
}
