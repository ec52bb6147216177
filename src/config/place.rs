//! Where the config and the store lie when nobody says.

use std::path::PathBuf;

use super::ConfigError;

/// The config: the one named, or the first there is of `$WARRANT_CONFIG`, `./warrant.toml`, the user's and the system's.
///
/// # Errors
/// [`ConfigError::Missing`] with the places looked at.
pub fn find(named: Option<PathBuf>) -> Result<PathBuf, ConfigError> {
    if let Some(path) = named.or_else(|| std::env::var_os("WARRANT_CONFIG").map(PathBuf::from)) {
        return Ok(path);
    }
    let user = directory("XDG_CONFIG_HOME", ".config").map(|config| config.join("warrant/warrant.toml"));
    let places: Vec<PathBuf> = [Some(PathBuf::from("warrant.toml")), user, Some("/etc/warrant/warrant.toml".into())]
        .into_iter()
        .flatten()
        .collect();
    places.iter().find(|path| path.is_file()).cloned().ok_or(ConfigError::Missing(places))
}

/// The store's file when the config names none.
#[must_use]
pub fn default_store() -> Option<PathBuf> {
    directory("XDG_STATE_HOME", ".local/state").map(|state| state.join("warrant/warrant.db"))
}

fn directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set(variable).or_else(|| set("HOME").map(|home| home.join(below_home)))
}
