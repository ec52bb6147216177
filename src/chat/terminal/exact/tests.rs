use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;

#[test]
fn sl_04_padding_is_counted_and_pushes_nothing_out_of_sight() {
    let text = format!("harmless{}rm -rf /{}evil", " ".repeat(4_000), "\n".repeat(400));
    assert_eq!(exact(&text, 60), ["harmless␠×4000rm -rf /", "⟨399 empty lines⟩", "evil"]);
    assert_eq!(exact("    indented\n\nnext  ", 60), ["    indented", "", "next⟨2 blanks at the end⟩"]);
}

#[test]
fn sl_07_control_sequences_are_written_out() {
    let text = "ok\u{1b}[2K\u{1b}[1A\u{1b}]8;;https://evil\u{7}link\u{1b}]52;c;cm0=\u{7}\u{9b}2J\r";
    insta::assert_snapshot!(exact(text, 200).join("\n"), @r"ok\u{1B}[2K\u{1B}[1A\u{1B}]8;;https://evil\u{7}link\u{1B}]52;c;cm0=\u{7}\u{9B}2J\u{D}");
}

#[test]
fn sl_06_what_reorders_or_hides_is_written_out() {
    insta::assert_snapshot!(exact("\u{202e}exe.\u{200b}pu\u{e0041}z", 200).join("\n"), @r"\u{202E}exe.\u{200B}pu\u{E0041}z");
}

proptest! {
    /// Whatever comes, no line is wider than asked, and none holds what a terminal obeys.
    #[test]
    fn lines_fit_and_hold_nothing_that_acts(text in "(?s).{0,300}", width in 8_usize..120) {
        for line in exact(&text, width) {
            prop_assert!(line.width() <= width, "{} columns of {width}: {line:?}", line.width());
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }

    /// Without long runs of blanks nothing is lost: the parts put together are the line.
    #[test]
    fn folding_loses_nothing(line in "[a-zß漢字🦀 ]{0,200}", width in 8_usize..60) {
        let folded = folded(&line, width);
        let joined: String = folded.iter().map(|part| part.trim_end_matches('↪')).collect();
        prop_assert_eq!(joined, line);
    }
}
