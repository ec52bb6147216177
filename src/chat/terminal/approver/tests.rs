use std::collections::VecDeque;
use std::sync::{Mutex as Lock, PoisonError};

use jiff::Timestamp;
use warrant_kernel::call::gate::approval::{State, Tally};
use warrant_kernel::call::gate::vote::{Proof, Whole};
use warrant_kernel::domain::name::PersonId;

use super::booth::{Booth, Uncounted};
use super::talk::Talked;
use super::*;
use crate::agent::trace::Watcher;
use crate::chat::terminal::card::sample::{at, edit, restart};
use crate::chat::terminal::keyboard::{Pace, Script};
use crate::chat::terminal::style::Paint;

/// What a terminal shows.
#[derive(Clone, Default)]
struct Shown(Arc<Lock<Vec<u8>>>);

impl Shown {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// What was shown behind the last line of the face.
    fn after_face(&self) -> String {
        self.text().split("revision 1\n").last().unwrap().to_owned()
    }
}

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        at("12:11:00")
    }
}

/// A person who types these lines, which the terminal shows, and then thinks for ever.
struct Person(VecDeque<&'static str>, Shown);

#[async_trait]
impl Keyboard for Person {
    fn pace(&self) -> Pace {
        Pace::Person
    }

    async fn line(&mut self) -> Option<String> {
        match self.0.pop_front() {
            Some(line) => {
                writeln!(self.1, "{line}⏎").unwrap();
                Some(line.to_owned())
            }
            None => std::future::pending().await,
        }
    }

    fn forget(&mut self) {}
}

/// A gate that counts what the real one would, and that somebody else may change.
struct Double {
    person: PersonId,
    card: Lock<Card>,
    said: Lock<Vec<String>>,
    /// What the card becomes when it is looked at.
    next: Lock<VecDeque<State>>,
}

impl Double {
    fn new(person: &str, card: Card) -> Self {
        let person = person.parse().unwrap();
        Self { person, card: Lock::new(card), said: Lock::default(), next: Lock::default() }
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    fn note(&self, what: &str, shown: &Card, whole: Whole) {
        let text = format!("{what} {} r{} {:?}", shown.digest_prefix, shown.revision, whole);
        self.said.lock().unwrap().push(text);
    }
}

#[async_trait]
impl Booth for Double {
    fn person(&self) -> &PersonId {
        &self.person
    }

    async fn card(&self) -> Result<Card, Uncounted> {
        let mut card = self.card.lock().unwrap();
        if let Some(state) = self.next.lock().unwrap().pop_front() {
            card.state = state;
        }
        Ok(card.clone())
    }

    async fn approve(&self, shown: &Card, whole: Whole) -> Result<Tally, Uncounted> {
        self.note("approve", shown, whole);
        if shown.tier == Tier::High && shown.electorate.contributors.contains(&self.person) {
            let message = "`ann` had a part in this write, so somebody else has to approve it".to_owned();
            return Err(Uncounted { code: "SELF_APPROVAL".to_owned(), message });
        }
        Ok(Tally::Approved)
    }

    async fn deny(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted> {
        self.note(&format!("deny {reason}:"), shown, whole);
        Ok(())
    }

    async fn break_glass(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted> {
        self.note(&format!("break {reason}:"), shown, whole);
        Ok(())
    }
}

async fn talked(booth: &Double, keyboard: &mut dyn Keyboard, shown: Shown) -> (Talked, Shown) {
    let screen = Progress::new(shown.clone(), Paint::Plain, 80);
    let talk = Talk { held: screen.hold(), keyboard, booth, clock: &Noon, rows: 16 };
    let card = booth.card.lock().unwrap().clone();
    (talk.about(card).await, shown)
}

async fn typed(booth: &Double, lines: &[&'static str]) -> (Talked, Shown) {
    let shown = Shown::default();
    talked(booth, &mut Person(lines.iter().copied().collect(), shown.clone()), shown).await
}

#[tokio::test]
async fn a_medium_card_is_approved_in_words_and_a_slip_hands_nothing_in() {
    let booth = Double::new("ann", edit());
    let (ended, shown) = typed(&booth, &["y", "approve"]).await;
    assert_eq!(ended, Talked::Decided);
    assert_eq!(booth.said(), ["approve 3fa90c12be77 r1 NotOpened"]);
    insta::assert_snapshot!(shown.after_face(), @r"

    A12 as ann: approve | deny REASON | whole | evidence En | break-glass | later
    > y⏎
    That is none of the answers. Nothing was handed in.

    A12 as ann: approve | deny REASON | whole | evidence En | break-glass | later
    > approve⏎
    A12 approved by ann.
    ");
}

#[tokio::test]
async fn a_high_card_is_approved_behind_the_last_page_of_the_whole() {
    let booth = Double::new("ben", restart());
    let (ended, shown) = typed(&booth, &["approve", "", "", "approve"]).await;
    assert_eq!(ended, Talked::Decided);
    assert_eq!(booth.said(), ["approve 3fa90c12be77 r1 Opened"]);
    let text = shown.after_face();
    let (before, behind) = text.split_once("this is all there is").unwrap();
    assert!(!before.contains("as ben: approve |"), "{before}");
    assert!(behind.contains("A12 as ben: approve | deny REASON"), "{behind}");
}

#[tokio::test]
async fn who_leaves_the_whole_before_its_end_is_not_offered_approval() {
    let booth = Double::new("ben", restart());
    let (ended, shown) = typed(&booth, &["whole", "", "b", "", "q", "approve", "q", "later"]).await;
    assert_eq!(ended, Talked::LeftOpen);
    assert_eq!(booth.said(), Vec::<String>::new());
    assert!(!shown.text().contains("as ben: approve |"));
    assert!(shown.text().contains("Left open until 13:10:00Z. It is decided with: warrant approvals approve A12"));
}

#[tokio::test(start_paused = true)]
async fn ap_06_the_requester_is_told_that_another_person_must_and_may_wait_for_them() {
    let booth = Double::new("ann", restart());
    *booth.next.lock().unwrap() = [State::Open, State::Open, State::Approved { at: at("12:12:00") }].into();
    let (ended, shown) = typed(&booth, &["wait"]).await;
    assert_eq!(ended, Talked::Decided);
    assert_eq!(booth.said(), Vec::<String>::new());
    insta::assert_snapshot!(shown.after_face(), @r"

    ann had a part in this write, so another person has to approve it, in a
    terminal of their own:
    warrant approvals approve A12
    A12 as ann: wait | deny REASON | whole | evidence En | break-glass | later
    > wait⏎
    Waiting for another person until 13:10:00Z. Enter ends the wait.

    A12 approved at 12:12:00Z; not carried out yet.
    ");
}

#[tokio::test]
async fn a_wait_ends_by_a_key_and_a_refused_vote_is_explained() {
    let booth = Double::new("ann", restart());
    let (ended, shown) = typed(&booth, &["wait", "", "approve", "", "", "approve", "later"]).await;
    assert_eq!(ended, Talked::LeftOpen);
    assert_eq!(booth.said(), ["approve 3fa90c12be77 r1 Opened"]);
    let told = "Not counted: `ann` had a part in this write, so somebody else has to approve\n  it (SELF_APPROVAL).";
    assert!(shown.text().contains(told), "{}", shown.text());
}

#[tokio::test]
async fn a_denial_asks_for_its_reason_and_an_empty_one_takes_it_back() {
    let booth = Double::new("ann", edit());
    let (ended, _) = typed(&booth, &["deny", "", "deny", "no restart during checkout peak"]).await;
    assert_eq!(ended, Talked::Decided);
    assert_eq!(booth.said(), ["deny no restart during checkout peak: 3fa90c12be77 r1 NotOpened"]);
}

#[tokio::test]
async fn ap_21_breaking_the_glass_spells_the_debt_out_and_asks_once_more() {
    let booth = Double::new("ann", edit());
    let lines = ["break-glass shop is down", "", "break-glass shop is down", "break-glass"];
    let (ended, shown) = typed(&booth, &lines).await;
    assert_eq!(ended, Talked::Decided);
    assert_eq!(booth.said(), ["break shop is down: 3fa90c12be77 r1 NotOpened"]);
    let text = shown.after_face();
    insta::assert_snapshot!(text.split("Not broken.").last().unwrap(), @r"

    A12 as ann: approve | deny REASON | whole | evidence En | break-glass | later
    > break-glass shop is down⏎
    Breaking the glass puts ann in the place of the second person. It is a debt:
    - the ledger keeps it for ever, as a record of its own, with your name and
      your reason
    - somebody else is told at once
    - a review stays owed until another person closes it: warrant approvals review
      A12
    - it holds for minutes, not for the time that an approval would
    Type break-glass once more to do it. An empty line takes it back.
    > ⏎

    A12 as ann: approve | deny REASON | whole | evidence En | break-glass | later
    > break-glass shop is down⏎
    Breaking the glass puts ann in the place of the second person. It is a debt:
    - the ledger keeps it for ever, as a record of its own, with your name and
      your reason
    - somebody else is told at once
    - a review stays owed until another person closes it: warrant approvals review
      A12
    - it holds for minutes, not for the time that an approval would
    Type break-glass once more to do it. An empty line takes it back.
    > break-glass⏎
    A12: the glass is broken by ann. The review is owed.
    ");
}

#[tokio::test]
async fn the_glass_of_a_high_card_is_broken_behind_the_last_page_too() {
    let booth = Double::new("ann", restart());
    let (_, shown) = typed(&booth, &["break-glass", "q", "later"]).await;
    assert_eq!(booth.said(), Vec::<String>::new());
    assert!(!shown.text().contains("It is a debt"));
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_decides_while_a_person_thinks_ends_the_question() {
    let booth = Double::new("ann", edit());
    let denied = State::Denied { by: "ben".parse().unwrap(), reason: "not at peak".to_owned(), at: at("12:12:00") };
    *booth.next.lock().unwrap() = [State::Open, denied].into();
    let (ended, shown) = typed(&booth, &[]).await;
    assert_eq!(ended, Talked::Decided);
    assert!(shown.text().ends_with("A12 denied by ben at 12:12:00Z: not at peak.\n"), "{}", shown.text());
    let booth = Double::new("ann", edit());
    *booth.next.lock().unwrap() = [State::Expired { at: at("12:40:00") }].into();
    let (ended, shown) = typed(&booth, &["wait"]).await;
    assert_eq!(ended, Talked::Decided);
    assert!(shown.text().contains("A12 expired at 12:40:00Z; nothing was written."));
}

#[tokio::test]
async fn ap_24_a_card_that_is_asked_anew_is_shown_anew_and_its_whole_counts_anew() {
    let booth = Double::new("ann", restart());
    let mut newer = restart();
    newer.revision = 2;
    *booth.card.lock().unwrap() = newer;
    let shown = Shown::default();
    let screen = Progress::new(shown.clone(), Paint::Plain, 80);
    let mut keyboard = Person(["whole", "", "", "approve", "approve", "q", "later"].into(), shown.clone());
    let talk = Talk { held: screen.hold(), keyboard: &mut keyboard, booth: &booth, clock: &Noon, rows: 16 };
    assert_eq!(talk.about(restart()).await, Talked::LeftOpen);
    assert_eq!(booth.said(), ["approve 3fa90c12be77 r1 Opened"]);
    assert!(shown.text().contains("this plan      3fa90c12be77 revision 2"));
}

#[tokio::test]
async fn a_script_sees_the_whole_approves_and_never_goes_round_in_circles() {
    let booth = Double::new("ben", restart());
    let (ended, shown) = talked(&booth, &mut Script::of("approve"), Shown::default()).await;
    assert_eq!((ended, booth.said().len()), (Talked::Decided, 1));
    assert!(shown.text().contains("this is all there is"));
    for answer in ["approve", "approved", "evidence E99"] {
        let booth = Double::new("ann", restart());
        let mut script = Script::Lines([answer.to_owned()].into());
        assert_eq!(talked(&booth, &mut script, Shown::default()).await.0, Talked::LeftOpen, "{answer}");
    }
    let booth = Double::new("ann", restart());
    assert_eq!(talked(&booth, &mut Script::Always("approve".to_owned()), Shown::default()).await.0, Talked::LeftOpen);
    assert_eq!(booth.said().len(), 1);
    let booth = Double::new("ben", restart());
    let mut script = Script::Always("deny no restart during checkout peak".to_owned());
    assert_eq!(talked(&booth, &mut script, Shown::default()).await.0, Talked::Decided);
}

#[tokio::test]
async fn progress_waits_while_a_person_is_asked_and_garbles_nothing() {
    let shown = Shown::default();
    let screen = Progress::new(shown.clone(), Paint::Plain, 80);
    screen.delta("I look at the");
    let held = screen.hold();
    held.show("the card\n  > ");
    screen.delta(" pool.\n");
    held.show("approve\n");
    drop(held);
    screen.delta("Done.");
    assert_eq!(shown.text(), "I look at the\nthe card\n  > approve\n pool.\nDone.");
}

#[test]
fn at_the_high_tier_somebody_without_a_part_in_it_answers() {
    let screen = Arc::new(Progress::new(Shown::default(), Paint::Plain, 80));
    let present = |names: &[&str]| -> Vec<Claimant> {
        names.iter().map(|name| Claimant { person: name.parse().unwrap(), proof: Proof::Demo }).collect()
    };
    let approver = |names: &[&str]| {
        let script = Box::new(Script::of(""));
        TerminalApprover::new(Arc::clone(&screen), script, present(names), Arc::new(Noon), 20)
    };
    let two = approver(&["ann", "ben"]);
    assert_eq!(two.voter(&edit()).unwrap().person.as_str(), "ann");
    assert_eq!(two.voter(&restart()).unwrap().person.as_str(), "ben");
    assert_eq!(approver(&["ann"]).voter(&restart()).unwrap().person.as_str(), "ann");
    assert!(approver(&[]).voter(&restart()).is_none());
}
