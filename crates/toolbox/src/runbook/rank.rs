//! How well each runbook answers a question: BM25 over fields, the best section, and pieces of words.
//!
//! The figures in [`Weights`] were set on one half of the alerts of kube-prometheus, on alerts of other projects and on the
//! runbooks' own sentences (see `benches/runbooks.rs`); the other half only reports. The confidence is the share of the best possible score that one section reaches alone, so
//! it can be held against the same floor for every question and library.

use std::collections::{BTreeMap, HashMap};

use crate::runbook::index::{FIELDS, Index, grams};
use crate::runbook::lexicon::Lexicon;
use crate::runbook::stem::stem;
use crate::runbook::words::{Kind, Word, is_faint};

/// Most different words of a question that are weighed.
const MAX_TERMS: usize = 256;

/// What counts how much.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    /// Title, lead, headings, body, links.
    pub fields: [f64; FIELDS],
    /// BM25's b for each field: how far long fields are damped.
    pub damping: [f64; FIELDS],
    /// BM25's k1: how soon more of the same word counts no more.
    pub saturation: f64,
    /// How much more a word counts that the question repeats.
    pub repeated: f64,
    /// A faint word beside any other.
    pub faint: f64,
    /// To which power a word's rarity counts.
    pub rarity: f64,
    /// A related word beside the word itself.
    pub related: f64,
    /// A section beside the lead.
    pub section: f64,
    /// The best section beside the fields.
    pub best_section: f64,
    /// For each word the section where it counts most.
    pub spread: f64,
    /// Pieces of words beside the fields.
    pub grams: f64,
}

/// The weights in use.
pub(super) const WEIGHTS: Weights = Weights {
    fields: [2.0, 2.0, 1.0, 0.36, 0.3],
    damping: [0.3, 0.9, 0.7, 0.7, 0.7],
    saturation: 1.8,
    repeated: 4.0,
    faint: 0.3,
    rarity: 0.8,
    related: 0.35,
    section: 1.15,
    best_section: 0.45,
    spread: 0.25,
    grams: 0.5,
};

/// One runbook's standing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standing {
    pub runbook: usize,
    pub score: f64,
    /// From 0: nothing, to about 2: a section that is all about the question.
    pub confidence: f64,
    /// The row of the section that fits best.
    pub section: Option<usize>,
}

struct Term<'a> {
    weight: f64,
    /// Stems that count as the word, and how much an occurrence of each counts.
    spellings: Vec<(&'a str, f64)>,
}

/// All runbooks that share a word with the question, best first.
pub(super) fn rank(index: &Index, lexicon: &Lexicon, weights: &Weights, question: &[Word]) -> Vec<Standing> {
    let stems = stems(question);
    let terms: Vec<Term<'_>> = stems.iter().map(|word| term(index, lexicon, weights, word)).collect();
    let total: f64 = terms.iter().map(|term| term.weight).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let mut scores = vec![0.0; index.lengths.len()];
    by_fields(index, weights, &terms, &mut scores);
    let best = by_sections(index, weights, &terms, &mut scores);
    let evenly: f64 = terms.iter().map(|term| term.weight.sqrt()).sum();
    by_grams(index, weights, question, total, &mut scores);
    let mut standings: Vec<Standing> = scores
        .into_iter()
        .enumerate()
        .filter(|(_, score)| *score > 0.0)
        .map(|(runbook, score)| {
            let best = best.get(runbook).copied().unwrap_or_default();
            Standing { runbook, score: score / total, confidence: best.evenly / evenly, section: best.row }
        })
        .collect();
    standings.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.runbook.cmp(&b.runbook)));
    standings
}

struct Stem {
    text: String,
    kind: Kind,
    count: f64,
    faint: bool,
}

