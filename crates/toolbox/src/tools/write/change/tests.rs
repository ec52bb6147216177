//! What a replacement does to bytes, by example and by law.

use proptest::prelude::*;

use super::*;

fn changed(content: &[u8], old: &str, new: &str) -> Vec<u8> {
    change(content, old, new).unwrap().after
}

#[test]
fn fs_16_what_occurs_never_or_twice_is_refused_with_its_lines() {
    let text = b"a = 1\nb = 1\n\nc = 1\n";
    let told = |old: &str, new: &str| {
        let error = change(text, old, new).unwrap_err();
        format!("{}: {error}", error.reason())
    };
    insta::assert_snapshot!(told("= 1", "= 2"), @"NOT_UNIQUE: `old_string` occurs 3 times, at lines 1, 2, 4; take more of the text around it");
    insta::assert_snapshot!(told("d = 1", "d = 2"), @"NOT_UNIQUE: `old_string` does not occur in the file; copy it as `read_file` shows it, without the line numbers");
    insta::assert_snapshot!(told("", "x"), @"NOOP: `old_string` is empty; name the text to replace");
    insta::assert_snapshot!(told("b = 1", "b = 1"), @"NOOP: `old_string` and `new_string` are the same");
    let many = "x\n".repeat(50);
    let error = change(many.as_bytes(), "x", "y").unwrap_err();
    insta::assert_snapshot!(error, @"`old_string` occurs more than 8 times, at lines 1, 2, 3, 4, 5, 6, 7, 8; take more of the text around it");
    // Matches that overlap are two.
    assert_eq!(change(b"aaa", "aa", "b").unwrap_err().reason(), "NOT_UNIQUE");
}

#[test]
fn fs_18_line_ends_of_the_file_stay_and_new_lines_get_them() {
    let crlf = b"\xef\xbb\xbfmax = 5\r\nmin = 1\r\n\xff\xfe = 3\r\n";
    let after = changed(crlf, "max = 5\nmin = 1", "max = 50\nidle = 9\nmin = 1");
    assert_eq!(after, b"\xef\xbb\xbfmax = 50\r\nidle = 9\r\nmin = 1\r\n\xff\xfe = 3\r\n");
    // One line without its end: new lines within take the file's.
    assert_eq!(
        changed(crlf, "min = 1", "min = 1\nx = 2"),
        b"\xef\xbb\xbfmax = 5\r\nmin = 1\r\nx = 2\r\n\xff\xfe = 3\r\n"
    );
    assert_eq!(changed(b"a\nb\n", "a\n", "c\r\n"), b"c\nb\n");
    // A match that begins with a line end takes all of it.
    assert_eq!(changed(b"a\r\nb\r\nc", "\nb", ""), b"a\r\nc");
    assert_eq!(changed(b"a\r\nb", "a\n", ""), b"b");
    // A lone carriage return is a character like any other.
    assert_eq!(changed(b"a\rb\n", "a\rb", "c"), b"c\n");
    assert_eq!(changed(b"last", "last", "first\nlast"), b"first\nlast");
}

#[test]
fn the_lines_of_a_change_are_those_it_touches() {
    let lines = |content: &[u8], old: &str| change(content, old, "").unwrap().lines;
    assert_eq!(lines(b"a\nb\nc\n", "b"), 2..3);
    assert_eq!(lines(b"a\nb\nc\n", "b\n"), 2..3);
    assert_eq!(lines(b"a\nb\nc\n", "\nb"), 1..3);
    assert_eq!(lines(b"a\r\nb\r\nc", "b\nc"), 2..4);
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(vec![0xff]),
        Just(vec![0xef, 0xbb, 0xbf]),
        Just("ü".as_bytes().to_vec()),
        Just(b"key = 1".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn fs_18_bytes_outside_the_match_never_change(head in content(), tail in content(), new in "[a-z\n]{0,6}") {
        let whole = [head.as_slice(), b"<needle one\nneedle two>", tail.as_slice()].concat();
        let after = changed(&whole, "<needle one\nneedle two>", &new);
        prop_assert!(after.starts_with(&head));
        prop_assert!(after.ends_with(&tail));
        prop_assert_eq!(&after[head.len()..after.len() - tail.len()], new.as_bytes());
    }

    #[test]
    fn a_change_taken_back_gives_the_bytes_of_before(content in content(), old in "[a-z=1\r\n ]{1,4}", new in "[A-Z\n]{1,4}") {
        if let Ok(made) = change(&content, &old, &new) {
            let same = [&content[..made.bytes.start], &content[made.bytes.end..]].concat();
            let tail = content.len() - made.bytes.end;
            let kept = [&made.after[..made.bytes.start], &made.after[made.after.len() - tail..]].concat();
            prop_assert_eq!(same, kept);
            let there = &content[made.bytes];
            prop_assert_eq!(String::from_utf8_lossy(there).replace("\r\n", "\n"), old.replace("\r\n", "\n"));
        }
    }
}
