use std::sync::Mutex;

use proptest::prelude::*;
use warrant_kernel::domain::event::Event;
use warrant_kernel::redact::{RedactionKey, Redactor};

use super::*;
use crate::agent::state::State;

#[derive(Default)]
struct Screen(Mutex<String>);

impl Watcher for Screen {
    fn event(&self, _event: &Event, _state: &State) {}

    fn delta(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

fn shown(pieces: &[&str]) -> String {
    let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap();
    let screen = Screen::default();
    let mut lines = Lines::new(&redactor, &screen);
    for piece in pieces {
        lines.push(piece);
    }
    lines.finish();
    screen.0.into_inner().unwrap()
}

#[test]
fn rd_07_a_secret_over_pieces_and_lines_of_an_answer_is_masked() {
    let (token, divided) = ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklm\nnopqrstuvwxyz0123456789");
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefgh0123456789ABCDEFGH\nMIIEbbcdefgh0123456789ABCDEFGH\n-----END RSA PRIVATE KEY-----";
    for secret in [token, divided, key] {
        let text = format!("It says\n{secret}\nand no more.");
        let whole = shown(&[&text]);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let one_by_one = shown(&letters.iter().map(String::as_str).collect::<Vec<_>>());
        for out in [&whole, &one_by_one] {
            assert!(out.starts_with("It says\n[secret:") && out.ends_with("]\nand no more."), "{out}");
            assert!(!out.contains("abcdefgh") && !out.contains("rstuvwxyz"), "{out}");
            assert_eq!(out.lines().count(), whole.lines().count());
        }
    }
}

#[test]
fn rd_07_a_secret_where_a_long_line_is_shown_in_parts_is_masked() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let text = format!("{} with {token} and more", "x ".repeat((LONGEST - 30) / 2));
    let out = shown(&[&text]);
    assert!(!out.contains("ghp_") && !out.contains("6789") && out.contains("[secret:github_pat:"), "{out}");
}

proptest! {
    #[test]
    fn pieces_change_nothing_about_ordinary_text(words in "([a-z ]{0,12}\n?){0,12}", at in 0usize..80) {
        let at = words.floor_char_boundary(at.min(words.len()));
        let (left, right) = words.split_at(at);
        prop_assert_eq!(shown(&[left, right]), words.clone());
    }
}
