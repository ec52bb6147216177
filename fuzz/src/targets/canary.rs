//! The canary: its law is false, and a run that does not find that out is worth nothing.
//!
//! It claims that no line begins with a time. The only way there leads through branches of code that is not the
//! fuzzer's own, so it is found by coverage of that code, and hardly by chance.

use warrant_toolbox::tools::sources::logs::stamp::leading;

/// Tries the false law.
pub fn run(data: &[u8]) {
    assert!(leading(data).is_none(), "the canary is found");
}
