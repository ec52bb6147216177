//! Examples of Porter's paper, and words of this field.

use proptest::prelude::*;

use super::stem;

#[test]
fn the_papers_examples() {
    for (word, wanted) in [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("cats", "cat"),
        ("feed", "feed"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("conditional", "condit"),
        ("vietnamization", "vietnam"),
        ("operator", "oper"),
        ("hopefulness", "hope"),
        ("triplicate", "triplic"),
        ("formative", "form"),
        ("electrical", "electr"),
        ("allowance", "allow"),
        ("replacement", "replac"),
        ("adoption", "adopt"),
        ("effective", "effect"),
        ("rate", "rate"),
        ("cease", "ceas"),
        ("controlling", "control"),
        ("roll", "roll"),
    ] {
        assert_eq!(stem(word), wanted, "{word}");
    }
}

#[test]
fn forms_of_a_word_meet() {
    for forms in [
        &["expire", "expires", "expired", "expiring"][..],
        &["exhaust", "exhausted", "exhausting"],
        &["connection", "connections", "connected"],
    ] {
        let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
        assert!(stems.iter().all(|one| *one == stems[0]), "{stems:?}");
    }
}

proptest! {
    #[test]
    fn a_stem_is_never_longer_by_more_than_a_letter(word in "[a-z]{0,20}") {
        prop_assert!(stem(&word).len() <= word.len() + 1);
    }

    #[test]
    fn other_words_stay(word in "[é0-9漢A-Z]{1,8}") {
        prop_assert_eq!(stem(&word), word);
    }
}
