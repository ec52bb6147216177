//! Bytes as people and records write them: two lower-case hexadecimal digits a byte.

/// The bytes in hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()
}
