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

mod layers;

mod attacks;

mod shipped;

mod investigation;

mod demo;

mod traces;

mod audit;

mod shop;

mod docs;

mod one_call;

mod roles;

mod policies;

mod prompt;

mod votes;
