//! Commands: what is accepted is given to the program in a form that is accepted as itself, holds no word that writes, runs
//! or connects by the manuals, and no path that leads out.

use std::sync::{Arc, LazyLock};

use warrant::app::builtin::GRAMMARS;
use warrant_toolbox::tools::command::Commands;
use warrant_toolbox::tools::command::load::{GrammarFile, Standing};
use warrant_toolbox::tools::workspace::path::RelPath;

static COMMANDS: LazyLock<Arc<Commands>> = LazyLock::new(|| {
    let files = GRAMMARS.iter().map(|(name, text)| GrammarFile { name, text, standing: Standing::BuiltIn });
    Commands::load(files).unwrap()
});

/// Words that no program of this name may be given as flags, whatever stands before them: by the manuals, each of them
/// writes, runs another program, connects, never ends or reads names from a file.
const NEVER: &[(&str, &[&str])] = &[
    (
        "find",
        &["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"],
    ),
    (
        "sort",
        &["-o", "--output", "--compress-program", "-T", "--temporary-directory", "--files0-from", "--random-source"],
    ),
    ("rg", &["--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip"]),
    ("sed", &["-i", "--in-place", "-e", "--expression", "-f", "--file", "-s"]),
    ("date", &["-s", "--set", "-f", "--file"]),
    ("hostname", &["-F", "--file", "-b", "--boot"]),
    ("tail", &["-f", "-F", "--follow", "--retry", "--pid"]),
    ("file", &["-C", "--compile", "-m", "--magic-file", "-z", "-Z", "-S", "--no-sandbox"]),
    ("ss", &["-K", "--kill", "-D", "--diag", "-F", "--filter", "-E", "--events", "-N", "--net"]),
    (
        "ip",
        &[
            "-b", "-batch", "-force", "add", "del", "delete", "set", "flush", "replace", "change", "netns", "exec",
            "monitor",
        ],
    ),
    ("du", &["--files0-from"]),
    ("wc", &["--files0-from"]),
];

/// Tests of `find`, and flags of others, whose next word is a value.
const TAKES: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-lname",
    "-ilname",
    "-regex",
    "-iregex",
    "-printf",
    "-user",
    "-group",
    "-fstype",
    "-regextype",
    "-type",
    "-xtype",
];

/// Tries the laws.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let argv: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let Ok(accepted) = COMMANDS.classify(&argv) else { return };
    let given = accepted.argv();
    let name = accepted.grammar().program.as_str();
    assert_eq!(name, argv[0]);
    assert!(!given.iter().any(|word| word.contains(['\0', '\n', '\r', '\x1b'])), "{given:?}");
    for (path, _) in accepted.paths() {
        assert!(path.as_str().split('/').all(|part| part != "..") && !path.as_str().starts_with('/'), "{path}");
        assert_eq!(RelPath::parse(path.as_str()).as_ref(), Ok(path));
    }

    let again: Vec<String> =
        std::iter::once(name.to_owned()).chain(given[accepted.grammar().first.len()..].iter().cloned()).collect();
    let twice = COMMANDS.classify(&again).unwrap_or_else(|refusal| panic!("{again:?} from {argv:?}: {refusal:?}"));
    assert_eq!(twice.argv(), given, "from {argv:?}");

    let never = NEVER.iter().find(|(program, _)| *program == name).map_or(&[][..], |(_, words)| words);
    let flags = given.iter().take_while(|word| *word != "--");
    let mut before = "";
    for word in flags {
        let bare = word.split('=').next().unwrap_or(word);
        assert!(TAKES.contains(&before) || !never.contains(&bare), "{word:?} in {given:?} from {argv:?}");
        before = word;
    }
    // A second one would be written to.
    assert!(name != "uniq" || accepted.paths().count() <= 1, "{given:?}");
    assert!(name != "sed" || given.first().is_some_and(|first| first == "-n" || first == "--sandbox"), "{given:?}");
}
