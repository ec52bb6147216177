//! The read tools, one file a tool. Each has a constructor that gives an `Arc<dyn ReadTool>`.

pub mod search_runbooks;

pub mod read_runbook;
