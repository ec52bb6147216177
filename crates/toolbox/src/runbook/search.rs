//! Finds the runbooks for a question: first those for the alert it names, then those whose words fit, else none.
//!
//! "None" is an answer: below the floor a runbook would lead astray. [`Library::ranked`] is without the floor, for a caller
//! that weighs by itself.

use warrant_kernel::domain::name::ServiceName;

use crate::runbook::document::{Runbook, Section, alert_key};
use crate::runbook::library::Library;
use crate::runbook::rank::{self, WEIGHTS};
use crate::runbook::words::{telling_words, words};

/// Confidence below which nothing was found. The least sure right answer of the tuning half has 0.58.
pub const FLOOR: f64 = 0.55;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The words of the alert or of a person; any text.
    pub text: &'a str,
    /// The alert's name, where there is one.
    pub alert: Option<&'a str>,
    /// The service in question: runbooks for other services only are left out.
    pub service: Option<&'a ServiceName>,
}

/// A runbook that was found.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'l> {
    /// The runbook.
    pub runbook: &'l Runbook,
    /// How well it fits; comparable within one answer.
    pub score: f64,
    /// How sure it is that it fits at all; comparable with [`FLOOR`].
    pub confidence: f64,
    /// Why it was found.
    pub why: Why,
    /// The section that fits best.
    pub section: Option<&'l Section>,
}

/// Why a runbook was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is for the alert that the question names.
    ExactAlert,
    /// Its words fit.
    Words,
}

impl Library {
    /// The runbooks for a question, best first; empty is the answer "none".
    #[must_use]
    pub fn search(&self, question: Question<'_>) -> Vec<Hit<'_>> {
        let mut hits = self.ranked(question);
        let sure = |hit: &Hit<'_>| hit.why == Why::ExactAlert || hit.confidence >= FLOOR;
        // The best one decides: those behind it are its alternatives.
        if hits.first().is_some_and(sure) {
            hits.retain(|hit| hit.why == Why::ExactAlert || hit.confidence >= FLOOR / 2.0);
            return hits;
        }
        Vec::new()
    }

    /// Every runbook that has anything to do with the question, best first.
    #[must_use]
    pub fn ranked(&self, question: Question<'_>) -> Vec<Hit<'_>> {
        let (index, lexicon) = self.search_parts();
        let mut text = telling_words(question.text);
        let alert = question.alert.unwrap_or_default();
        text.extend(telling_words(alert));
        if let Some(service) = question.service {
            let name = words(service.as_str());
            text.retain(|word| !name.iter().any(|part| part.text == word.text));
        }
        let named = Named::new(question.text, alert);
        let standings = rank::rank(index, lexicon, &WEIGHTS, &text);
        let mut hits: Vec<Hit<'_>> = standings
            .iter()
            .filter_map(|standing| {
                let runbook = self.runbooks().get(standing.runbook)?;
                let section = standing.section.and_then(|row| index.sections.get(row)?.section);
                Some(Hit {
                    runbook,
                    score: standing.score,
                    confidence: standing.confidence,
                    why: if named.is_for(runbook) { Why::ExactAlert } else { Why::Words },
                    section: section.and_then(|at| runbook.sections.get(at)),
                })
            })
            .collect();
        // A name of stop words only, or one of digits, has no standing; it is found all the same.
        let standing = |at: usize| standings.iter().any(|standing| standing.runbook == at);
        hits.extend(
            self.runbooks()
                .iter()
                .enumerate()
                .filter(|(at, runbook)| named.is_for(runbook) && !standing(*at))
                .map(|(_, runbook)| Hit { runbook, score: 0.0, confidence: 0.0, why: Why::ExactAlert, section: None }),
        );
        hits.retain(|hit| {
            hit.runbook.services.is_empty() || question.service.is_none_or(|name| hit.runbook.services.contains(name))
        });
        hits.sort_by_key(|hit| hit.why != Why::ExactAlert);
        hits
    }
}

/// The alert names in a question.
struct Named(Vec<String>);

impl Named {
    /// The alert's name; the whole text; and each word of the text that is written as a name: `KubePodCrashLooping`.
    fn new(text: &str, alert: &str) -> Self {
        let tokens = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | '(' | ')' | '?'));
        let compound = tokens.filter(|token| token.len() <= 128 && words(token).len() > 1).take(512);
        let whole = Some(text).filter(|text| text.len() <= 128);
        let keys = compound.chain(whole).chain([alert]).map(alert_key).filter(|key| !key.is_empty());
        Self(keys.collect())
    }

    fn is_for(&self, runbook: &Runbook) -> bool {
        runbook.alerts.iter().map(|alert| alert_key(alert)).any(|alert| self.0.contains(&alert))
    }
}

#[cfg(test)]
mod tests;
