//! The read tools and the sources behind them.

pub mod sources;

pub mod read;
