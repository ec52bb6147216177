//! What stands beside a card: what else was done to its target, what is still owed, and who is asked when nobody answers.

use jiff::Timestamp;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::domain::plan::ApprovalId;

use super::words;
use crate::chat::slack::blocks::{GroupId, Message, Page, Run, Text};
use crate::chat::slack::escape::Shown;

/// Lines of one kind that are shown; the newest.
const MOST: usize = 5;

/// Characters of what an earlier write did.
const EFFECT: usize = 200;

/// What else there is to know of the target of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// Earlier writes to it that took effect, or may have: where they stand, and what they did.
    pub earlier: Vec<(ApprovalId, State, String)>,
    /// Reviews that are owed for other plans, and who broke the glass.
    pub owed: Vec<(ApprovalId, PersonId)>,
}

/// Tells it.
pub(super) fn tell(page: &mut Page, beside: &Beside) {
    let Beside { earlier, owed } = beside;
    if !earlier.is_empty() {
        page.title("Done to this target before", more(earlier.len()));
        let mut newest: Vec<_> = earlier.iter().collect();
        newest.sort_by_key(|(approval, ..)| std::cmp::Reverse(*approval));
        for (approval, state, effect) in newest.into_iter().take(MOST) {
            let (effect, _) = Shown::line(effect).parted(EFFECT);
            let line = Shown::line(&approval.to_string()).then(", ").then(words::end(state)).then(": ").and(&effect);
            page.bullet(vec![Run::plain(line)]);
        }
    }
    if !owed.is_empty() {
        page.title("Reviews are owed", more(owed.len()));
        for (approval, by) in owed.iter().take(MOST) {
            let line = Shown::line(&approval.to_string()).then(": the glass was broken by ").then_line(by.as_str());
            page.bullet(vec![Run::plain(line)]);
        }
    }
}

fn more(all: usize) -> Shown {
    match all.saturating_sub(MOST) {
        0 => Shown::own(""),
        more => Shown::line(&format!("and {more} more")),
    }
}

/// The next group is asked, since nobody has decided.
#[must_use]
pub fn escalated(approval: ApprovalId, group: GroupId, until: Timestamp) -> Message {
    let head = Shown::line(&approval.to_string()).then(" is still undecided; now it is asked of ");
    let tail = Shown::own(". It lapses at ").then_line(&words::clock(until));
    let mut page = Page::empty();
    page.say(vec![Run::plain(head), Run::Group(group), Run::plain(tail.clone())]);
    let notice = Shown::line(&approval.to_string()).then(" is still undecided").and(&tail);
    let words = || Message::words(Text::fit(notice.clone()));
    Message::one(page.into_blocks(), notice.clone()).unwrap_or_else(words)
}
