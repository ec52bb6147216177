//! Runbooks: Markdown for people and for the model, with checks that code can carry out.
//!
//! [`library::Library`] loads them and is the only way in; [`search`] ranks them; [`fill`] and [`expect`] are what a runner
//! of checks needs: the first makes a tool call of a check, the second judges its answer. Nothing here calls a tool.

pub mod document;

pub mod expect;

pub mod fill;

pub mod parse;

mod markdown;

pub mod library;

mod files;

pub mod lint;

pub mod search;

mod rank;

mod index;

mod words;

mod lexicon;

mod stem;
