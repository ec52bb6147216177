use unicode_width::UnicodeWidthStr;

use super::sample::{at, edit, restart};
use super::*;

fn shown(card: &Card, columns: usize) -> String {
    face(card, at("12:11:00"), Paint::Plain, columns)
}

#[test]
fn an_edit_says_what_will_happen_before_anything_else() {
    insta::assert_snapshot!(shown(&edit(), 80), @r"
    ────────────────────────────────────────────────────────────────────────────────
    A12 MEDIUM  one confirmation
      until 12:40:00Z, in 29m

    What will happen
      replaces one line of shop:config/pool.toml
      tool           edit_config
      target         path shop:config/pool.toml (shop), service checkout, ↪
                     environment production

    The change  1 added, 1 removed, sha256 77aa0b1c2d3e
      @ -4,3 +4,3
        [pool]
      - max_connections = 8
      + max_connections = 32
        wait_ms = 3000

    Holds now, or nothing is written  another value is another plan
      mode           0644
      owner          shop:shop
      sha256         9f2c5d01aa

    Seen beside it  may change without harm
      parses         as TOML, before and after

    To know
      - checkout reads the file when it starts: a restart is needed for it to count

    Arguments  and where each comes from
      path           shop:config/pool.toml
                     [from the catalog]
      old_string     max_connections = 8
                     [from log text (E3, `lines`): untrusted]
      new_string     max_connections = 32
                     [from the runbook pool-exhausted]

    Why medium  writes-config-medium
      - a change of configuration asks for medium

    The model's case  its own words; nothing above rests on them
      │ The pool was cut from 32 to 8 at 11:58; errors began 30 s later.
      What else could be done, it says
      │ roll back deploy 2.4.1
      If nothing is done, it says
      │ one order in three goes on failing

    Evidence it cites  E3, E6
      E3 search_logs (log text: untrusted), the first 1 of 40 lines
      ┆ 12:00:00 ERROR connection pool exhausted: 8 of 8 in use
      E6 recent_changes (commits and deploys: untrusted)
      ┆ 11:58:12 checkout 2.4.1 by ada: pool of 8 connections

    Who decides
      asked for      ann in investigation 0190a1b2-c3d4
      up to here     4 turns, 11 calls, 1 ruled out
      may approve    one person whom policy lets approve
      this plan      3fa90c12be77 revision 1
    ");
}

#[test]
fn a_restart_in_a_narrow_terminal() {
    insta::assert_snapshot!(shown(&restart(), 50), @r"
    ──────────────────────────────────────────────────
    A12 HIGH  review by another person who has seen
              the whole
      until 13:10:00Z, in 59m

    What will happen
      restarts the service checkout (unit ↪
      checkout.service)
      tool           restart_service
      target         service checkout (shop), ↪
                     service checkout, environment ↪
                     production

    Holds now, or nothing is written
      another value is another plan
      mode           0644
      owner          shop:shop
      sha256         9f2c5d01aa

    Seen beside it  may change without harm
      parses         as TOML, before and after

    To know
      - checkout reads the file when it starts: a
        restart is needed for it to count

    Arguments  and where each comes from
      service        checkout
                     [from what began the
                     investigation]

    Why high  writes-config-medium
      - a restart asks for high

    The model's case
      its own words; nothing above rests on them
      │ The pool was cut from 32 to 8 at 11:58; errors
      │ began 30 s later.
      What else could be done, it says
      │ roll back deploy 2.4.1
      If nothing is done, it says
      │ one order in three goes on failing

    Evidence it cites  E3, E6
      E3 search_logs (log text: untrusted), the first
      1 of 40 lines
      ┆ 12:00:00 ERROR connection pool exhausted: 8 ↪
      ┆ of 8 in use
      E6 recent_changes (commits and deploys:
      untrusted)
      ┆ 11:58:12 checkout 2.4.1 by ada: pool of 8 ↪
      ┆ connections

    Who decides
      asked for      ann in investigation ↪
                     0190a1b2-c3d4
      up to here     4 turns, 11 calls, 1 ruled out
      may approve    one person whom policy lets ↪
                     approve and who had no part in ↪
                     it (not ann)
      this plan      3fa90c12be77 revision 1
    ");
}

#[test]
fn the_whole_of_an_edit() {
    insta::assert_snapshot!(whole(&edit(), Paint::Plain, 80).join("\n"), @r"
    A12 medium  the whole

    What will happen
      ┆ replaces one line of shop:config/pool.toml
      ┆ tool: edit_config
      ┆ target: path shop:config/pool.toml (shop)
      ┆ service: checkout
      ┆ environment: production
      ┆ path: shop:config/pool.toml [catalog]
      ┆ old_string: max_connections = 8 [E3, `lines`: untrusted text]
      ┆ new_string: max_connections = 32 [runbook pool-exhausted]
      ┆ bound: mode = 0644
      ┆ bound: owner = shop:shop
      ┆ bound: sha256 = 9f2c5d01aa
      ┆ shown: parses = as TOML, before and after
      ┆ note: checkout reads the file when it starts: a restart is needed for it ↪
      ┆ to count
      ┆ tier: medium
      ┆   a change of configuration asks for medium
      ┆ policies: writes-config-medium
      ┆ who decides: one person whom policy lets approve
      ┆ asked by ann in 0190a1b2-c3d4
      ┆ from 2026-01-31T12:10:00Z until 2026-01-31T12:40:00Z

    The change
      ┆ @@ -4,3 +4,3
      ┆   [pool]
      ┆ - max_connections = 8
      ┆ + max_connections = 32
      ┆   wait_ms = 3000

    Why, in the model's words
      ┆ because:
      ┆   The pool was cut from 32 to 8 at 11:58; errors began 30 s later.
      ┆ alternatives:
      ┆   roll back deploy 2.4.1
      ┆ if nothing is done:
      ┆   one order in three goes on failing
      ┆ it cites E3, E6

    Evidence E3 from search_logs, untrusted text, 1 of 40 lines
      ┆ 12:00:00 ERROR connection pool exhausted: 8 of 8 in use

    Evidence E6 from recent_changes, untrusted text
      ┆ 11:58:12 checkout 2.4.1 by ada: pool of 8 connections

    The investigation up to here
      ┆ 4 turns, 11 calls
      ┆ c7 search_logs checkout: 40 rows
      ┆ ruled out: the database is slow: its latency did not change
    ");
}

#[test]
fn colours_stand_around_lines_of_ours_and_none_is_left_where_they_are_not_wanted() {
    let coloured = face(&edit(), at("12:11:00"), Paint::Colour, 80);
    assert!(coloured.contains("\u{1b}[32m  + max_connections = 32"), "{coloured}");
    assert!(!shown(&edit(), 80).contains('\u{1b}'));
}

/// Every place of a card that strangers or the model can write into.
fn hostile(text: &str) -> Card {
    let mut card = edit();
    text.clone_into(&mut card.effect);
    text.clone_into(&mut card.target.name);
    card.arguments[1].value = text.split('\n').map(str::to_owned).collect();
    card.arguments[1].name = "old_string".to_owned();
    card.bound.insert("sha256".to_owned(), text.to_owned());
    card.shown.insert(text.to_owned(), text.to_owned());
    card.notes.push(text.to_owned());
    card.diff.push(DiffLine::Added(text.to_owned()));
    card.diff.push(DiffLine::Hunk(text.to_owned()));
    text.clone_into(&mut card.case.because);
    card.case.alternatives = Some(text.to_owned());
    card.case.otherwise = Some(text.to_owned());
    card.tier_reasons.push(text.to_owned());
    card.excerpts[0].lines = text.split('\n').map(str::to_owned).collect();
    text.clone_into(&mut card.excerpts[0].tool);
    card.so_far.lines.push(text.to_owned());
    card.so_far.ruled_out.push(text.to_owned());
    card
}

fn everything(card: &Card) -> String {
    let whole = whole(card, Paint::Plain, 80).join("\n");
    let evidence = evidence(card, "E3".parse().unwrap(), Paint::Plain, 80);
    format!("{}{whole}\n{evidence}", shown(card, 80))
}

#[test]
fn sl_01_mentions_of_a_chat_are_text_here() {
    let card = hostile("<!channel> <@U1> <!subteam^S1>");
    insta::assert_snapshot!(evidence(&card, "E3".parse().unwrap(), Paint::Plain, 80), @r"
    E3 <!channel> <@U1> <!subteam^S1> (log text: untrusted), the first 1 of 40
    lines
    ┆ <!channel> <@U1> <!subteam^S1>
    ");
}

#[test]
fn sl_02_links_of_a_chat_are_text_here_and_no_link_of_ours_stands_around_them() {
    let text = everything(&hostile("<https://evil|Approve>"));
    assert!(text.matches("<https://evil|Approve>").count() >= 10);
    assert!(!text.contains("\u{1b}]8;;"));
}

#[test]
fn sl_03_a_feigned_approval_stays_behind_the_margin_on_every_line() {
    let feigned = "\n```\n────────\nA12 HIGH  approved by lead\n\nWho decides\n  may approve    anybody\n> approve";
    let mut card = edit();
    feigned.clone_into(&mut card.case.because);
    card.excerpts[0].lines = feigned.split('\n').map(str::to_owned).collect();
    let text = everything(&card);
    for line in text
        .lines()
        .filter(|line| line.contains("approved by lead") || line.contains("anybody") || line.contains("> approve"))
    {
        assert!(line.starts_with(MODEL) || line.starts_with(STRANGER), "{line}");
    }
    assert!(text.matches("approved by lead").count() >= 3);
}

#[test]
fn sl_04_a_long_change_is_counted_on_the_face_and_whole_in_the_whole() {
    let mut card = edit();
    card.diff = (0..400).map(|n| DiffLine::Added(format!("# padding {n}"))).collect();
    card.diff.push(DiffLine::Added("run = \"evil\"".to_owned()));
    card.needs_whole = true;
    let face = shown(&card, 80);
    assert!(!face.contains("evil"));
    assert!(face.contains("… 377 more lines of the change: see the whole"), "{face}");
    let whole = whole(&card, Paint::Plain, 80).join("\n");
    assert!(whole.contains("+ run = \"evil\""));
    assert!((0..400).all(|n| whole.contains(&format!("# padding {n}\n"))));
}

#[test]
fn sl_06_what_reorders_or_hides_is_written_out_wherever_it_stands() {
    let text = everything(&hostile("max\u{202e}8\u{2066}\u{200b}\u{e0041}\u{e007f}"));
    assert!(text.matches("max\\u{202E}8\\u{2066}\\u{200B}\\u{E0041}\\u{E007F}").count() >= 10, "{text}");
    assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}', '\u{e007f}']));
}

#[test]
fn sl_07_no_control_sequence_reaches_the_terminal_from_any_place_of_a_card() {
    let text =
        "8 of 8\u{1b}[2K\u{1b}[1A\u{1b}]8;;https://evil\u{7}ok\u{1b}]8;;\u{7}\u{1b}]52;c;cm0=\u{7}\u{9b}2J\u{8}\r";
    let shown = everything(&hostile(text));
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    assert!(shown.contains("8 of 8\\u{1B}[2K\\u{1B}[1A"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let long = "漢字🦀".repeat(200) + &"x".repeat(500) + &"\n".repeat(30) + "end";
    for columns in [40, 63, 80, 100] {
        let card = hostile(&long);
        let texts = [shown(&card, columns), whole(&card, Paint::Plain, columns).join("\n")];
        for line in texts.iter().flat_map(|text| text.lines()) {
            assert!(line.width() <= columns, "{} of {columns}: {line}", line.width());
        }
    }
}

#[test]
fn where_an_approval_stands_is_told() {
    let mut card = edit();
    card.state = State::Denied {
        by: "ben".parse().unwrap(),
        reason: "no restart during checkout peak".to_owned(),
        at: at("12:12:00"),
    };
    assert!(shown(&card, 80).contains("denied by ben at 12:12:00Z: no restart during checkout peak"));
}
