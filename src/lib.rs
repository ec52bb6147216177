//! Warrant investigates incidents: reads are fast, writes need a warrant.
//!
//! The map of this package, lowest floor first; the trusted part is the crate `warrant_kernel`, the tools are
//! `warrant_toolbox`. A module imports only from floors below its own.
//!
//! | floor | module | does |
//! |---|---|---|
//! | 7 | [`agent`] | one investigation: sweep, scheduler, loop, report, resume |
//! | 8 | [`model`] | the language models it asks |
//! | 8 | [`chat`] | the terminal and Slack: progress, reports, approvals |
//! | 8 | [`web`] | the API, health and metrics |
//! | 8 | [`alert`] | alerts: received, grouped into incidents, investigated |
//! | 8 | [`telemetry`] | our own log, masked; spans of investigations, and who takes them |
//! | 9 | [`config`] | `warrant.toml`, checked whole |
//! | 10 | [`app`] | wires the parts; the commands |
//! | 11 | [`demo`] | the shop that breaks |

pub mod agent;

pub mod model;

pub mod chat;

pub mod web;

pub mod alert;

pub mod config;

pub mod telemetry;

pub mod app;

pub mod demo;
