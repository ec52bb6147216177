//! The integration tests, one module a topic, in one binary.

#[path = "../support/model_server.rs"]
mod model_server;

mod models;

mod shop;

mod docs;