/// The different stems of a question, in order.
fn stems(question: &[Word]) -> Vec<Stem> {
    let mut stems: Vec<Stem> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for word in question {
        let text = stem(&word.text);
        if let Some(known) = places.get(&text).and_then(|at: &usize| stems.get_mut(*at)) {
            known.count += 1.0;
        } else if stems.len() < MAX_TERMS {
            places.insert(text.clone(), stems.len());
            stems.push(Stem { text, kind: word.kind, count: 1.0, faint: is_faint(&word.text) });
        }
    }
    stems
}

/// How much a word weighs and what counts as it. A word that no runbook has is stood for by its related words; where
/// there are none it counts against every runbook, as the rarest word would, but for names and chance pairs.
fn term<'a>(index: &Index, lexicon: &'a Lexicon, weights: &Weights, word: &'a Stem) -> Term<'a> {
    let rarity_of = |holders: usize| rarity(index.lengths.len(), holders).powf(weights.rarity);
    let own = holders(index, &word.text);
    let related = lexicon.related(&word.text).iter().map(String::as_str).filter(|other| holders(index, other) > 0);
    let (rarity_here, spellings) = if own > 0 {
        let here = rarity_of(own);
        let share = |other: &str| weights.related * (rarity_of(holders(index, other)) / here.max(0.1)).min(1.0);
        let related = related.map(|other| (other, share(other)));
        (here, [(word.text.as_str(), 1.0)].into_iter().chain(related).collect())
    } else {
        let spellings: Vec<(&str, f64)> = related.map(|other| (other, 1.0)).collect();
        let held = spellings.iter().map(|(other, _)| holders(index, other)).max();
        let unknown = match word.kind {
            Kind::Plain => 1.0,
            Kind::Pair => 0.02,
            Kind::Name => 0.0,
        };
        (held.map_or_else(|| unknown * rarity_of(1), rarity_of), spellings)
    };
    let share = if word.faint { weights.faint } else { 1.0 };
    let weight = share * rarity_here * (1.0 + weights.repeated * word.count.ln());
    Term { weight, spellings }
}

fn holders(index: &Index, stem: &str) -> usize {
    index.terms.get(stem).map_or(0, |term| term.postings.len())
}

/// BM25's inverse document frequency.
#[expect(clippy::cast_precision_loss, reason = "counts of runbooks are far below 2^52")]
fn rarity(all: usize, holders: usize) -> f64 {
    (1.0 + (all as f64 - holders as f64 + 0.5) / (holders as f64 + 0.5)).ln()
}

fn by_fields(index: &Index, weights: &Weights, terms: &[Term<'_>], scores: &mut [f64]) {
    let means = means(&index.lengths);
    for term in terms {
        let mut frequencies: HashMap<usize, f64> = HashMap::new();
        for (spelling, share) in &term.spellings {
            for posting in index.terms.get(*spelling).map(|term| term.postings.as_slice()).unwrap_or_default() {
                let Some(lengths) = index.lengths.get(posting.runbook) else { continue };
                let fields = posting.counts.iter().zip(lengths).zip(means).zip(weights.fields).zip(weights.damping);
                let frequency: f64 = fields
                    .map(|((((count, length), mean), weight), b)| {
                        weight * f64::from(*count) / (1.0 - b + b * f64::from(*length) / mean)
                    })
                    .sum();
                *frequencies.entry(posting.runbook).or_default() += share * frequency;
            }
        }
        for (runbook, frequency) in frequencies {
            if let Some(score) = scores.get_mut(runbook) {
                *score += term.weight * saturated(frequency, weights.saturation);
            }
        }
    }
}

/// What a section reached.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    row: Option<usize>,
    score: f64,
    /// The same with the words' weights drawn together. A person's question has common words where an alert has rare
    /// ones, and one unknown word must not drown them.
    evenly: f64,
}

