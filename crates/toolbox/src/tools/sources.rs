//! The clients of the sources: one module a source, no tool's rules in it.

pub mod changes;

pub mod http;

pub mod exposition;

pub mod prometheus;

pub mod alertmanager;

pub mod logs;
