//! Word stems after M. F. Porter, "An algorithm for suffix stripping" (1980): `expiring`, `expires` and `expired` are one
//! word to the search. Lower-case ASCII words only; every other word is its own stem.

/// The stem of a word.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut word = Word(word.as_bytes().to_vec());
    word.plurals();
    word.past_and_gerund();
    word.y_to_i();
    word.replace_longest(LONG_SUFFIXES);
    word.replace_longest(MIDDLE_SUFFIXES);
    word.strip_endings();
    word.tidy();
    String::from_utf8(word.0).unwrap_or_default()
}

const LONG_SUFFIXES: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const MIDDLE_SUFFIXES: &[(&str, &str)] =
    &[("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

const ENDINGS: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

struct Word(Vec<u8>);

impl Word {
    fn ends(&self, suffix: &str) -> bool {
        self.0.ends_with(suffix.as_bytes())
    }

    fn cut(&mut self, length: usize) {
        self.0.truncate(self.0.len().saturating_sub(length));
    }

    fn swap(&mut self, suffix: &str, with: &str) {
        self.cut(suffix.len());
        self.0.extend_from_slice(with.as_bytes());
    }

    /// For each letter whether it is a consonant; `y` is one at the beginning and after a vowel.
    fn consonants(&self) -> Vec<bool> {
        let mut flags: Vec<bool> = Vec::with_capacity(self.0.len());
        for letter in &self.0 {
            flags.push(match letter {
                b'a' | b'e' | b'i' | b'o' | b'u' => false,
                b'y' => !flags.last().copied().unwrap_or(false),
                _ => true,
            });
        }
        flags
    }

    /// How often a vowel is followed by a consonant in the first `length` letters: Porter's m.
    fn measure(&self, length: usize) -> usize {
        let flags = self.consonants();
        let kept = flags.get(..length).unwrap_or(&flags);
        kept.windows(2).filter(|pair| matches!(pair, [false, true])).count()
    }

    fn has_vowel(&self, length: usize) -> bool {
        self.consonants().iter().take(length).any(|consonant| !consonant)
    }

    fn ends_double_consonant(&self) -> bool {
        let doubled = matches!(self.0.as_slice(), [.., before, last] if before == last);
        doubled && self.consonants().last() == Some(&true)
    }

    /// Consonant, vowel, consonant at the end of the first `length` letters, the last not `w`, `x` or `y`.
    fn ends_cvc(&self, length: usize) -> bool {
        let last = self.0.get(..length).and_then(<[u8]>::last);
        let flags = self.consonants();
        matches!(flags.get(..length), Some([.., true, false, true])) && !matches!(last, Some(b'w' | b'x' | b'y'))
    }

    fn stem_length(&self, suffix: &str) -> Option<usize> {
        self.ends(suffix).then(|| self.0.len() - suffix.len())
    }

    fn plurals(&mut self) {
        if self.ends("sses") || self.ends("ies") {
            self.cut(2);
        } else if self.ends("s") && !self.ends("ss") {
            self.cut(1);
        }
    }

    fn past_and_gerund(&mut self) {
        if let Some(length) = self.stem_length("eed") {
            if self.measure(length) > 0 {
                self.cut(1);
            }
            return;
        }
        let Some(length) = self.stem_length("ed").or_else(|| self.stem_length("ing")) else { return };
        if !self.has_vowel(length) {
            return;
        }
        self.0.truncate(length);
        if self.ends("at") || self.ends("bl") || self.ends("iz") {
            self.0.push(b'e');
        } else if self.ends_double_consonant() && !(self.ends("l") || self.ends("s") || self.ends("z")) {
            self.cut(1);
        } else if self.measure(length) == 1 && self.ends_cvc(length) {
            self.0.push(b'e');
        }
    }

    fn y_to_i(&mut self) {
        if let Some(length) = self.stem_length("y")
            && self.has_vowel(length)
        {
            self.swap("y", "i");
        }
    }

    fn replace_longest(&mut self, suffixes: &[(&str, &str)]) {
        let longest = suffixes.iter().filter(|(suffix, _)| self.ends(suffix)).max_by_key(|(suffix, _)| suffix.len());
        if let Some((suffix, with)) = longest
            && self.measure(self.0.len() - suffix.len()) > 0
        {
            self.swap(suffix, with);
        }
    }

    fn strip_endings(&mut self) {
        let longest = ENDINGS.iter().filter(|suffix| self.ends(suffix)).max_by_key(|suffix| suffix.len());
        let Some(length) = longest.and_then(|suffix| self.stem_length(suffix)) else { return };
        let before_ion = matches!(length.checked_sub(1).and_then(|at| self.0.get(at)), Some(b's' | b't'));
        if self.measure(length) > 1 && (!self.ends("ion") || before_ion) {
            self.0.truncate(length);
        }
    }

    fn tidy(&mut self) {
        if let Some(length) = self.stem_length("e") {
            let measure = self.measure(length);
            if measure > 1 || (measure == 1 && !self.ends_cvc(length)) {
                self.0.truncate(length);
            }
        }
        if self.ends("ll") && self.measure(self.0.len()) > 1 {
            self.cut(1);
        }
    }
}

#[cfg(test)]
mod tests;
