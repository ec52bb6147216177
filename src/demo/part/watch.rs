//! What a part looks at while it runs: its overrides, its certificate, and, when it is told to, its configuration.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use warrant_kernel::domain::time::rfc3339;

use super::Part;
use super::journal::Level;
use super::settings::{self, Settings, SettingsError, Values};
use super::spec::Role;
use super::tls::Keeper;

/// How often files are looked at.
const POLL: Duration = Duration::from_millis(100);

/// A file of overrides without any.
pub(super) const NO_OVERRIDES: &str =
    "# Goes before the configuration while the service runs, one `key = value` a line; a restart discards it.\n";

impl Part {
    /// Reads the configuration again.
    pub(super) fn reload(&self) {
        let read = settings::read(&self.spec.config).and_then(|config| {
            self.obey(&config)?;
            Ok(config)
        });
        match read {
            Ok(config) => {
                *self.config.lock().unwrap_or_else(PoisonError::into_inner) = config;
                self.log.write(Level::Info, "configuration reloaded", Value::Null);
            }
            Err(error) => {
                let fields = json!({ "error": error.to_string() });
                self.log.write(Level::Error, "configuration not readable, the one in force stays", fields);
            }
        }
    }

    /// Reads the overrides again, over the configuration in force.
    fn override_settings(&self) {
        let config = self.config.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match self.obey(&config) {
            Ok(count) => self.log.write(Level::Info, "overrides read", json!({ "settings": count })),
            Err(error) => {
                let fields = json!({ "error": error.to_string() });
                self.log.write(Level::Error, "overrides not readable, the settings in force stay", fields);
            }
        }
    }

    /// Puts a configuration and the overrides into force; how many overrides there are.
    fn obey(&self, config: &Values) -> Result<usize, SettingsError> {
        let overrides = settings::read(&self.spec.overrides)?;
        let settings = Settings::of(config, &overrides, &self.spec.keys)?;
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
        if let Some(pool) = &self.pool {
            pool.resize(settings.pool_size);
        }
        self.log.set_least(settings.log_level);
        Ok(overrides.len())
    }

    fn reload_certificate(&self, keeper: &Keeper) {
        match keeper.reload() {
            Ok(()) => {
                let fields = json!({ "not_after": rfc3339(keeper.expiry()) });
                self.log.write(Level::Info, "certificate loaded", fields);
            }
            Err(error) => {
                let fields = json!({ "error": error.to_string() });
                self.log.write(Level::Error, "certificate not readable, the one in force stays", fields);
            }
        }
    }
}

/// Reads files again when they change.
pub(super) async fn watch(part: Arc<Part>) {
    let mut overrides = changed_at(&part.spec.overrides);
    let mut certificate = part.keeper.as_deref().and_then(|keeper| changed_at(keeper.file()));
    let mut ticks = tokio::time::interval(POLL);
    let mut passed: u64 = 0;
    loop {
        ticks.tick().await;
        passed += 1;
        let now = changed_at(&part.spec.overrides);
        if now != overrides {
            overrides = now;
            part.override_settings();
        }
        if let Some(keeper) = &part.keeper {
            let now = changed_at(keeper.file());
            if now != certificate {
                certificate = now;
                part.reload_certificate(keeper);
            }
        }
        // What every log has: a complaint that comes steadily and means nothing.
        if part.spec.role == Role::Gateway && passed.is_multiple_of(10) {
            let message = "address lookup fell back to the default region";
            part.log.write(Level::Warn, message, json!({ "region": "eu-west" }));
        }
    }
}

fn changed_at(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
