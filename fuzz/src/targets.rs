//! The targets, one a file; each says at its head which laws it tries.

pub mod redact;

pub mod path;

pub mod arguments;

pub mod log_line;

pub mod log_window;

pub mod canonical;

pub mod ledger;

pub mod checkpoint;

pub mod sse;

pub mod card;

pub mod promql;

pub mod command;

pub mod webhook;

pub mod canary;
