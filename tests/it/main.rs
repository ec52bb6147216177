//! The integration tests, one module a topic, in one binary.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test; Clippy's leave for tests ends at the test functions"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests are the outside world: they start the program and know what time it is"
)]

#[path = "../support/model_server.rs"]
mod model_server;

mod models;

#[path = "../support/slack.rs"]
mod slack_server;

mod slack;

mod serve;

mod layers;

mod cuts;

mod attacks;

mod shipped;

#[path = "../support/safety.rs"]
mod safety;

mod investigation;

mod demo;

mod traces;

mod audit;

mod verifiers;

mod shop;

mod docs;

mod one_call;

mod roles;

mod policies;

mod prompt;

mod votes;

mod suite;

mod commands;

mod sizes;

mod limits;

mod alertmanager;

mod telemetry;

mod deploy;
