//! The one process that decides on writes, as others reach it.
//!
//! Whoever holds the lease of the store answers at a [`socket`] beside it; everybody else asks there.

pub mod wire;

pub mod frame;

pub mod socket;
