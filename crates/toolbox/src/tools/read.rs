//! The read tools: one file a tool, named after it.

pub mod log_scope;

pub mod search_logs;

pub mod compare_logs;
