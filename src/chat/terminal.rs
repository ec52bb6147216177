//! The terminal: progress while an investigation runs, and its report.
//!
//! Everything printed goes through [`text::visible`] first: logs and models can write control sequences.

pub mod text;

pub mod exact;

pub mod style;

pub mod sheet;

pub mod progress;

pub mod report;

pub mod pager;

pub mod keyboard;

pub mod answer;

pub mod card;

pub mod approver;
