//! Text made visible: what a stranger wrote, in a form that can neither steer a terminal nor hide or feign anything.
//!
//! Every renderer of a card and of the ledger passes what it shows through [`visible`]; nobody has a version of their own.

use std::fmt::Write;

/// Longer runs of blanks are counted instead of shown.
const BLANKS: usize = 8;

/// One line of text as it may be shown: control characters, line ends, bidirectional marks, zero-width and tag characters
/// as `\u{202E}`, long runs of blanks as `␠×12`.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut blanks = 0;
    for c in text.chars() {
        if c == ' ' {
            blanks += 1;
            continue;
        }
        put_blanks(&mut shown, blanks);
        blanks = 0;
        if is_hidden(c) {
            put_escaped(&mut shown, c);
        } else {
            shown.push(c);
        }
    }
    put_blanks(&mut shown, blanks);
    shown
}

/// Whether nothing of the text would have to be made visible.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    !text.chars().any(is_hidden)
}

fn put_blanks(shown: &mut String, blanks: usize) {
    if blanks > BLANKS {
        // Writing to a text never fails.
        let _ = write!(shown, "␠×{blanks}");
    } else {
        shown.extend(std::iter::repeat_n(' ', blanks));
    }
}

fn put_escaped(shown: &mut String, c: char) {
    // Writing to a text never fails.
    let _ = write!(shown, "\\u{{{:X}}}", u32::from(c));
}

/// Characters that a reader can't see, or that move what stands around them.
fn is_hidden(c: char) -> bool {
    c.is_control() || is_blank_of_another_kind(c) || is_default_ignorable(c)
}

/// Blanks that are not the blank, and line ends that are not the line end.
fn is_blank_of_another_kind(c: char) -> bool {
    c != ' ' && (c.is_whitespace() || matches!(c, '\u{2800}' | '\u{3164}' | '\u{FFA0}'))
}

/// Zero-width characters, marks of direction, variation selectors, tags, fillers, and what is set aside for private use
/// or for nothing: Unicode's `Default_Ignorable_Code_Point` and more.
fn is_default_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{E000}'..='\u{F8FF}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{10FFFF}'
    )
}

/// A name in which a letter passes for another, or nothing where it is what it looks like.
///
/// A part between `/`, `:` and `.` is refused where all its letters that are not ASCII look like ASCII letters (it would
/// pass for another name) or where it holds letters of both kinds (it was made to).
#[must_use]
pub fn passes_for(name: &str) -> Option<String> {
    if !is_plain(name) {
        return Some(visible(name));
    }
    name.split(['/', ':', '.', '-', '_', ' '])
        .any(|part| {
            let strange = part.chars().filter(|c| !c.is_ascii());
            let alike = strange.clone().filter(|c| looks_like(*c).is_some()).count();
            alike > 0 && (alike == strange.count() || part.chars().any(|c| c.is_ascii_alphabetic()))
        })
        .then(|| name.chars().map(|c| looks_like(c).unwrap_or(c)).collect())
}

/// The ASCII character that this one passes for: Cyrillic, Greek, Armenian, full-width and mathematical letters.
fn looks_like(c: char) -> Option<char> {
    const FROM: &str = "АВЕЅІЈКМНОРСТХУҮасеіјорѕхуһԁԛԝгпмткв\
                        ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαινορτυγκ\
                        օսոհցԼՏℓ∕⁄‐‑‒–—−∙·ꞏ։";
    const INTO: &str = "ABESIJKMHOPCTXYYaceijopsxyhdqwrnmtkb\
                        ABEZHIKMNOPTYXaivoptuyk\
                        ounhgLSl//------...:";
    if c.is_ascii() {
        return None;
    }
    let code = u32::from(c);
    if (0xFF01..=0xFF5E).contains(&code) {
        return char::from_u32(code - 0xFEE0);
    }
    if (0x1D400..=0x1D6A3).contains(&code) {
        let nth = (code - 0x1D400) % 52;
        return char::from_u32(if nth < 26 { 0x41 + nth } else { 0x61 + nth - 26 });
    }
    FROM.chars().zip(INTO.chars()).find(|(from, _)| *from == c).map(|(_, into)| into)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sl_06_hidden_characters_are_shown() {
        insta::assert_snapshot!(visible("pay\u{202E}sync\u{2066}\u{200B}!\u{E0041}\u{FE0F}\u{A0}"), @r"pay\u{202E}sync\u{2066}\u{200B}!\u{E0041}\u{FE0F}\u{A0}");
    }

    #[test]
    fn sl_07_nothing_reaches_the_terminal_as_a_command() {
        insta::assert_snapshot!(visible("\x1b[2K\x1b[1A\x1b]8;;http://evil\x07ok\u{9b}1A\r\n\t"), @r"\u{1B}[2K\u{1B}[1A\u{1B}]8;;http://evil\u{7}ok\u{9B}1A\u{D}\u{A}\u{9}");
    }

    #[test]
    fn long_runs_of_blanks_are_counted() {
        assert_eq!(visible("a        b"), "a        b");
        assert_eq!(visible("a            b"), "a␠×12b");
        assert_eq!(visible(&" ".repeat(400)), "␠×400");
    }

    #[test]
    fn sl_06_a_name_that_passes_for_another_is_found() {
        for (name, other) in [
            ("shоp:config/pool.toml", "shop:config/pool.toml"),
            ("раураl", "paypal"),
            ("ｃｈｅｃｋｏｕｔ", "checkout"),
            ("shop:𝐜onfig", "shop:config"),
            ("a\u{200B}b", "a\\u{200B}b"),
        ] {
            assert_eq!(passes_for(name).as_deref(), Some(other), "{name}");
        }
        for name in ["shop:config/pool.toml", "shop:конфигурация/main.toml", "shop:größe/日本語.toml", "café"]
        {
            assert_eq!(passes_for(name), None, "{name}");
        }
    }

    #[test]
    fn both_lists_of_letters_are_as_long() {
        assert_eq!(looks_like('։'), Some(':'));
        assert_eq!(looks_like('Ү'), Some('Y'));
        assert_eq!(looks_like('ѕ'), Some('s'));
        assert_eq!(looks_like('Α'), Some('A'));
        assert_eq!(looks_like('օ'), Some('o'));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_plain_and_stays_as_it_is(text in "(\\PC|\\pC| {0,20}){0,40}") {
            let shown = visible(&text);
            prop_assert!(is_plain(&shown));
            prop_assert_eq!(visible(&shown), shown);
        }
    }
}
