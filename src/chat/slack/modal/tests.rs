//! The whole is whole, and nobody gets to its end without having been shown it.

use proptest::prelude::*;
use warrant_kernel::domain::plan::DiffLine;

use super::*;
use crate::chat::slack::blocks::refuse;
use crate::chat::slack::blocks::sketch::sketch;
use crate::chat::slack::escape::Exact;
use crate::chat::slack::escape::tests::hostile;
use crate::chat::terminal::card::sample::{at, edit, restart};

fn shown(view: &View) -> String {
    let value = view.value();
    assert_eq!(refuse::view(&value), Vec::<String>::new());
    sketch(&value)
}

fn long() -> Card {
    let mut card = restart();
    card.diff = (0..399).map(|n| DiffLine::Context(format!("line {n}"))).collect();
    card.diff.push(DiffLine::Added("exec = \"/tmp/evil\"".to_owned()));
    card
}

#[test]
fn the_whole_page_by_page() {
    let (card, mut text) = (edit(), Vec::new());
    let mut reading = Reading::begin(&card);
    for page in 0..sheets::of(&card).len() {
        text.push(shown(&whole(&card, &mut reading, page, Glass::Offered)));
    }
    insta::assert_snapshot!(text.join("\n\n"), @r#"
    == The whole "warrant.form.whole" "{\"card\":\"A12.1.3fa90c12be77\",\"page\":0}"
    # What will happen
    (page 1 of 6 · A12 revision 1 | the answer is given on the last page)
    | replaces one line of shop:config/pool.toml
    | tool: edit_config
    | target: path shop:config/pool.toml (shop)
    | service: checkout
    | environment: production
    | path: shop:config/pool.toml [catalog]
    | old_string: max_connections = 8 [E3, `lines`: untrusted text]
    | new_string: max_connections = 32 [runbook pool-exhausted]
    | bound: mode = 0644
    | bound: owner = shop:shop
    | bound: sha256 = 9f2c5d01aa
    | shown: parses = as TOML, before and after
    | note: checkout reads the file when it starts: a restart is needed for it to count
    | tier: medium
    |   a change of configuration asks for medium
    | policies: writes-config-medium
    | who decides: one person whom policy lets approve
    | asked by ann in 0190a1b2-c3d4
    | from 2026-01-31T12:10:00Z until 2026-01-31T12:40:00Z
    [Next page!primary warrant.next=A12.1.3fa90c12be77]

    == The whole "warrant.form.whole" "{\"card\":\"A12.1.3fa90c12be77\",\"page\":1}"
    # The change
    (page 2 of 6 · A12 revision 1 | the answer is given on the last page)
    | @@ -4,3 +4,3
    |   [pool]
    | - max_connections = 8
    | + max_connections = 32
    |   wait_ms = 3000
    [Page before warrant.before=A12.1.3fa90c12be77] [Next page!primary warrant.next=A12.1.3fa90c12be77]

    == The whole "warrant.form.whole" "{\"card\":\"A12.1.3fa90c12be77\",\"page\":2}"
    # Why, in the model's words
    (page 3 of 6 · A12 revision 1 | the answer is given on the last page)
    | because:
    |   The pool was cut from 32 to 8 at 11:58; errors began 30 s later.
    | alternatives:
    |   roll back deploy 2.4.1
    | if nothing is done:
    |   one order in three goes on failing
    | it cites E3, E6
    [Page before warrant.before=A12.1.3fa90c12be77] [Next page!primary warrant.next=A12.1.3fa90c12be77]

    == The whole "warrant.form.whole" "{\"card\":\"A12.1.3fa90c12be77\",\"page\":3}"
    # Evidence E3 from search_logs, untrusted text, 1 of 40 lines
    (page 4 of 6 · A12 revision 1 | the answer is given on the last page)
    | 12:00:00 ERROR connection pool exhausted: 8 of 8 in use
    [Page before warrant.before=A12.1.3fa90c12be77] [Next page!primary warrant.next=A12.1.3fa90c12be77]

    == The whole "warrant.form.whole" "{\"card\":\"A12.1.3fa90c12be77\",\"page\":4}"
    # Evidence E6 from recent_changes, untrusted text
    (page 5 of 6 · A12 revision 1 | the answer is given on the last page)
    | 11:58:12 checkout 2.4.1 by ada: pool of 8 connections
    [Page before warrant.before=A12.1.3fa90c12be77] [Next page!primary warrant.next=A12.1.3fa90c12be77]

    == The whole [Approve] "warrant.form.whole" "{\"card\":\"A12.1.3fa90c12be77\",\"page\":5}"
    # The investigation up to here
    (page 6 of 6 · A12 revision 1)
    | 4 turns, 11 calls
    | c7 search_logs checkout: 40 rows
    | ruled out: the database is slow: its latency did not change
    [Page before warrant.before=A12.1.3fa90c12be77] [Deny!danger warrant.deny=A12.1.3fa90c12be77] [Break glass warrant.break_glass=A12.1.3fa90c12be77]
    "#);
}

#[test]
fn sl_04_the_last_line_of_a_long_change_is_on_a_page() {
    let card = long();
    let mut reading = Reading::begin(&card);
    let pages = sheets::of(&card).len();
    let text: Vec<String> = (0..pages).map(|page| shown(&whole(&card, &mut reading, page, Glass::Offered))).collect();
    assert_eq!(text.iter().filter(|page| page.contains("exec = \"/tmp/evil\"")).count(), 1);
    let approvable: Vec<bool> = text.iter().map(|page| page.starts_with("== The whole [Approve]")).collect();
    assert_eq!(approvable.iter().filter(|offered| **offered).count(), 1);
    assert_eq!(approvable.last(), Some(&true));
}

#[test]
fn ap_24_a_forged_jump_to_the_last_page_shows_the_first() {
    let card = long();
    let mut reading = Reading::begin(&card);
    let jump = shown(&whole(&card, &mut reading, 9_999, Glass::Offered));
    assert!(jump.contains("page 1 of ") && !jump.contains("[Approve]"), "{jump}");
    let jump = shown(&whole(&card, &mut reading, 9_999, Glass::Offered));
    assert!(jump.contains("page 2 of "), "{jump}");
    assert_eq!(reading.whole(), Whole::NotOpened);
    // What was read of another revision does not count.
    let pages = sheets::of(&card).len();
    for page in 0..pages {
        shown(&whole(&card, &mut reading, page, Glass::NotOffered));
    }
    assert_eq!(reading.whole(), Whole::Opened);
    let mut again = card.clone();
    again.revision = 2;
    let first = shown(&whole(&again, &mut reading, pages - 1, Glass::NotOffered));
    assert!(first.contains("page 1 of ") && first.contains("revision 2"), "{first}");
    assert_eq!(reading.whole(), Whole::NotOpened);
}

#[test]
fn the_evidence_alone() {
    insta::assert_snapshot!(shown(&evidence(&edit())), @r#"
    == Evidence "warrant.form.evidence" "{\"card\":\"A12.1.3fa90c12be77\"}"
    # Evidence E3 from search_logs, untrusted text, 1 of 40 lines
    | 12:00:00 ERROR connection pool exhausted: 8 of 8 in use
    # Evidence E6 from recent_changes, untrusted text
    | 11:58:12 checkout 2.4.1 by ada: pool of 8 connections
    "#);
    let mut card = edit();
    card.excerpts = vec![card.excerpts[0].clone(); 9];
    for excerpt in &mut card.excerpts {
        excerpt.lines = vec!["\u{65e5}".repeat(400); 20];
    }
    let text = shown(&evidence(&card));
    assert!(text.ends_with(" more pages stand in the whole)"), "{text:.200}");
    card.excerpts.clear();
    assert!(shown(&evidence(&card)).contains("It cites none."));
}

#[test]
fn what_has_ended_is_read_and_not_answered() {
    let mut card = edit();
    card.state = State::Expired { at: at("12:40:00") };
    let mut reading = Reading::begin(&card);
    let pages = sheets::of(&card).len();
    let last = (0..pages).map(|page| shown(&whole(&card, &mut reading, page, Glass::Offered))).last().unwrap();
    assert!(!last.contains("Approve") && !last.contains("Deny"), "{last}");
}

#[test]
fn what_was_handed_in_is_recorded_and_not_yet_counted() {
    insta::assert_snapshot!(shown(&recorded()), @r#"
    == Recorded "warrant.form.evidence" ""
    Recorded, and being checked. The card shows what came of it; you are told here in the channel if it does not count.
    "#);
}

#[test]
fn the_questions() {
    let card = edit();
    let asked =
        [Question::Deny, Question::BreakGlass, Question::Reopen, Question::Revoke].map(|it| shown(&why(&card, it)));
    let feedback = shown(&feedback(&card.investigation));
    insta::assert_snapshot!(format!("{}\n\n{feedback}", asked.join("\n\n")), @r#"
    == Deny [Deny] "warrant.form.deny" "{\"card\":\"A12.1.3fa90c12be77\"}"
    A12: replaces one line of shop:config/pool.toml
    ? Why not? (The model reads it and goes on with it. The same is not asked again until somebody reopens it.)

    == Break glass [Break glass] "warrant.form.break_glass" "{\"card\":\"A12.1.3fa90c12be77\"}"
    A12: replaces one line of shop:config/pool.toml
    ? Why can't it wait for another person? (Others are told at once, with these words, and a review by somebody else stays owed until it is done.)

    == Reopen [Ask again] "warrant.form.reopen" "{\"card\":\"A12.1.3fa90c12be77\"}"
    A12: replaces one line of shop:config/pool.toml
    ? What has changed since it was denied? (It is asked again with a new card; votes begin anew.)

    == Take back [Take back] "warrant.form.revoke" "{\"card\":\"A12.1.3fa90c12be77\"}"
    A12: replaces one line of shop:config/pool.toml
    ? Why is it taken back? (It counts until the write has begun. After that only stopping all writes can.)

    == Feedback [Send] "warrant.form.feedback" "0190a1b2-c3d4"
    ? What was wrong? (What it was in truth, if you know. It is kept with the investigation.)
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sl_04_every_character_of_the_card_is_on_a_page(text in hostile(), times in 1usize..300, many in 1usize..90) {
        let long: String = text.repeat(times).chars().take(5_000).collect();
        let mut card = edit();
        card.diff = (0..many).map(|_| DiffLine::Added(text.clone())).collect();
        card.arguments[0].value = vec![long.clone()];
        card.case.because.clone_from(&long);
        let mut reading = Reading::begin(&card);
        let pages = sheets::of(&card).len();
        let mut found = String::new();
        for page in 0..pages {
            let value = whole(&card, &mut reading, page, Glass::Offered).value();
            prop_assert_eq!(refuse::view(&value), Vec::<String>::new());
            for block in value["blocks"].as_array().unwrap().iter().filter(|block| block["type"] == "rich_text") {
                for part in block["elements"].as_array().unwrap() {
                    found.push_str(part["elements"][0]["text"].as_str().unwrap());
                }
            }
        }
        prop_assert_eq!(reading.whole(), Whole::Opened);
        let bare = |text: &str| text.replace("↪ ", "").replace('\n', "");
        let all: String = card.pages().iter().flat_map(|page| page.lines.clone()).map(|line| Exact::of(&line).wire()).collect();
        prop_assert_eq!(bare(&found), bare(&all));
    }
}
