//! The one process that decides on writes, as others reach it.
//!
//! Whoever holds the lease of the store answers at a [`socket`] beside it; everybody else asks there.
//!
//! | module | does |
//! |---|---|
//! | [`wire`] | the words |
//! | [`frame`] | lines of JSON, bounded |
//! | [`socket`] | the Unix socket, both ends |
//! | [`office`] | answers, in the name of whom the kernel or a token tells |
//! | [`hold`] | takes the lease, and what goes with it |
//! | [`mod@line`] | the way of a command to whoever holds it |

pub mod wire;

pub mod frame;

pub mod socket;

pub mod office;

pub mod hold;

pub mod line;
