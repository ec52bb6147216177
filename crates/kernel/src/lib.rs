//! The trusted part of Warrant.
//!
//! Everything that decides, masks or records stands in this crate, so that it can be read whole.
//! No tool, model or chat is in it; they implement the traits of [`call`] and are registered from outside.
//!
//! The map, lowest floor first (a module imports only from floors below its own):
//!
//! | floor | module | does |
//! |---|---|---|
//! | 0 | [`domain`] | the shared words, pure |
//! | 1 | [`people`] | who is who |
//! | 1 | [`redact`] | finds and masks secrets |
//! | 1 | [`policy`] | asks Cedar who may do what |
//! | 1 | [`db`] | the SQLite pools and migrations |
//! | 2 | [`store`] | events and blobs of an investigation |
//! | 3 | [`call`] | one tool call, in seven stages |

pub mod domain;

pub mod people;

pub mod redact;

pub mod policy;

pub mod db;

pub mod store;

pub mod ledger;

pub mod call;
