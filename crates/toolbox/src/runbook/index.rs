//! Which words stand where: the postings that [`crate::runbook::rank`] weighs. Built once, in memory, from what is loaded.
//!
//! A word is looked up as a stem; `grams` are pieces of four letters, which find `filesystem` from `file system` and
//! survive other endings than the stemmer knows.

use std::collections::HashMap;

use crate::runbook::document::Runbook;
use crate::runbook::stem::stem;
use crate::runbook::words::{is_stop_word, words};

/// Parts of a runbook that are weighed apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Title and alert names.
    Title,
    /// Symptoms and the first section: what it is about.
    Lead,
    /// Headings.
    Headings,
    /// All other text.
    Body,
    /// Words of link targets.
    Links,
}

/// How many fields there are.
pub(super) const FIELDS: usize = 5;

/// How often a stem stands in each field of one runbook.
pub(super) struct Posting {
    pub runbook: usize,
    pub counts: [u32; FIELDS],
}

/// Where one stem stands.
#[derive(Default)]
pub(super) struct Term {
    pub postings: Vec<Posting>,
    /// Section and how often.
    pub sections: Vec<(usize, u32)>,
}

/// How often a gram stands in one runbook: in its lead, in all of it.
pub(super) struct GramPosting {
    pub runbook: usize,
    pub lead: u32,
    pub all: u32,
}

/// A section of a runbook.
pub(super) struct SectionRow {
    pub runbook: usize,
    /// Its place in the runbook; none for the symptoms.
    pub section: Option<usize>,
    /// Whether it says what the runbook is about.
    pub lead: bool,
    pub length: u32,
}

/// All postings.
#[derive(Default)]
pub(super) struct Index {
    pub terms: HashMap<String, Term>,
    pub grams: HashMap<String, Vec<GramPosting>>,
    pub sections: Vec<SectionRow>,
    pub lengths: Vec<[u32; FIELDS]>,
    pub gram_lengths: Vec<(u32, u32)>,
}

impl Index {
    /// Reads all runbooks.
    pub fn new(runbooks: &[Runbook]) -> Self {
        let mut index = Self::default();
        for (at, runbook) in runbooks.iter().enumerate() {
            index.add(at, runbook);
        }
        index
    }

    fn add(&mut self, runbook: usize, page: &Runbook) {
        self.lengths.push([0; FIELDS]);
        self.gram_lengths.push((0, 0));
        let titles = format!("{}\n{}", page.title, page.alerts.join("\n"));
        let row = self.section(runbook, None, true);
        self.add_words(runbook, Field::Title, &titles, Some(row));
        if !page.symptoms.is_empty() {
            let row = self.section(runbook, None, true);
            self.add_words(runbook, Field::Lead, &page.symptoms.join("\n"), Some(row));
        }
        let lead = page.sections.iter().position(|section| !section.text.is_empty());
        for (at, section) in page.sections.iter().enumerate() {
            let row = self.section(runbook, Some(at), Some(at) == lead);
            let field = if Some(at) == lead { Field::Lead } else { Field::Body };
            self.add_words(runbook, Field::Headings, &section.heading, Some(row));
            self.add_words(runbook, field, &section.text, Some(row));
            self.add_words(runbook, Field::Links, &section.links, None);
        }
    }

    fn section(&mut self, runbook: usize, section: Option<usize>, lead: bool) -> usize {
        self.sections.push(SectionRow { runbook, section, lead, length: 0 });
        self.sections.len() - 1
    }

    fn add_words(&mut self, runbook: usize, field: Field, text: &str, section: Option<usize>) {
        for word in words(text) {
            if let Some(length) = self.lengths.get_mut(runbook).and_then(|fields| fields.get_mut(field as usize)) {
                *length += 1;
            }
            if !is_stop_word(&word.text) && field != Field::Links {
                self.add_grams(runbook, field, &word.text);
            }
            let term = self.terms.entry(stem(&word.text)).or_default();
            if term.postings.last().is_none_or(|posting| posting.runbook != runbook) {
                term.postings.push(Posting { runbook, counts: [0; FIELDS] });
            }
            if let Some(count) = term.postings.last_mut().and_then(|posting| posting.counts.get_mut(field as usize)) {
                *count += 1;
            }
            let Some(row) = section else { continue };
            match term.sections.last_mut() {
                Some((last, count)) if *last == row => *count += 1,
                _ => term.sections.push((row, 1)),
            }
            if let Some(row) = self.sections.get_mut(row) {
                row.length += 1;
            }
        }
    }

    fn add_grams(&mut self, runbook: usize, field: Field, word: &str) {
        let lead = u32::from(field == Field::Lead);
        for gram in grams(word) {
            let postings = self.grams.entry(gram).or_default();
            if postings.last().is_none_or(|posting| posting.runbook != runbook) {
                postings.push(GramPosting { runbook, lead: 0, all: 0 });
            }
            if let Some(posting) = postings.last_mut() {
                posting.lead += lead;
                posting.all += 1;
            }
            if let Some((in_lead, all)) = self.gram_lengths.get_mut(runbook) {
                *in_lead += lead;
                *all += 1;
            }
        }
    }
}

/// The pieces of four letters of a word, its ends marked; a short word is one piece.
pub(super) fn grams(word: &str) -> Vec<String> {
    let letters: Vec<char> = ['^'].into_iter().chain(word.chars()).chain(['$']).collect();
    if letters.len() <= 4 {
        return vec![letters.into_iter().collect()];
    }
    letters.windows(4).map(|four| four.iter().collect()).collect()
}
