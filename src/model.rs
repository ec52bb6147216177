//! Language models behind the loop's seam ([`crate::agent::model`]).
//!
//! | module | does |
//! |---|---|
//! | [`config`] | `[models.NAME]`, and the models built from it |
//! | [`fallback`] | models in order: when one fails for good, the next is asked |
//! | [`retry`] | patience with a model that fails for a moment |
//! | [`priced`] | what an answer cost |
//! | [`openai`] | chat completions: `OpenAI`, Ollama, vLLM, gateways |
//! | [`anthropic`] | the Messages API |
//! | [`runbook`] | the built-in one: no key, no network |
//!
//! Below them: `wire` (what both shapes need at their edge), `endpoint` (one POST, one stream), `failure` (what an error
//! means), `sse` (events within bounds). A model added here returns whole answers only: what a stream cut is an error.

pub mod config;

pub mod runbook;

pub mod fallback;

pub mod retry;

pub mod priced;

pub mod openai;

pub mod anthropic;

mod wire;

mod endpoint;

mod failure;

mod sse;

#[cfg(test)]
mod testing;
