//! The read tools, one file a tool. Each is made by a function that takes its sources and gives an `Arc<dyn ReadTool>`.

#[cfg(test)]
mod calling;

pub mod sight;

pub mod list_services;

pub mod describe_service;

pub mod list_files;

pub mod read_file;

pub mod search_files;

pub mod recent_changes;

pub mod read_evidence;

pub(crate) mod metrics_source;

pub mod query_metrics;

pub mod list_metrics;

pub mod scrape_metrics;

pub mod active_alerts;

pub mod http_check;

pub mod http_tool;

pub mod search_runbooks;

pub mod read_runbook;

mod log_scope;

pub mod search_logs;

pub mod compare_logs;

pub mod run_command;

pub mod command_tool;
