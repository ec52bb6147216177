//! The `warrant` command.

fn main() {}
