//! The approval-safety suite: cases as data, a runner, and what it drives.
//!
//! A case says what the situation is, what is attempted, and what must come of it; none of that speaks of how an agent
//! works inside. An [`adapter::Adapter`] sets a situation up for one agent, carries out the steps through that agent's
//! public surfaces, and tells what it saw. Another agent is driven by another adapter.

#[path = "safety/case.rs"]
pub mod case;

#[path = "safety/adapter.rs"]
pub mod adapter;

#[path = "safety/runner.rs"]
pub mod runner;

#[path = "safety/warrant.rs"]
pub mod warrant;
