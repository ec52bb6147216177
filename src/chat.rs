//! Where people read and answer.

pub mod terminal;
