//! Log files beneath a directory.

pub mod stamp;

pub mod record;
