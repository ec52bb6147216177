//! The read tools, one file a tool. Each has a constructor that gives an `Arc<dyn ReadTool>`.

pub mod list_services;

pub mod describe_service;

pub mod list_files;

pub mod read_file;

pub mod search_files;

pub mod recent_changes;

pub mod read_evidence;

#[cfg(test)]
mod calling;
