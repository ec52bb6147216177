//! `[models.NAME]` of the config, checked, and the models built from it.
//!
//! [`build`] reads the key (from the environment or a file, never from the config) and opens no connection.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use warrant_kernel::domain::time::{TimeError, parse_duration};
use warrant_toolbox::catalog::reach::Reach;

use crate::agent::model::{Model, Usage};

use super::anthropic::{Anthropic, Thinking};
use super::endpoint::{Endpoint, Key};
use super::openai::OpenAi;
use super::priced::Priced;
use super::retry::{Jitter, Patient};

/// The name of the built-in model; no configured model may bear it.
pub const RUNBOOK: &str = "runbook";

/// The shape of the API that a model is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Chat completions: `OpenAI`, Ollama, vLLM, llama.cpp, gateways.
    OpenAi,
    /// The Messages API.
    Anthropic,
}

impl Provider {
    /// The word for it, in the config and in telemetry.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }

    fn key_env(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// Thinking without a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingMode {
    /// As much as the model finds right; what newer models of Anthropic take in place of a budget.
    Adaptive,
}

/// Prices per million tokens, in whatever currency the cost budget is in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Tokens read that no cache had.
    pub input: f64,
    /// Tokens read from the provider's cache.
    pub cached: f64,
    /// Tokens written.
    pub output: f64,
}

impl Prices {
    /// What an answer cost.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an answer has far fewer than 2^53 tokens")]
    pub fn cost(&self, usage: &Usage) -> f64 {
        let uncached = usage.input.saturating_sub(usage.cached) as f64;
        (uncached * self.input + usage.cached as f64 * self.cached + usage.output as f64 * self.output) / 1e6
    }
}

/// One `[models.NAME]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The shape of its API.
    pub provider: Provider,
    /// The provider's name of the model.
    pub model: String,
    /// Where the API is, up to and including its version for `openai`: `http://127.0.0.1:11434/v1`.
    pub base_url: Option<String>,
    /// Environment variable that holds the key. Without it and without `base_url` the provider's usual one is taken.
    pub api_key_env: Option<String>,
    /// File that holds the key.
    pub api_key_file: Option<PathBuf>,
    /// Most tokens of an answer, where the model can't write as many as an investigation allows.
    pub max_tokens: Option<NonZeroU32>,
    /// Tokens for thinking (`anthropic`), at least 1,024.
    pub thinking_budget: Option<u32>,
    /// Thinking without a budget (`anthropic`).
    pub thinking: Option<ThinkingMode>,
    /// The temperature; the provider's own where it is not set.
    pub temperature: Option<f64>,
    /// How long the provider may send nothing: `60s`. A local model that is loaded at the first request needs more.
    pub idle_timeout: Option<String>,
    /// How often it is asked before it counts as failed; 3.
    pub tries: Option<NonZeroU32>,
    /// Prices, for the cost budget.
    pub prices: Option<Prices>,
}

impl ModelConfig {
    /// Host and port of its API.
    #[must_use]
    pub fn server(&self) -> Option<(String, u16)> {
        let url = Url::parse(self.base_url.as_deref().unwrap_or_else(|| self.provider.base_url())).ok()?;
        Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
    }
}

