use proptest::prelude::*;

use super::Templates;

#[test]
fn messages_of_one_statement_share_a_template() {
    let mut templates = Templates::new(100);
    let first = templates.add(0, "connection to db1 from 10.0.0.1 timed out after 30s");
    let second = templates.add(0, "connection to db2 from 10.0.0.9 timed out after 5s");
    let other = templates.add(0, "connection to db2 from 10.0.0.9 was closed by peer");
    assert_eq!(first, second);
    assert_ne!(first, other);
    assert_eq!(templates.text(0).unwrap(), "connection to <*> from <*> timed out after <*>");
}

#[test]
fn words_that_differ_become_holes_and_the_id_stays() {
    let mut templates = Templates::new(100);
    let first = templates.add(0, "user anna logged in from the web");
    assert_eq!(first, templates.add(0, "user bertil logged in from the web"));
    assert_eq!(templates.text(0).unwrap(), "user <*> logged in from the web");
}

#[test]
fn groups_are_kept_apart() {
    let mut templates = Templates::new(100);
    assert_ne!(templates.add(0, "pool is full"), templates.add(1, "pool is full"));
}

#[test]
fn the_number_of_templates_is_bounded_and_the_rest_counted() {
    let mut templates = Templates::new(3);
    let letters = "abcdefgh";
    for letter in letters.chars() {
        templates.add(0, &format!("{letter} says {letter}{letter}"));
    }
    assert_eq!((templates.len(), templates.overflow()), (3, 5));
}

proptest! {
    #[test]
    fn the_same_message_has_the_same_template(messages in prop::collection::vec("[a-c]{1,2}( [a-c0-9]{1,3}){0,5}", 1..60)) {
        let mut templates = Templates::new(1_000);
        let ids: Vec<_> = messages.iter().map(|message| templates.add(0, message)).collect();
        for (message, id) in messages.iter().zip(ids) {
            prop_assert_eq!(templates.add(0, message), id);
        }
    }
}
