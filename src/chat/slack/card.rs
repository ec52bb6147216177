//! The card as a message: what exactly will happen, what it rests on, who decides; and how it ended.
//!
//! All of it comes from the kernel's [`Card`]. The facts of the plan stand in preformatted parts, to the letter; the model's
//! words stand in quotes and strangers' lines beneath a label that says so. Approve is on a message only where that message
//! shows the whole plan and the gate takes such a vote; else it is on the last page of the whole ([`super::modal`]).
//! A card that has ended is the same message with its end on top and nothing to press, but for asking again after a no.

mod beside;

mod face;

mod words;

pub use beside::{Beside, escalated};
pub use words::standing;
pub(in crate::chat::slack) use words::{came, trust};

#[cfg(test)]
mod tests;

use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::vote::Whole;
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::domain::report::Written;

use super::action::{Action, CardRef};
use super::blocks::{Block, Button, GroupId, Message, Page, Run, Text, UserId, Weight};
use super::escape::Shown;

use face::{Body, Measure};

/// Who is told that something waits for them. A message that is edited tells nobody again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ping {
    /// A person.
    Person(UserId),
    /// All of a group.
    Group(GroupId),
}

/// Whether one person may take the second one's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glass {
    /// Some may; who they are is asked when they do it.
    Offered,
    /// Nobody may.
    NotOffered,
}

/// The glass was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// By whom.
    pub by: PersonId,
    /// Why.
    pub reason: String,
}

/// What stands around a card and is not in it.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// Whether the glass may be broken.
    pub glass: Glass,
    /// Who is told of it.
    pub pings: &'a [Ping],
    /// Who broke the glass, if somebody did.
    pub broken: Option<&'a Broken>,
    /// What came of the write, as the report has it, once it is known.
    pub written: Option<&'a Written>,
    /// What else there is to know of its target.
    pub beside: Option<&'a Beside>,
}

/// Whether the message shows all of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// It does.
    All,
    /// Something is left out, and the message says what.
    NotAll,
}

/// A card as a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Face {
    /// What is posted, or put in place of what was posted before.
    pub message: Message,
    /// Whether it shows all of the plan.
    pub shows: Shows,
}

/// What breaking the glass costs.
const DEBT: &str = "Break glass puts one person in the place of two. It is recorded as that, others are told at once, and a \
                    review by somebody else stays owed until it is done.";

/// Renders a card.
#[must_use]
pub fn render(card: &Card, around: &Around<'_>) -> Face {
    for measure in &Measure::ALL {
        let (blocks, shows) = blocks(card, around, measure);
        if let Some(message) = Message::one(blocks, notice(card)) {
            return Face { message, shows };
        }
    }
    // Nothing to press: what can't be shown can't be answered here.
    let words = notice(card).then(". It can't be shown here; look at it with `warrant approvals show`.");
    Face { message: Message::words(Text::fit(words)), shows: Shows::NotAll }
}

fn blocks(card: &Card, around: &Around<'_>, measure: &Measure) -> (Vec<Block>, Shows) {
    let mut body = Body::new(measure);
    body.page.header(Text::fit(headline(card)));
    end(&mut body.page, card, around);
    body.tell(card);
    let shows = body.shows;
    let mut page = body.page;
    if let Some(beside) = around.beside {
        beside::tell(&mut page, beside);
    }
    asked(&mut page, card, around);
    if card.state == State::Open {
        if shows == Shows::NotAll || card.needs_whole {
            let note = "The answer is given on the last page of the whole: this message does not show all, or the tier \
                        asks for it.";
            page.context(&[Text::fit(Shown::own(note))]);
        }
        if around.glass == Glass::Offered {
            page.context(&[Text::fit(Shown::own(DEBT))]);
        }
    }
    page.buttons(buttons(card, around.glass, shows));
    (page.into_blocks(), shows)
}

/// What a notification says.
fn notice(card: &Card) -> Shown {
    headline(card).then(": ").then_line(&card.effect)
}

fn headline(card: &Card) -> Shown {
    let head = Shown::line(&card.approval.to_string()).then(" · ").then(words::tier(card.tier)).then(" · ");
    match &card.state {
        State::Open => head.then(words::asks(card.tier)),
        state => head.then(words::end(state)),
    }
}

/// How it ended, for whom and why.
fn end(page: &mut Page, card: &Card, around: &Around<'_>) {
    match &card.state {
        State::Open => {
            let until = words::clock(card.expires_at);
            page.say(vec![Run::plain(
                Shown::own("Nothing has been done. It waits for people until ").then_line(&until),
            )]);
        }
        state => page.say(vec![Run::Words(standing(state), super::blocks::Look::Bold)]),
    }
    let by: Vec<&str> = card.electorate.approved.iter().map(PersonId::as_str).collect();
    if !by.is_empty() {
        page.say(vec![Run::plain(Shown::own("Said yes: ").then_line(&by.join(", ")))]);
    }
    if let Some(broken) = around.broken {
        page.say(vec![Run::plain(
            Shown::own("The glass was broken by ")
                .then_line(broken.by.as_str())
                .then("; a review by somebody else is owed. They said:"),
        )]);
        page.quote(Shown::lines(&broken.reason).parted(900).0);
    }
    for line in around.written.map(words::outcome).unwrap_or_default() {
        page.bullet(vec![Run::plain(line.parted(900).0)]);
    }
}

/// Who is asked, and told of it.
fn asked(page: &mut Page, card: &Card, around: &Around<'_>) {
    if card.state != State::Open || around.pings.is_empty() {
        return;
    }
    let mut runs = vec![Run::plain(Shown::own("Asked to decide:"))];
    for ping in around.pings.iter().take(20) {
        runs.push(Run::plain(Shown::own(" ")));
        runs.push(match ping {
            Ping::Person(id) => Run::Person(id.clone()),
            Ping::Group(id) => Run::Group(id.clone()),
        });
    }
    page.say(runs);
}

fn buttons(card: &Card, glass: Glass, shows: Shows) -> Vec<Button> {
    let at = CardRef::of(card);
    let button = |action, label, weight| Button::new(action, label, &at, weight);
    match &card.state {
        State::Open => {
            let here = shows == Shows::All && card.offers_approval(Whole::NotOpened);
            let mut row = Vec::new();
            if here {
                row.push(button(Action::Approve, "Approve", Weight::Primary));
            }
            let whole = if here { Weight::Usual } else { Weight::Primary };
            row.push(button(Action::SeeWhole, "See the whole", whole));
            if !card.excerpts.is_empty() {
                row.push(button(Action::Evidence, "Evidence", Weight::Usual));
            }
            row.push(button(Action::Deny, "Deny", Weight::Danger));
            if here && glass == Glass::Offered {
                row.push(button(Action::BreakGlass, "Break glass", Weight::Usual));
            }
            row
        }
        State::Approved { .. } => vec![button(Action::Revoke, "Take back", Weight::Danger)],
        State::Denied { .. } => vec![button(Action::Reopen, "Reopen", Weight::Usual)],
        State::Expired { .. }
        | State::Revoked { .. }
        | State::Superseded { .. }
        | State::Consumed { .. }
        | State::Executed { .. }
        | State::NotExecuted { .. }
        | State::Unknown { .. } => Vec::new(),
    }
}
