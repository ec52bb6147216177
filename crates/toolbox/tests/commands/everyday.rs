//! Commands of every day: a list that was written from the manuals before any grammar was.

use super::{classified, root};

/// The words of a line: between blanks, quotes hold together.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

pub(super) fn list() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("tests/data/commands/everyday.txt")).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(split).collect()
}

#[test]
fn what_people_type_every_day_passes() {
    let list = list();
    assert_eq!(list.len(), 300);
    let refused: Vec<String> =
        list.iter().filter_map(|argv| classified(argv).err().map(|refusal| format!("{argv:?}: {refusal}"))).collect();
    println!("{} of {} pass\n{}", list.len() - refused.len(), list.len(), refused.join("\n"));
    assert!(refused.len() * 20 <= list.len(), "{} are refused:\n{}", refused.len(), refused.join("\n"));
}
