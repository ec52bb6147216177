//! The permanent record of writes. Nothing deletes from it.

pub mod receipt;
