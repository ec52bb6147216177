//! The Alertmanager API (v2): the alerts it holds, silenced and inhibited ones too.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use warrant_kernel::call::tool::ReadError;

use super::http::HttpClient;

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
}
