//! Forms: the whole of a card in pages, and the questions why.
//!
//! What a form carries comes back through somebody's client, so it proves nothing. How far a person has read is kept by
//! whoever serves the pages, in a [`Reading`] of this person and this card: turn it with [`Reading::turn_to`] before a page
//! is shown, and show the page that it gives. When the last page is handed in, the vote's [`Whole`] is what
//! [`Reading::whole`] says, never what the form says; a reading that is of another card or revision, or that is lost, is
//! [`Whole::NotOpened`], and the gate refuses.

mod sheets;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::vote::Whole;
use warrant_kernel::domain::name::InvestigationId;

use super::action::{Action, CardRef, Form, Kept};
use super::blocks::{Button, Page, Run, Text, View, Weight};
use super::card::Glass;
use super::escape::Shown;

use sheets::Sheet;

/// Most sheets of evidence in one form, which may weigh so much and no more.
const EVIDENCE: usize = 6;

/// How far one person has read the whole of one card. Kept by the server for each of them; no client can add to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    card: CardRef,
    pages: usize,
    seen: BTreeSet<usize>,
}

impl Reading {
    /// Of a card of which nothing has been read yet.
    #[must_use]
    pub fn begin(card: &Card) -> Self {
        Self { card: CardRef::of(card), pages: sheets::of(card).len(), seen: BTreeSet::new() }
    }

    /// The card. Another revision is another card, which has not been read.
    #[must_use]
    pub fn card(&self) -> &CardRef {
        &self.card
    }

    /// Turns to a page, or to the first that has not been shown where that lies before it: no page is jumped over.
    /// Gives the page to be shown.
    pub fn turn_to(&mut self, page: usize) -> usize {
        let unseen = (0..self.pages).find(|page| !self.seen.contains(page)).unwrap_or(page);
        let page = page.min(unseen).min(self.pages.saturating_sub(1));
        self.seen.insert(page);
        page
    }

    /// Whether every page has been shown.
    #[must_use]
    pub fn whole(&self) -> Whole {
        if self.pages > 0 && (0..self.pages).all(|page| self.seen.contains(&page)) {
            Whole::Opened
        } else {
            Whole::NotOpened
        }
    }
}

/// One page of the whole, turning the reading to it. Approve stands on the last page, where the card offers it to somebody
/// who has seen all pages.
#[must_use]
pub fn whole(card: &Card, reading: &mut Reading, page: usize, glass: Glass) -> View {
    // A reading of another card does not count for this one.
    if *reading.card() != CardRef::of(card) {
        *reading = Reading::begin(card);
    }
    let nth = reading.turn_to(page);
    let sheets = sheets::of(card);
    let last = nth + 1 == sheets.len();
    let mut page = Page::empty();
    if let Some(sheet) = sheets.get(nth) {
        put(&mut page, card, sheet, nth, sheets.len());
    }
    let offered = last && card.offers_approval(reading.whole());
    let at = CardRef::of(card);
    let button = |action, label, weight| Button::new(action, label, &at, weight);
    let mut row = Vec::new();
    if nth > 0 {
        row.push(button(Action::Before, "Page before", Weight::Usual));
    }
    if !last {
        row.push(button(Action::Next, "Next page", Weight::Primary));
    }
    if last && card.state == State::Open {
        row.push(button(Action::Deny, "Deny", Weight::Danger));
        if offered && glass == Glass::Offered {
            row.push(button(Action::BreakGlass, "Break glass", Weight::Usual));
        }
    }
    page.buttons(row);
    let kept = Kept { card: at, page: u32::try_from(nth).ok() };
    View::new(Form::Whole, "The whole", offered.then_some("Approve"), kept.metadata(), page.into_blocks())
}

/// The evidence of a card, to be read; nothing is answered here and it does not count as a page of the whole.
#[must_use]
pub fn evidence(card: &Card) -> View {
    let mut page = Page::empty();
    let sheets: Vec<Sheet> =
        sheets::of(card).into_iter().filter(|sheet| sheet.title.starts_with("Evidence ")).collect();
    for sheet in sheets.iter().take(EVIDENCE) {
        page.header(Text::fit(Shown::line(&sheet.title)));
        page.exact(&sheet.lines);
    }
    if sheets.is_empty() {
        page.say(vec![Run::plain(Shown::own("It cites none."))]);
    }
    let rest = sheets.len().saturating_sub(EVIDENCE);
    if rest > 0 {
        page.context(&[Text::fit(Shown::line(&format!("{rest} more pages stand in the whole")))]);
    }
    let kept = Kept { card: CardRef::of(card), page: None };
    View::new(Form::Evidence, "Evidence", None, kept.metadata(), page.into_blocks())
}

fn put(page: &mut Page, card: &Card, sheet: &Sheet, nth: usize, of: usize) {
    page.header(Text::fit(Shown::line(&sheet.title)));
    let place = format!("page {} of {of} · {} revision {}", nth + 1, card.approval, card.revision);
    let mut small = vec![Text::fit(Shown::line(&place))];
    if nth + 1 < of {
        small.push(Text::fit(Shown::own("the answer is given on the last page")));
    }
    page.context(&small);
    page.exact(&sheet.lines);
}

/// A form about a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Why not?
    Deny,
    /// Why shall one person suffice?
    BreakGlass,
    /// Why shall it be asked again?
    Reopen,
    /// Why is it taken back?
    Revoke,
}

/// Asks why.
#[must_use]
pub fn why(card: &Card, question: Question) -> View {
    let (form, title, submit, label, hint) = match question {
        Question::Deny => (
            Form::Deny,
            "Deny",
            "Deny",
            "Why not?",
            "The model reads it and goes on with it. The same is not asked again until somebody reopens it.",
        ),
        Question::BreakGlass => (
            Form::BreakGlass,
            "Break glass",
            "Break glass",
            "Why can't it wait for another person?",
            "Others are told at once, with these words, and a review by somebody else stays owed until it is done.",
        ),
        Question::Reopen => (
            Form::Reopen,
            "Reopen",
            "Ask again",
            "What has changed since it was denied?",
            "It is asked again with a new card; votes begin anew.",
        ),
        Question::Revoke => (
            Form::Revoke,
            "Take back",
            "Take back",
            "Why is it taken back?",
            "It counts until the write has begun. After that only stopping all writes can.",
        ),
    };
    let mut page = Page::empty();
    let what = Shown::line(&card.approval.to_string()).then(": ").then_line(&card.effect);
    page.say(vec![Run::plain(what.parted(1_000).0)]);
    page.ask(label, hint);
    let kept = Kept { card: CardRef::of(card), page: None };
    View::new(form, title, Some(submit), kept.metadata(), page.into_blocks())
}

/// What a form shows once it was handed in: an answer counts when the gate has looked at it, and the card says so.
#[must_use]
pub fn recorded() -> View {
    let mut page = Page::empty();
    page.say(vec![Run::plain(Shown::own(
        "Recorded, and being checked. The card shows what came of it; you are told here in the channel if it does not count.",
    ))]);
    View::new(Form::Evidence, "Recorded", None, String::new(), page.into_blocks())
}

/// Asks what was wrong with a report.
#[must_use]
pub fn feedback(investigation: &InvestigationId) -> View {
    let mut page = Page::empty();
    page.ask("What was wrong?", "What it was in truth, if you know. It is kept with the investigation.");
    View::new(Form::Feedback, "Feedback", Some("Send"), investigation.to_string(), page.into_blocks())
}
