//! Where people read and answer.

pub mod terminal;

pub mod slack;
