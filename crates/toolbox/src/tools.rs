//! The read tools and the sources behind them.

pub mod read;