/// A `[models.NAME]` that no model can be built from.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The name is taken.
    #[error("`[models.{RUNBOOK}]`: `{RUNBOOK}` is the built-in model; choose another name")]
    Reserved,
    /// A URL that can't be a base.
    #[error("`[models.{name}]`: `base_url` `{url}` {problem}")]
    BaseUrl {
        /// The config section.
        name: String,
        /// The URL, without what may be a password.
        url: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The key's variable is missing or empty.
    #[error("`[models.{name}]`: the environment variable `{variable}` is not set; it holds the API key")]
    NoKey {
        /// The config section.
        name: String,
        /// The variable.
        variable: String,
    },
    /// The key's file can't be read.
    #[error("`[models.{name}]`: can't read `api_key_file` `{}`", path.display())]
    KeyFile {
        /// The config section.
        name: String,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The key is no key.
    #[error("`[models.{name}]`: the API key from {from} is empty, too long or has other than visible ASCII characters")]
    BadKey {
        /// The config section.
        name: String,
        /// Where it came from.
        from: String,
    },
    /// `idle_timeout` is no duration.
    #[error("`[models.{name}]`: `idle_timeout`: {source}")]
    IdleTimeout {
        /// The config section.
        name: String,
        /// What is wrong.
        source: TimeError,
    },
    /// Settings that do not go together, or out of range.
    #[error("`[models.{name}]`: {problem}")]
    Settings {
        /// The config section.
        name: String,
        /// Which, and what would do.
        problem: &'static str,
    },
}

/// A model and what must never be shown of it.
pub struct Built {
    /// The model, patient already.
    pub model: Arc<dyn Model>,
    /// Its key, for the redactor.
    pub secrets: Vec<String>,
}

/// Builds the model of `[models.NAME]`. `env` looks up environment variables.
///
/// # Errors
/// [`ConfigError`] says what is wrong and what would do.
pub fn build(
    name: &str,
    config: &ModelConfig,
    env: &dyn Fn(&str) -> Option<String>,
    jitter: Jitter,
) -> Result<Built, ConfigError> {
    if name == RUNBOOK {
        return Err(ConfigError::Reserved);
    }
    check(name, config)?;
    let base_url = base_url(name, config.base_url.as_deref().unwrap_or_else(|| config.provider.base_url()))?;
    let key = key(name, config, env)?;
    let secrets = key.iter().map(|key| key.value.clone()).collect();
    let endpoint = Endpoint::new(name, &config.model, base_url, key, idle(name, config)?);
    let max_tokens = config.max_tokens.map(NonZeroU32::get);
    let temperature = config.temperature;
    let model: Arc<dyn Model> = match config.provider {
        Provider::OpenAi => Arc::new(OpenAi { endpoint, max_tokens, temperature }),
        Provider::Anthropic => {
            let thinking = match (config.thinking_budget, config.thinking) {
                (Some(budget), _) => Thinking::Budget(budget),
                (None, Some(ThinkingMode::Adaptive)) => Thinking::Adaptive,
                (None, None) => Thinking::Unasked,
            };
            Arc::new(Anthropic { endpoint, max_tokens, temperature, thinking })
        }
    };
    let tries = config.tries.unwrap_or(THREE);
    let model: Arc<dyn Model> = Arc::new(Patient::new(model, tries, jitter));
    let model = match config.prices {
        Some(prices) => Arc::new(Priced::new(model, prices)),
        None => model,
    };
    Ok(Built { model, secrets })
}

const THREE: NonZeroU32 = NonZeroU32::MIN.saturating_add(2);

fn check(name: &str, config: &ModelConfig) -> Result<(), ConfigError> {
    let thinks = config.thinking_budget.is_some() || config.thinking.is_some();
    let problem = if config.model.trim().is_empty() {
        "`model` is empty; write the provider's name of the model"
    } else if config.api_key_env.is_some() && config.api_key_file.is_some() {
        "`api_key_env` and `api_key_file` are both set; keep one"
    } else if thinks && config.provider == Provider::OpenAi {
        "`thinking` and `thinking_budget` are for `provider = \"anthropic\"` only"
    } else if config.thinking_budget.is_some() && config.thinking.is_some() {
        "`thinking` and `thinking_budget` are both set; keep one"
    } else if config.thinking_budget.is_some_and(|budget| !(1_024..=200_000).contains(&budget)) {
        "`thinking_budget` must be between 1024 and 200000"
    } else if thinks && config.temperature.is_some() {
        "`temperature` can't be set for a model that thinks"
    } else if config.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        "`temperature` must be between 0 and 2"
    } else if config.prices.is_some_and(|p| [p.input, p.cached, p.output].iter().any(|n| !n.is_finite() || *n < 0.0)) {
        "`prices` must be numbers from 0 up"
    } else {
        return Ok(());
    };
    Err(ConfigError::Settings { name: name.to_owned(), problem })
}

fn base_url(name: &str, text: &str) -> Result<Url, ConfigError> {
    let url = Url::parse(text);
    let problem = match &url {
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            "holds a user or password; put the key into `api_key_env`"
        }
        Ok(url) if url.query().is_some() || url.fragment().is_some() => "holds a query or fragment; leave it out",
        Ok(url) if url.host_str().is_some_and(|host| Reach::anywhere(host).is_err()) => {
            "is a link-local or metadata address; no model may be there"
        }
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.host_str().is_some() => return Ok(url.clone()),
        Ok(_) | Err(_) => "is not an http or https URL; write it as in `http://127.0.0.1:11434/v1`",
    };
    // What stands before the host or behind the path may be a secret.
    let shown = text.split(['?', '#']).next().unwrap_or_default();
    let shown = shown.rsplit_once('@').map_or(shown, |(_, host)| host);
    let url = shown.chars().take(80).collect();
    Err(ConfigError::BaseUrl { name: name.to_owned(), url, problem })
}

fn idle(name: &str, config: &ModelConfig) -> Result<Duration, ConfigError> {
    let text = config.idle_timeout.as_deref().unwrap_or("60s");
    let wrong = |source| ConfigError::IdleTimeout { name: name.to_owned(), source };
    let parsed = parse_duration(text).map_err(wrong)?;
    let idle = Duration::try_from(parsed).map_err(|_| wrong(TimeError::Duration(text.to_owned())))?;
    if idle.is_zero() {
        let problem = "`idle_timeout` must be longer than nothing";
        return Err(ConfigError::Settings { name: name.to_owned(), problem });
    }
    Ok(idle)
}

fn key(name: &str, config: &ModelConfig, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Key>, ConfigError> {
    let (value, from) = if let Some(path) = &config.api_key_file {
        let read = std::fs::read_to_string(path);
        let failed = |source| ConfigError::KeyFile { name: name.to_owned(), path: path.clone(), source };
        (read.map_err(failed)?, format!("`{}`", path.display()))
    } else {
        let usual = config.base_url.is_none().then(|| config.provider.key_env());
        let Some(variable) = config.api_key_env.as_deref().or(usual) else { return Ok(None) };
        let missing = || ConfigError::NoKey { name: name.to_owned(), variable: variable.to_owned() };
        let value = env(variable).filter(|value| !value.trim().is_empty()).ok_or_else(missing)?;
        (value, format!("`${variable}`"))
    };
    let value = value.trim().to_owned();
    if value.is_empty() || value.len() > 8_192 || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ConfigError::BadKey { name: name.to_owned(), from });
    }
    Ok(Some(Key { value, from }))
}

#[cfg(test)]
mod tests;
