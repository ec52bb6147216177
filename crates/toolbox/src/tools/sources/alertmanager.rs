//! The Alertmanager API (v2): the alerts it holds, silenced and inhibited ones too, and its silences.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::call::write::WriteError;
use warrant_kernel::domain::tool::HttpMethod;

use super::http::HttpClient;
use super::http::send::Outgoing;

/// An alert as an Alertmanager holds it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct HeldAlert {
    /// Its labels, `alertname` among them.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// Since when it fires.
    #[serde(default, rename = "startsAt")]
    pub starts_at: Option<Timestamp>,
    /// Whether people hear of it.
    #[serde(default)]
    pub status: HeldStatus,
}

/// What keeps an alert from people, if anything.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct HeldStatus {
    /// Silences that match it.
    #[serde(default, rename = "silencedBy")]
    pub silenced_by: Vec<String>,
    /// Alerts that inhibit it.
    #[serde(default, rename = "inhibitedBy")]
    pub inhibited_by: Vec<String>,
}

/// What an alert must bear to be silenced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matcher {
    /// The label.
    pub name: String,
    /// Its value, or a regular expression for it.
    pub value: String,
    /// Whether `value` is a regular expression.
    pub is_regex: bool,
    /// Whether it must match, or must not.
    #[serde(default = "yes")]
    pub is_equal: bool,
}

fn yes() -> bool {
    true
}

/// A silence as an Alertmanager holds it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Silence {
    /// Its id.
    pub id: String,
    /// What it silences.
    #[serde(default)]
    pub matchers: Vec<Matcher>,
    /// Until when.
    pub ends_at: Timestamp,
    /// Why.
    #[serde(default)]
    pub comment: String,
    /// Whether it is in force.
    pub status: SilenceStatus,
}

/// Whether a silence is in force.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SilenceStatus {
    /// `active`, `pending` or `expired`.
    pub state: String,
}

/// A silence that is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSilence {
    /// What it silences.
    pub matchers: Vec<Matcher>,
    /// From when.
    pub starts_at: Timestamp,
    /// Until when.
    pub ends_at: Timestamp,
    /// By whom.
    pub created_by: String,
    /// Why.
    pub comment: String,
}

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "silenceID")]
    id: String,
}

/// A server with the Alertmanager API.
#[derive(Clone, Copy)]
pub struct Alertmanager<'a>(pub &'a HttpClient);

impl Alertmanager<'_> {
    /// All alerts it holds.
    ///
    /// # Errors
    /// [`ReadError::Backend`] where it can't be asked or answers in another shape.
    pub async fn alerts(&self) -> Result<Vec<HeldAlert>, ReadError> {
        self.0.get(&["api", "v2", "alerts"], &[]).await?.good()?.json()
    }

    /// All silences it knows: active, pending, and those that expired in the last days.
    ///
    /// # Errors
    /// As [`Self::alerts`].
    pub async fn silences(&self) -> Result<Vec<Silence>, ReadError> {
        self.0.get(&["api", "v2", "silences"], &[]).await?.good()?.json()
    }

    /// One silence.
    ///
    /// # Errors
    /// As [`Self::alerts`].
    pub async fn silence(&self, id: &str) -> Result<Silence, ReadError> {
        self.0.get(&["api", "v2", "silence", id], &[]).await?.good()?.json()
    }

    /// Makes a silence; gives its id.
    ///
    /// # Errors
    /// As [`HttpClient::change`].
    pub async fn create(&self, silence: &NewSilence) -> Result<String, WriteError> {
        let unknown = |message: String| WriteError::Unknown { message };
        let body: Value = serde_json::to_value(silence).map_err(|error| WriteError::Refused {
            reason: "ARGUMENTS",
            message: format!("the silence can't be written as JSON: {error}"),
        })?;
        let path = ["api", "v2", "silences"];
        let outgoing = Outgoing { method: HttpMethod::Post, path: &path, query: &[], body: Some(&body) };
        let created: Created = self.0.change(outgoing).await?.json().map_err(|error| unknown(error.to_string()))?;
        Ok(created.id)
    }
}
