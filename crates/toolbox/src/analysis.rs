//! What can be told from log records and counts alone. Pure: no I/O, no clock.
//!
//! | module | tells |
//! |---|---|
//! | [`level`] | how bad a record is, whatever word its program uses |
//! | [`mask`] | what varies within a message: numbers, addresses, quoted texts |
//! | [`templates`] | which messages are the same but for what varies (Drain) |
//! | [`timeline`] | counts over equal buckets of time |
//! | [`change`] | where a sustained rise in such counts begins |

pub mod level;

pub mod mask;

pub mod templates;

pub mod timeline;

pub mod change;
