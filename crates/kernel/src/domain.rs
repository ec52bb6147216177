//! The words the whole project shares. Pure: no I/O, no clock, no runtime.
//!
//! Parse once, then trust: the newtypes of [`name`] have narrow constructors, so code behind them never checks again.

pub mod name;

pub mod time;

pub mod hex;

pub mod digest;

pub mod visible;

pub mod in_force;

pub mod tool;

pub mod target;

pub mod run;

pub mod decision;

pub mod plan;

pub mod result;

pub mod output;

pub mod event;

pub mod report;
