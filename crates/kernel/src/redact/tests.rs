//! Laws of masking.
