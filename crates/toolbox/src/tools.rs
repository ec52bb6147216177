//! The tools that the model may call, and the sources behind them. A tool is registered by its constructor; nothing else of it is used.

pub mod sources;

pub mod read;
