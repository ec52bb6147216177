//! What holds for every command, whatever its words are.

use proptest::prelude::*;

use super::{COMMANDS, classified, everyday, generated::Words};

/// Every word that a program is given stands in its grammar, or was a word of the caller, or a part of one behind a flag.
fn none_is_new(argv: &[String], given: &[String]) -> Result<(), String> {
    let Some(grammar) = argv.first().and_then(|name| COMMANDS.get(name)).map(|known| &known.grammar) else {
        return Err("no grammar".to_owned());
    };
    let of_grammar = |word: &str| {
        let flag = word.split('=').next().unwrap_or(word);
        grammar.first.iter().any(|first| first == word)
            || grammar.names().contains(&word)
            || (word.starts_with("--") && grammar.names().contains(&flag))
    };
    let of_caller = |word: &str| {
        let bare = word.strip_prefix("./").unwrap_or(word);
        // A value of several words is one word or several.
        argv.iter()
            .skip(1)
            .flat_map(|given| given.split(' ').chain([given.as_str()]))
            .any(|given| given == word || given.ends_with(bare) || normal(given).ends_with(bare))
    };
    for word in given {
        if word != "--" && word != "." && !of_grammar(word) && !of_caller(word) {
            return Err(format!("`{word}` of {given:?} comes from nowhere, for {argv:?}"));
        }
    }
    Ok(())
}

/// A path without what falls away.
fn normal(path: &str) -> String {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/")
}

/// What a program is given, read again, is given again: the two readings agree on what each word is.
fn is_settled(argv: &[String], given: &[String]) -> Result<(), String> {
    let name = argv.first().cloned().unwrap_or_default();
    let first = COMMANDS.get(&name).map_or(0, |known| known.grammar.first.len());
    let again: Vec<String> = std::iter::once(name).chain(given.iter().skip(first).cloned()).collect();
    match classified(&again) {
        Ok(twice) if twice == given => Ok(()),
        other => Err(format!("{argv:?} becomes {given:?}, and that {other:?}")),
    }
}

#[test]
fn no_word_reaches_a_program_that_was_not_looked_at() {
    let mut generated = Words::new(7);
    let made = (0..20_000).map(|_| generated.argv());
    let mut accepted = 0;
    for argv in everyday::list().into_iter().chain(made) {
        let Ok(given) = classified(&argv) else { continue };
        accepted += 1;
        none_is_new(&argv, &given).unwrap();
        is_settled(&argv, &given).unwrap();
    }
    assert!(accepted > 4_000, "{accepted}");
}

proptest! {
    /// Whatever the words are: an answer, and no panic. What passes has a program of the list and no control character.
    #[test]
    fn anything_is_answered(argv in prop::collection::vec(prop_oneof![
        "\\PC{0,12}", ".{0,8}", "-{0,2}[a-zA-Z0-9=:,/.+]{0,10}", Just("find".to_owned()), Just("sed".to_owned()),
        Just("ps".to_owned()), Just("ip".to_owned()), Just("grep".to_owned()), Just("--".to_owned()),
    ], 0..10)) {
        if let Ok(given) = classified(&argv) {
            prop_assert!(COMMANDS.get(&argv[0]).is_some());
            prop_assert!(given.iter().all(|word| !word.chars().any(|c| c.is_control() && c != '\t')));
        }
    }

    /// A flag shortened by any number of letters is refused, unless it is then another flag.
    #[test]
    fn no_flag_is_shortened(which in 0_usize..10_000, cut in 1_usize..12) {
        let all: Vec<(&str, &str)> = COMMANDS
            .known()
            .flat_map(|known| known.grammar.names().into_iter().map(|flag| (known.grammar.program.as_str(), flag)))
            .filter(|(_, flag)| flag.starts_with("--"))
            .collect();
        let (program, flag) = all[which % all.len()];
        let short = flag.get(..flag.len().saturating_sub(cut).max(3)).unwrap();
        prop_assume!(!all.contains(&(program, short)));
        for words in [vec![short.to_owned()], vec![format!("{short}=1")], vec![short.to_owned(), "1".to_owned()]] {
            let argv: Vec<String> = std::iter::once(program.to_owned()).chain(words).chain(["a".to_owned()]).collect();
            prop_assert!(classified(&argv).is_err(), "{argv:?}");
        }
    }
}
