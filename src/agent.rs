//! One investigation, from its trigger to its report.
//!
//! [`state`] is a fold over events; [`step`] decides from it what comes next; [`investigate`] does it and records it in
//! [`trace`]. So a killed run is resumed, and a finished one replayed, by the same code that ran it.

pub mod model;

pub mod held;

pub mod state;

pub mod step;

pub mod trace;

pub mod scheduler;

pub mod sweep;

pub mod brought;

pub mod envelope;

pub mod prompt;

pub mod remedies;

pub mod report;

pub mod writes;

pub mod deltas;

pub mod news;

pub mod investigate;

pub mod replay;
