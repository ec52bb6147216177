//! The write tools, one file a tool, and what they share.
//!
//! A tool says what would happen and, handed a warrant, does it once. It decides nothing: whether it may is the gate's to
//! say. What a tool does with a plan stands in functions of its own over the plan, so that tests reach it without a warrant.

#[cfg(test)]
mod trying;

pub mod kept;

pub mod change;

pub mod parsed;

pub mod diff;

pub mod names;

pub mod owned;

pub mod validate;

pub mod seen;

pub mod file;

pub mod edit_config;

pub mod restore_config;

pub mod restart;

pub mod restart_service;
