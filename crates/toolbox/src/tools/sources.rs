//! The sources that tools read from: each knows its kind of source and nothing of tools.

pub mod logs;
