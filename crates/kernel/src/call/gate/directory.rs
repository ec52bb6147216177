//! The seam to whoever knows who is who, now.

pub use crate::people::directory::{Directory, DirectoryError, Freshness, Standing};
