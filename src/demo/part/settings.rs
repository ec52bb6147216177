//! Reads a service's configuration file into the settings it obeys: any of the three formats, as dotted paths. What its
//! file of overrides says goes before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::demo::document::Format;
use crate::demo::part::journal::Level;
use crate::demo::part::spec::Keys;

/// The settings in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The least important level that is logged.
    pub log_level: Level,
    /// How long to wait for another service.
    pub request_timeout: Duration,
    /// How many connections the pool has; 0 where there is no pool.
    pub pool_size: usize,
    /// How long a request waits for a connection.
    pub acquire_timeout: Duration,
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It is not readable.
    #[error("reading `{file}`")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not well-formed.
    #[error("the configuration is not well-formed: {0}")]
    Form(String),
    /// A setting is missing or of another type.
    #[error("`{0}` is missing or has no usable value")]
    Setting(String),
}

/// The values of a file by their dotted paths.
pub type Values = BTreeMap<String, Value>;

/// Reads a file of settings.
///
/// # Errors
/// [`SettingsError`] where it is not readable or not well-formed.
pub fn read(file: &Path) -> Result<Values, SettingsError> {
    let text =
        std::fs::read_to_string(file).map_err(|source| SettingsError::Read { file: file.to_path_buf(), source })?;
    let format = match file.extension().and_then(|ending| ending.to_str()) {
        Some("yaml") => Format::Yaml,
        Some("json") => Format::Json,
        Some(_) | None => Format::Toml,
    };
    flatten(&text, format)
}

impl Settings {
    /// The settings that a configuration and what goes before it come to.
    ///
    /// # Errors
    /// [`SettingsError::Setting`] where one is missing.
    pub fn of(config: &Values, overrides: &Values, keys: &Keys) -> Result<Self, SettingsError> {
        let mut values = config.clone();
        values.extend(overrides.iter().map(|(key, value)| (key.clone(), value.clone())));
        let number = |path: &Option<String>| match path {
            None => Ok(0),
            Some(path) => values.get(path).and_then(Value::as_u64).ok_or_else(|| SettingsError::Setting(path.clone())),
        };
        let level = values.get(&keys.log_level).and_then(Value::as_str).and_then(Level::named);
        Ok(Self {
            log_level: level.ok_or_else(|| SettingsError::Setting(keys.log_level.clone()))?,
            request_timeout: Duration::from_millis(number(&keys.request_timeout_ms)?),
            pool_size: usize::try_from(number(&keys.pool_size)?).unwrap_or(usize::MAX),
            acquire_timeout: Duration::from_millis(number(&keys.acquire_timeout_ms)?),
        })
    }
}

/// All values of a text by their dotted paths.
///
/// # Errors
/// [`SettingsError::Form`] where the text is not well-formed.
pub fn flatten(text: &str, format: Format) -> Result<Values, SettingsError> {
    let mut values = BTreeMap::new();
    match format {
        Format::Toml => {
            let table: Value = toml::from_str(text).map_err(|error| SettingsError::Form(error.to_string()))?;
            walk("", table, &mut values);
        }
        Format::Json => {
            let table: Value = serde_json::from_str(text).map_err(|error| SettingsError::Form(error.to_string()))?;
            walk("", table, &mut values);
        }
        Format::Yaml => yaml(text, &mut values)?,
    }
    Ok(values)
}

fn walk(at: &str, value: Value, into: &mut Values) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = if at.is_empty() { key } else { format!("{at}.{key}") };
                walk(&path, inner, into);
            }
        }
        other => {
            into.insert(at.to_owned(), other);
        }
    }
}

/// The part of YAML that configuration files of services are written in: keys with a number or a text, at the top or one
/// level down, and comments.
fn yaml(text: &str, into: &mut Values) -> Result<(), SettingsError> {
    let mut section = "";
    for (index, line) in text.lines().enumerate() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let wrong = || SettingsError::Form(format!("line {}: expected `key: value`", index + 1));
        let (key, value) = bare.split_once(':').ok_or_else(wrong)?;
        let (key, value) = (key.trim(), value.trim());
        let indented = line.starts_with(' ');
        if value.is_empty() && !indented {
            section = key;
            continue;
        }
        let path = if indented && !section.is_empty() { format!("{section}.{key}") } else { key.to_owned() };
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        into.insert(path, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::demo::document::Format;

    use super::{Settings, flatten};
    use crate::demo::part::spec::Keys;

    #[test]
    fn one_setting_reads_the_same_in_every_format_and_layout() {
        let texts = [
            (Format::Toml, "# a\n[pool]\nmax = 20 # b\n"),
            (Format::Toml, "pool.max = 20\nserver.x = \"y\"\n"),
            (Format::Yaml, "top: 1\npool:\n  # c\n  max: 20\n"),
            (Format::Yaml, "pool.max: 20\n"),
            (Format::Json, "{\"pool\": {\"max\": 20}}"),
            (Format::Json, "{\"pool.max\": 20}"),
        ];
        for (format, text) in texts {
            assert_eq!(flatten(text, format).unwrap().get("pool.max"), Some(&20.into()), "{text}");
        }
    }

    #[test]
    fn an_override_goes_before_the_configuration() {
        let keys = Keys {
            log_level: "log".to_owned(),
            request_timeout_ms: None,
            pool_size: Some("pool.max".to_owned()),
            acquire_timeout_ms: None,
        };
        let config = flatten("log = \"info\"\n[pool]\nmax = 1\n", Format::Toml).unwrap();
        let overrides = flatten("pool.max = 20\n", Format::Toml).unwrap();
        let size = |overrides| Settings::of(&config, overrides, &keys).unwrap().pool_size;
        assert_eq!((size(&overrides), size(&flatten("# none\n", Format::Toml).unwrap())), (20, 1));
    }

    #[test]
    fn what_is_not_well_formed_says_where() {
        assert!(flatten("pool\n", Format::Yaml).unwrap_err().to_string().contains("line 1"));
        assert!(flatten("pool = \n", Format::Toml).unwrap_err().to_string().contains("line 1"));
        assert!(flatten("{", Format::Json).unwrap_err().to_string().contains("line 1"));
    }
}
