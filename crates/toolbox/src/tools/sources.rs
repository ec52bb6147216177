//! The sources behind the tools.

pub mod changes;
