//! Which messages are the same but for what varies: Drain (He et al., ICWS 2017) over masked words, with bounded memory.
//!
//! Make one [`Templates`], [`Templates::add`] every message with the group it may be compared within (its level, say);
//! the returned id stays the same while the template's words may still become holes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::mask::{HOLE, masked};

/// Two messages of one length are the same when at least this share of their words is.
const LEAST_ALIKE: f64 = 0.5;
/// Templates compared for one message; a leaf that holds more is a stream of prose, not of templates.
const MOST_IN_LEAF: usize = 128;
/// Masked messages whose template is remembered, so that the usual message costs one look-up.
const MOST_SEEN: usize = 8_192;

/// Templates learned from messages.
#[derive(Debug)]
pub struct Templates {
    most: usize,
    known: Vec<Vec<Box<str>>>,
    leaves: HashMap<u64, Vec<usize>>,
    seen: HashMap<u64, usize>,
    overflow: u64,
    buffer: String,
}

impl Templates {
    /// Learns at most `most` templates.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            known: Vec::new(),
            leaves: HashMap::new(),
            seen: HashMap::new(),
            overflow: 0,
            buffer: String::new(),
        }
    }

    /// The template of `message`; none where it would be one more than is learned.
    pub fn add(&mut self, group: u8, message: &str) -> Option<usize> {
        let mut buffer = std::mem::take(&mut self.buffer);
        masked(message, &mut buffer);
        let found = self.place(group, &buffer);
        self.buffer = buffer;
        self.overflow += u64::from(found.is_none());
        found
    }

    fn place(&mut self, group: u8, text: &str) -> Option<usize> {
        let whole = hash_of(&(group, text));
        if let Some(id) = self.seen.get(&whole) {
            return Some(*id);
        }
        let words: Vec<&str> = text.split(' ').collect();
        let first = words.first().copied().filter(|word| !word.contains(HOLE));
        let leaf = self.leaves.entry(hash_of(&(group, words.len(), first))).or_default();
        let best = leaf
            .iter()
            .filter_map(|id| self.known.get(*id).map(|template| (*id, alike(template, &words))))
            .max_by(|left, right| left.1.total_cmp(&right.1).then(right.0.cmp(&left.0)))
            .filter(|(_, likeness)| *likeness >= LEAST_ALIKE);
        let id = if let Some((id, _)) = best {
            widen(self.known.get_mut(id)?, &words);
            id
        } else {
            if self.known.len() >= self.most || leaf.len() >= MOST_IN_LEAF {
                return None;
            }
            leaf.push(self.known.len());
            self.known.push(words.iter().map(|word| Box::from(*word)).collect());
            self.known.len() - 1
        };
        if self.seen.len() < MOST_SEEN {
            self.seen.insert(whole, id);
        }
        Some(id)
    }

    /// A template as text.
    #[must_use]
    pub fn text(&self, id: usize) -> Option<String> {
        self.known.get(id).map(|words| words.join(" "))
    }

    /// How many templates there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many messages found no template because there were too many.
    #[must_use]
    pub fn overflow(&self) -> u64 {
        self.overflow
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The share of words that are the same, of those that are no hole in both.
fn alike(template: &[Box<str>], words: &[&str]) -> f64 {
    let mut telling = 0_u32;
    let mut same = 0_u32;
    for (known, word) in template.iter().zip(words) {
        if !(known.contains(HOLE) && word.contains(HOLE)) {
            telling += 1;
            same += u32::from(**known == **word);
        }
    }
    if telling == 0 { 1.0 } else { f64::from(same) / f64::from(telling) }
}

fn widen(template: &mut [Box<str>], words: &[&str]) {
    for (known, word) in template.iter_mut().zip(words) {
        if **known != **word {
            *known = Box::from(HOLE);
        }
    }
}

#[cfg(test)]
mod tests;