/// Adds what the sections say and tells each runbook's best one.
fn by_sections(index: &Index, weights: &Weights, terms: &[Term<'_>], scores: &mut [f64]) -> Vec<Reached> {
    let mean = mean(index.sections.iter().map(|row| row.length));
    let mut reached = vec![Reached::default(); index.sections.len()];
    for term in terms {
        let mut frequencies: HashMap<usize, f64> = HashMap::new();
        for (spelling, share) in &term.spellings {
            for (row, count) in index.terms.get(*spelling).map(|term| term.sections.as_slice()).unwrap_or_default() {
                *frequencies.entry(*row).or_default() += share * f64::from(*count);
            }
        }
        let mut most: HashMap<usize, f64> = HashMap::new();
        for (at, frequency) in frequencies {
            let (Some(row), Some(reached)) = (index.sections.get(at), reached.get_mut(at)) else { continue };
            let damped = frequency / (0.25 + 0.75 * f64::from(row.length) / mean);
            let gained = saturated(damped, 1.2) * if row.lead { 1.0 } else { weights.section };
            reached.row = Some(at);
            reached.score += term.weight * gained;
            reached.evenly += term.weight.sqrt() * gained;
            let best = most.entry(row.runbook).or_default();
            *best = best.max(term.weight * gained);
        }
        for (runbook, gained) in most {
            if let Some(score) = scores.get_mut(runbook) {
                *score += weights.spread * gained;
            }
        }
    }
    let mut best = vec![Reached::default(); scores.len()];
    for (row, reached) in index.sections.iter().zip(reached) {
        if let Some(best) = best.get_mut(row.runbook)
            && reached.score > best.score
        {
            *best = reached;
        }
    }
    for (score, best) in scores.iter_mut().zip(&best) {
        *score += weights.best_section * best.score;
    }
    best
}

fn by_grams(index: &Index, weights: &Weights, question: &[Word], total: f64, scores: &mut [f64]) {
    // Sorted, so that equal questions have equal sums to the last bit.
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for word in question.iter().take(MAX_TERMS).filter(|word| !is_faint(&word.text)) {
        for gram in grams(&word.text) {
            *counts.entry(gram).or_default() += 1.0;
        }
    }
    let all = index.lengths.len();
    let known: Vec<_> = counts
        .iter()
        .filter_map(|(gram, count)| {
            let postings = index.grams.get(gram)?;
            Some((postings, rarity(all, postings.len()) * (1.0 + weights.repeated * count.ln())))
        })
        .collect();
    let possible: f64 = known.iter().map(|(_, weight)| weight).sum();
    if possible <= 0.0 {
        return;
    }
    let (mean_lead, mean_all) =
        (mean(index.gram_lengths.iter().map(|(lead, _)| *lead)), mean(index.gram_lengths.iter().map(|(_, all)| *all)));
    let [_, b, ..] = weights.damping;
    for (postings, weight) in known {
        for posting in postings {
            let (Some((lead, all)), Some(score)) =
                (index.gram_lengths.get(posting.runbook), scores.get_mut(posting.runbook))
            else {
                continue;
            };
            let frequency = 2.0 * f64::from(posting.lead) / (1.0 - b + b * f64::from(*lead) / mean_lead)
                + f64::from(posting.all) / (1.0 - b + b * f64::from(*all) / mean_all);
            *score += weights.grams * total / possible * weight * saturated(frequency, 2.8);
        }
    }
}

/// BM25's damped term frequency.
fn saturated(frequency: f64, k1: f64) -> f64 {
    frequency * (k1 + 1.0) / (frequency + k1)
}

fn means(lengths: &[[u32; FIELDS]]) -> [f64; FIELDS] {
    let mut means = [0.0; FIELDS];
    for (at, value) in means.iter_mut().enumerate() {
        *value = mean(lengths.iter().filter_map(|fields| fields.get(at).copied()));
    }
    means
}

/// The mean, never zero: it is divided by.
#[expect(clippy::cast_precision_loss, reason = "counts of runbooks are far below 2^52")]
fn mean(values: impl Iterator<Item = u32>) -> f64 {
    let (count, sum) = values.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + f64::from(value)));
    if count == 0 { 1.0 } else { sum / count as f64 + 0.01 }
}
