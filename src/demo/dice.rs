//! Numbers from a seed (`SplitMix64`, Steele and others 2014). The same seed gives the same shop, on every machine and
//! in every release of the standard library; nothing here is fit for secrets.

/// A source of numbers that a seed settles.
#[derive(Debug, Clone)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// Dice for a seed. `purpose` keeps the choices of one part apart from those of another, so that a further choice in
    /// one does not move the other.
    #[must_use]
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut dice = Self { state: seed };
        for byte in purpose.bytes() {
            dice.state ^= u64::from(byte);
            dice.draw();
        }
        dice
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included; `low` where `high` is below it.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let width = high.saturating_sub(low).saturating_add(1);
        low.saturating_add(self.draw().checked_rem(width).unwrap_or(0))
    }

    /// One of `choices`; `None` only where there are none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let last = u64::try_from(choices.len()).ok()?.checked_sub(1)?;
        let index = self.between(0, last);
        usize::try_from(index).ok().and_then(|index| choices.get(index))
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// Brings `items` into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u64::try_from(last).unwrap_or(0);
            let other = usize::try_from(self.between(0, bound)).unwrap_or(0);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_purpose_others() {
        let numbers = |seed, purpose| {
            let mut dice = Dice::new(seed, purpose);
            [dice.draw(), dice.draw(), dice.draw()]
        };
        assert_eq!(numbers(7, "plan"), numbers(7, "plan"));
        assert_ne!(numbers(7, "plan"), numbers(7, "files"));
        assert_ne!(numbers(7, "plan"), numbers(8, "plan"));
    }

    #[test]
    fn choices_stay_within_their_bounds() {
        let mut dice = Dice::new(1, "bounds");
        assert!((0..1000).map(|_| dice.between(3, 5)).all(|number| (3..=5).contains(&number)));
        assert_eq!(dice.between(9, 2), 9);
        assert_eq!(dice.pick::<u8>(&[]), None);
        let mut items = [1, 2, 3, 4, 5];
        dice.shuffle(&mut items);
        items.sort_unstable();
        assert_eq!(items, [1, 2, 3, 4, 5]);
    }
}
