//! Laws of what reads hostile text, tried on inputs that a fuzzer makes.
//!
//! A target takes any bytes and panics where a law does not hold. It reaches what it tries through public interfaces, and
//! the reader of event streams, which has none, by including its file. `fuzz/run` feeds the targets from libFuzzer; a test
//! feeds them the seeds and what was found before. docs/FUZZING.md says how to run, reproduce and add one.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::missing_panics_doc,
    reason = "a law that does not hold panics; that is what a fuzzer looks for"
)]

pub mod input;

pub mod targets;

use targets::{
    arguments, canary, canonical, card, checkpoint, command, ledger, log_line, log_window, path, promql, redact, sse,
    webhook,
};

/// One thing that is tried.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, and that of its directory of seeds.
    pub name: &'static str,
    /// Panics where a law does not hold.
    pub run: fn(&[u8]),
}

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// All of them. The last is the canary, whose law is false.
pub const TARGETS: &[Target] = &[
    target("redact", redact::run),
    target("path", path::run),
    target("arguments", arguments::run),
    target("log_line", log_line::run),
    target("log_window", log_window::run),
    target("canonical", canonical::run),
    target("ledger", ledger::run),
    target("checkpoint", checkpoint::run),
    target("sse", sse::run),
    target("card", card::run),
    target("promql", promql::run),
    target("command", command::run),
    target("webhook", webhook::run),
    target("canary", canary::run),
];

/// The target of this name.
#[must_use]
pub fn named(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
