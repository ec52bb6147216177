//! Where this process was started as a launcher of the sandbox, it does that and nothing else.

use std::ffi::OsString;
use std::process::ExitCode;

use warrant_toolbox::tools::process::sandbox;

/// The exit code of a launcher; none where this is no launcher.
#[must_use]
pub fn entered(args: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    sandbox::entered(args)
}
