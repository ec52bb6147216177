//! The conversation about one card: show, ask, hand in, until it is decided or left to others.
//!
//! While a person thinks, somebody else may decide: the approval is looked at again and again, and the conversation ends
//! when nothing is left to ask.

use std::io::Write;
use std::time::Duration;

use warrant_kernel::call::gate::approval::{State, Tally};
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::vote::Whole;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::EvidenceId;

use super::booth::{Booth, Uncounted};
use crate::chat::terminal::answer::{Answer, parse};
use crate::chat::terminal::card::{clock, evidence, face, names, standing, whole};
use crate::chat::terminal::keyboard::{Keyboard, Pace};
use crate::chat::terminal::pager::{Pager, Shown};
use crate::chat::terminal::progress::Held;
use crate::chat::terminal::sheet::Sheet;
use crate::chat::terminal::style::Role;

/// How often the approval is looked at while a person thinks.
const LOOK: Duration = Duration::from_millis(500);

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Talked {
    /// It is decided, here or elsewhere.
    Decided,
    /// It is open still.
    LeftOpen,
}

/// A conversation.
pub struct Talk<'a, W: Write + Send> {
    /// The terminal.
    pub held: Held<'a, W>,
    /// Who types.
    pub keyboard: &'a mut dyn Keyboard,
    /// Where answers go.
    pub booth: &'a dyn Booth,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// Lines of a page.
    pub rows: usize,
}

/// What came first.
enum Heard {
    Line(String),
    /// Nobody will type any more.
    Silence,
    /// Somebody else did something about it.
    Changed(Box<Card>),
}

/// What has been said and shown so far.
struct Known {
    card: Card,
    whole: Whole,
    /// Whether it takes somebody else, whatever is answered here.
    needs_others: bool,
}

