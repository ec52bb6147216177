//! The operator's redaction rules, from the directories that the config names.

use warrant_kernel::redact::own::{self, OwnRule};

use super::files;
use crate::config::Config;

/// All rules; those that are refused, with why, are put to `problems`.
pub fn rules(config: &Config, problems: &mut Vec<String>) -> Vec<OwnRule> {
    let mut rules = Vec::new();
    for found in files::read(&config.rule_dirs, "toml", &[], problems) {
        match own::read(&found.name, &found.text, &rules) {
            Ok(more) => rules.extend(more),
            Err(errors) => problems.extend(errors.iter().map(ToString::to_string)),
        }
    }
    rules
}
