//! What is left at a cut: no half of a secret, however it is written, and as much of the rest as can be.

use super::masked;
use super::ordinary::line;
use super::planted::{Dice, Encoding, KINDS, Planted, plant};
use crate::redact::guard::{BAND, Piece, cut_before, cut_behind, first_chars, lone_line};

/// Pieces of the secret that are long enough to matter, as they stand in the text.
fn fragments(planted: &Planted, encoding: Encoding) -> Vec<String> {
    let eight = |text: &str| -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        letters.windows(8).step_by(3).map(|part| part.iter().collect()).collect()
    };
    // In base64 the letters depend on where the secret stands.
    if encoding == Encoding::Base64 {
        Vec::new()
    } else {
        eight(&planted.secret).iter().map(|part| encoding.write(part)).collect()
    }
}

/// Every place within the phrase where a cut may fall, some of them for long ones.
fn cuts(length: usize, dice: &mut Dice) -> Vec<usize> {
    (0..6).map(|_| 1 + dice.below(length.max(2) - 1)).collect()
}

#[test]
fn rd_06_no_half_of_a_secret_is_left_before_a_cut() {
    let mut dice = Dice::new(606);
    let (mut cases, mut leaks) = (0, Vec::new());
    for kind in KINDS {
        for encoding in Encoding::ALL {
            let planted = plant(kind, &mut dice);
            let phrase = encoding.write(&planted.phrase);
            let text = format!("first line\n{}", line(&mut dice, &phrase));
            let start = text.find(&phrase).unwrap();
            for at in cuts(phrase.len(), &mut dice) {
                let end = text.floor_char_boundary(start + at);
                let piece = Piece::beginning(text.as_bytes()[..end].to_vec());
                let out = masked(&piece.text());
                cases += 1;
                assert!(piece.is_cut() && text.starts_with(&*piece.text()));
                if fragments(&planted, encoding).iter().any(|part| out.contains(part)) {
                    leaks.push(format!("{kind} {encoding:?} cut at {end} in {text}\n  {out}"));
                }
            }
        }
    }
    assert!(cases >= 500);
    assert!(leaks.is_empty(), "{} of {cases}:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn rd_06_no_half_of_a_secret_is_left_behind_a_cut() {
    let mut dice = Dice::new(607);
    let mut leaks = Vec::new();
    for kind in KINDS {
        for encoding in Encoding::ALL {
            let planted = plant(kind, &mut dice);
            let phrase = encoding.write(&planted.phrase);
            let text = format!("{}\nlast line", line(&mut dice, &phrase));
            let start = text.find(&phrase).unwrap();
            for at in cuts(phrase.len(), &mut dice) {
                let from = text.floor_char_boundary(start + at);
                let out = masked(&Piece::end(text.as_bytes()[from..].to_vec()).text());
                assert!(out.ends_with("last line"), "{out}");
                if fragments(&planted, encoding).iter().any(|part| out.contains(part)) {
                    leaks.push(format!("{kind} {encoding:?} cut at {from} in {text}\n  {out}"));
                }
            }
        }
    }
    assert!(leaks.is_empty(), "{}:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn rd_06_a_key_without_its_head_and_its_tail_is_not_left_at_a_cut() {
    let mut dice = Dice::new(608);
    let lines: Vec<String> = (0..40).map(|_| dice.letters("uld+/", 64)).collect();
    for before in ["", "2026-05-04T10:11:12Z app[1]: ", "12| "] {
        let body = lines.iter().map(|line| format!("{before}{line}")).collect::<Vec<_>>().join("\n") + "\n";
        let key = format!("{before}-----BEGIN RSA PRIVATE KEY-----\n{body}{before}-----END RSA PRIVATE KEY-----\n");
        for at in [70, 300, 1_500, 2_000] {
            let (head, tail) = key.split_at(at);
            let head = masked(&Piece::beginning(format!("before\n{head}").into_bytes()).text());
            let tail = masked(&Piece::end(format!("{tail}after\n").into_bytes()).text());
            // Between both cuts there is neither head nor tail.
            let inner = masked(std::str::from_utf8(cut_before(cut_behind(&body.as_bytes()[at..at + 600]))).unwrap());
            for line in &lines {
                assert!(!head.contains(line) && !tail.contains(line) && !inner.contains(line), "{at} `{before}`");
            }
            assert!(head.starts_with("before\n"), "{head}");
            assert!(tail.ends_with("after\n"), "{tail}");
        }
        let alone = body.lines().next().unwrap().as_bytes();
        assert_eq!(lone_line(alone) == alone, !before.is_empty());
    }
}

#[test]
fn rd_06_what_no_secret_can_reach_is_kept() {
    let kept = |text: &'static str| std::str::from_utf8(cut_behind(text.as_bytes())).unwrap();
    assert_eq!(
        kept("connection refused by 10.0.0.7:5432, giving up af"),
        "connection refused by 10.0.0.7:5432, giving up "
    );
    assert_eq!(kept("{\"error\":{\"code\":500,\"message\":\"no ro"), "{\"error\":{\"code\":500,\"message\":\"no ");
    assert_eq!(kept("see http://host:8080/runbook for mo"), "see http://host:8080/runbook for ");
    assert_eq!(kept("open postgres://app:hun"), "open ");
    assert_eq!(kept("open postgres://app:hun/ter,2"), "open ");
    assert_eq!(kept(""), "");
    // The band is all that goes: a long run keeps its beginning.
    let long = "x".repeat(3 * BAND);
    assert_eq!(cut_behind(long.as_bytes()).len(), 2 * BAND);
    assert_eq!(cut_before(long.as_bytes()).len(), 2 * BAND);
    assert_eq!(std::str::from_utf8(cut_before(b"alf a line\nwhole line\nnext")).unwrap(), "whole line\nnext");
    assert_eq!(Piece::up_to(b"all of it".to_vec(), 9), Piece::whole(b"all of it".to_vec()));
    assert_eq!(Piece::up_to(b"all of it, more".to_vec(), 9).text(), "all of ");
}

#[test]
fn rd_06_an_excerpt_is_cut_between_characters_and_before_half_a_secret() {
    assert_eq!(first_chars("short", 5), "short");
    assert_eq!(first_chars("wörter, die länger sind", 12), "wörter, die ");
    assert_eq!(first_chars("login with token=abcdef0123456789abcdef", 24), "login with ");
    assert_eq!(first_chars("ééééé", 3), "ééé");
    assert_eq!(first_chars("token ａｂｃ\u{200b}ｄｅｆ", 9), "token ");
}
