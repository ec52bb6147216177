//! The tools, and what they read from.

pub mod workspace;

pub mod process;

pub mod sources;

pub mod read;
