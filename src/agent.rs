//! One investigation, from its trigger to its report.

pub mod model;
