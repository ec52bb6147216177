//! The terminal: progress while an investigation runs, and its report.
//!
//! Everything printed goes through [`text::visible`] first: logs and models can write control sequences.

pub mod text;

pub mod style;

pub mod progress;

pub mod report;
