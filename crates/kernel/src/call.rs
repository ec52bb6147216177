//! ONE TOOL CALL.
//!
//! Tools implement [`ReadTool`]; they are registered from outside, and this module never names one.

pub mod tool;

pub mod definition;

pub mod arguments;
