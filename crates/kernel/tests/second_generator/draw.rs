//! Draws from a seed: the same seed writes the same cases.

/// Splitmix64.
pub struct Draw(u64);

/// Capitals and digits, as in the ids of vendors.
pub const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// Letters and digits.
pub const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Letters.
pub const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Hexadecimal digits.
pub const HEX: &str = "0123456789abcdef";
/// Base64.
pub const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Base64 for URLs.
pub const URL_SAFE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.bits() % end as u64).unwrap()
    }

    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub fn chars(&mut self, count: usize, of: &str) -> String {
        let of: Vec<char> = of.chars().collect();
        (0..count).map(|_| *self.one(&of)).collect()
    }

    pub fn digits(&mut self, count: usize) -> String {
        let first = self.chars(1, "123456789");
        first + &self.chars(count - 1, "0123456789")
    }

    /// A password as generators and people make them: some length, some of it not letters or digits.
    pub fn password(&mut self, symbols: &str) -> String {
        let length = self.between(12, 24);
        let mut text: Vec<char> = self.chars(length, ALNUM).chars().collect();
        for _ in 0..self.below(3) {
            let at = self.between(1, length - 2);
            text[at] = self.chars(1, symbols).chars().next().unwrap();
        }
        text.into_iter().collect()
    }
}
