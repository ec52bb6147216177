//! Where people read and answer.

pub mod words;

pub mod terminal;

pub mod slack;
