//! How a service is restarted: `[services.NAME.restart]`. Units, directories and commands come from here only, never from
//! a call's arguments.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Who restarts a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "manager", rename_all = "snake_case", deny_unknown_fields)]
pub enum Restart {
    /// systemd, through `systemctl`.
    Systemd {
        /// The unit, `checkout.service`.
        unit: String,
        /// Whose manager: the system's, or that of the user Warrant runs as.
        #[serde(default)]
        scope: Scope,
        /// The runtime directory of a user's manager, where it is not `/run/user/UID`.
        #[serde(default)]
        runtime_dir: Option<PathBuf>,
    },
    /// runit, through `sv`.
    Runit {
        /// The service directory, absolute.
        dir: PathBuf,
    },
    /// supervisor, through `supervisorctl -c`.
    Supervisor {
        /// The program, as `supervisorctl` names it.
        program: String,
        /// The configuration file of supervisor, absolute.
        config: PathBuf,
    },
    /// A command that restarts it and ends.
    Command {
        /// The program, by its absolute path, and its arguments.
        argv: Vec<String>,
        /// The file in which the running service writes its process id: a new one proves the restart.
        pid_file: PathBuf,
    },
}

/// Whose systemd.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The system's.
    #[default]
    System,
    /// The user's.
    User,
}