impl<W: Write + Send> Talk<'_, W> {
    /// Talks about a card until it is decided or left to others.
    pub async fn about(mut self, card: Card) -> Talked {
        self.show_face(&card);
        let mut known = Known { card, whole: Whole::NotOpened, needs_others: false };
        loop {
            if known.card.state != State::Open {
                self.say(Some(Role::Strong), &format!("{} {}.", known.card.approval, standing(&known.card.state)));
                return Talked::Decided;
            }
            self.ask(&known);
            let ended = match self.hear(&known.card).await {
                Heard::Line(line) => self.answered(&mut known, &line).await,
                Heard::Silence => Some(self.leave(&known.card)),
                Heard::Changed(card) => {
                    self.take_over(&mut known, *card);
                    None
                }
            };
            if let Some(ended) = ended {
                return ended;
            }
        }
    }

    async fn answered(&mut self, known: &mut Known, line: &str) -> Option<Talked> {
        match parse(line) {
            Answer::Nothing => None,
            Answer::Approve => return self.approve(known).await,
            Answer::Deny(reason) => return self.deny(known, reason).await,
            Answer::BreakGlass(reason) => return self.break_glass(known, reason).await,
            Answer::Wait => return self.wait(known).await,
            Answer::Later => Some(self.leave(&known.card)),
            Answer::Whole => {
                self.show_whole(known).await;
                None
            }
            Answer::Evidence(id) => {
                self.show_evidence(&known.card, id);
                None
            }
            Answer::Card => {
                self.show_face(&known.card);
                None
            }
            Answer::Unknown => {
                self.say(Some(Role::Careful), "That is none of the answers. Nothing was handed in.");
                self.stop_if_script(&known.card)
            }
        }
    }

    /// A script that said what doesn't count can't do better.
    fn stop_if_script(&mut self, card: &Card) -> Option<Talked> {
        (self.keyboard.pace() == Pace::Script).then(|| self.leave(card))
    }

    async fn approve(&mut self, known: &mut Known) -> Option<Talked> {
        if !known.card.offers_approval(known.whole) {
            self.say(Some(Role::Careful), "It is approved on the last page of the whole only; here it is.");
            self.show_whole(known).await;
            // A person is asked again, now that they have seen it.
            if self.keyboard.pace() == Pace::Person || !known.card.offers_approval(known.whole) {
                return None;
            }
        }
        match self.booth.approve(&known.card, known.whole).await {
            Ok(Tally::Approved) => {
                let by = self.booth.person().clone();
                self.say(Some(Role::Strong), &format!("{} approved by {by}.", known.card.approval));
                Some(Talked::Decided)
            }
            Ok(Tally::Counted { have, need }) => {
                known.needs_others = true;
                self.say(Some(Role::Strong), &format!("Counted: {have} of {need}."));
                self.stop_if_script(&known.card)
            }
            Err(why) => self.uncounted(known, &why).await,
        }
    }

    async fn deny(&mut self, known: &mut Known, reason: Option<String>) -> Option<Talked> {
        let reason = match reason {
            Some(reason) => reason,
            None => self.words("Why? The model is told, and people will read it. An empty line takes it back.").await?,
        };
        match self.booth.deny(&known.card, known.whole, &reason).await {
            Ok(()) => {
                let by = self.booth.person().clone();
                self.say(Some(Role::Strong), &format!("{} denied by {by}: {reason}", known.card.approval));
                Some(Talked::Decided)
            }
            Err(why) => self.uncounted(known, &why).await,
        }
    }

    async fn break_glass(&mut self, known: &mut Known, reason: Option<String>) -> Option<Talked> {
        if known.card.needs_whole && known.whole == Whole::NotOpened {
            self.say(Some(Role::Careful), "The glass is broken on the last page of the whole only; here it is.");
            self.show_whole(known).await;
            if self.keyboard.pace() == Pace::Person || known.whole == Whole::NotOpened {
                return None;
            }
        }
        let (id, by) = (known.card.approval, self.booth.person().clone());
        self.say(
            Some(Role::Bad),
            &format!("Breaking the glass puts {by} in the place of the second person. It is a debt:"),
        );
        self.list(&[
            "the ledger keeps it for ever, as a record of its own, with your name and your reason",
            "somebody else is told at once",
            &format!("a review stays owed until another person closes it: warrant approvals review {id}"),
            "it holds for minutes, not for the time that an approval would",
        ]);
        let reason = match reason {
            Some(reason) if self.keyboard.pace() == Pace::Script => reason,
            Some(reason) => {
                let sure = self.words("Type break-glass once more to do it. An empty line takes it back.").await?;
                if sure.trim() != "break-glass" {
                    self.say(None, "Not broken.");
                    return None;
                }
                reason
            }
            None => self.words("Why can it not wait? An empty line takes it back.").await?,
        };
        match self.booth.break_glass(&known.card, known.whole, &reason).await {
            Ok(()) => {
                self.say(Some(Role::Bad), &format!("{id}: the glass is broken by {by}. The review is owed."));
                Some(Talked::Decided)
            }
            Err(why) => self.uncounted(known, &why).await,
        }
    }

    /// Says why an answer did not count, and looks whether there is still something to answer.
    async fn uncounted(&mut self, known: &mut Known, why: &Uncounted) -> Option<Talked> {
        self.say(Some(Role::Careful), &format!("Not counted: {why}."));
        known.needs_others = true;
        if let Some(ended) = self.stop_if_script(&known.card) {
            return Some(ended);
        }
        if let Ok(card) = self.booth.card().await {
            self.take_over(known, card);
        }
        None
    }

    /// Waits for somebody else.
    async fn wait(&mut self, known: &mut Known) -> Option<Talked> {
        let until = clock(known.card.expires_at);
        self.say(None, &format!("Waiting for another person until {until}. Enter ends the wait."));
        match self.hear(&known.card).await {
            Heard::Line(_) => None,
            Heard::Silence => Some(self.leave(&known.card)),
            Heard::Changed(card) => {
                self.take_over(known, *card);
                None
            }
        }
    }

    /// Goes on with the card as it is now.
    fn take_over(&mut self, known: &mut Known, card: Card) {
        let is_other = card.revision != known.card.revision || card.digest_prefix != known.card.digest_prefix;
        if is_other {
            self.say(Some(Role::Careful), "People are asked anew; what was shown before no longer counts.");
            self.show_face(&card);
            known.whole = Whole::NotOpened;
            known.needs_others = false;
        } else if card.electorate.approved != known.card.electorate.approved {
            self.say(None, &format!("Approved so far by {}.", names(&card.electorate.approved)));
        }
        known.card = card;
    }

    fn leave(&mut self, card: &Card) -> Talked {
        let (id, until) = (card.approval, clock(card.expires_at));
        self.say(None, &format!("Left open until {until}. It is decided with: warrant approvals approve {id}"));
        Talked::LeftOpen
    }

    /// A line of words, or `None` for an empty one.
    async fn words(&mut self, question: &str) -> Option<String> {
        self.say(None, question);
        self.prompt();
        let line = self.keyboard.line().await?;
        self.echo(&line);
        Some(line.trim().to_owned()).filter(|line| !line.is_empty())
    }

    /// Waits for a line, or for a change that somebody else makes.
    async fn hear(&mut self, card: &Card) -> Heard {
        loop {
            let line = tokio::select! {
                biased;
                line = self.keyboard.line() => line,
                () = tokio::time::sleep(LOOK) => {
                    match self.booth.card().await {
                        Ok(now) if has_changed(card, &now) => {
                            self.held.show("\n");
                            return Heard::Changed(Box::new(now));
                        }
                        // What can't be read now is told when an answer is handed in.
                        Ok(_) | Err(_) => continue,
                    }
                }
            };
            let Some(line) = line else {
                self.held.show("\n");
                return Heard::Silence;
            };
            self.echo(&line);
            return Heard::Line(line);
        }
    }

    fn show_face(&mut self, card: &Card) {
        self.held.show(&face(card, self.clock.now(), self.held.paint(), self.held.columns()));
    }

    fn show_evidence(&mut self, card: &Card, id: Option<EvidenceId>) {
        if let Some(id) = id {
            return self.held.show(&evidence(card, id, self.held.paint(), self.held.columns()));
        }
        let cited: Vec<String> = card.case.evidence.iter().map(ToString::to_string).collect();
        let cited = if cited.is_empty() { "none".to_owned() } else { cited.join(", ") };
        self.say(None, &format!("Which? It cites {cited}."));
    }

    /// Shows the whole page by page. Only who comes to the last page has opened it.
    async fn show_whole(&mut self, known: &mut Known) {
        let lines = whole(&known.card, self.held.paint(), self.held.columns());
        let mut pager = Pager::new(&lines, self.rows);
        while let Some((page, shown)) = pager.next_page() {
            self.held.show(&page);
            let (at, of) = pager.place();
            if shown == Shown::Whole {
                known.whole = Whole::Opened;
                self.say(Some(Role::Faint), &format!("page {at} of {of}: this is all there is"));
                return;
            }
            if self.keyboard.pace() == Pace::Script {
                continue;
            }
            self.say(Some(Role::Faint), &format!("page {at} of {of}: Enter goes on, b back, q leaves"));
            self.prompt();
            match self.keyboard.line().await.as_deref().map(str::trim) {
                Some("b" | "back") => pager.back(),
                Some("" | "n" | "next") => {}
                Some(_) | None => return,
            }
        }
    }

    fn ask(&mut self, known: &Known) {
        let (card, person) = (&known.card, self.booth.person().clone());
        let is_own = card.tier == Tier::High && card.electorate.contributors.contains(&person);
        let mut sheet = Sheet::new(self.held.paint(), self.held.columns());
        sheet.gap();
        let mut words = Vec::new();
        if known.needs_others {
            sheet.say(Some(Role::Careful), "Another person is needed, who approves it in a terminal of their own:");
        } else if is_own {
            let text = format!(
                "{person} had a part in this write, so another person has to approve it, in a terminal of their own:"
            );
            sheet.say(Some(Role::Careful), &text);
        } else if card.offers_approval(known.whole) {
            words.push("approve");
        } else {
            sheet.say(Some(Role::Careful), "Approve is offered after the last page of the whole.");
        }
        if known.needs_others || is_own {
            sheet.say(Some(Role::Strong), &format!("warrant approvals approve {}", card.approval));
            words.push("wait");
        }
        words.extend(["deny REASON", "whole", "evidence En", "break-glass", "later"]);
        sheet.say(Some(Role::Heading), &format!("{} as {person}: {}", card.approval, words.join(" | ")));
        self.held.show(&sheet.into_text());
        self.keyboard.forget();
        self.prompt();
    }

    fn prompt(&self) {
        self.held.show("  > ");
    }

    /// What a script answers is shown where a person's typing would stand.
    fn echo(&self, line: &str) {
        if self.keyboard.pace() == Pace::Script {
            self.held.show(&format!("{}\n", warrant_kernel::domain::visible::visible(line)));
        }
    }

    fn say(&mut self, role: Option<Role>, text: &str) {
        let mut sheet = Sheet::new(self.held.paint(), self.held.columns());
        sheet.say(role, text);
        self.held.show(&sheet.into_text());
    }

    fn list(&mut self, items: &[&str]) {
        let mut sheet = Sheet::new(self.held.paint(), self.held.columns());
        for item in items {
            sheet.item(item);
        }
        self.held.show(&sheet.into_text());
    }
}

fn has_changed(shown: &Card, now: &Card) -> bool {
    shown.state != now.state
        || shown.revision != now.revision
        || shown.digest_prefix != now.digest_prefix
        || shown.electorate.approved != now.electorate.approved
}
