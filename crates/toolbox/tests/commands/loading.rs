//! Operators' grammars: tried on their own examples, with file and line where they fail.

use warrant_toolbox::tools::command::Commands;
use warrant_toolbox::tools::command::load::{GrammarFile, Standing};

use super::{texts, words};

const READY: &str = r#"program = "pg_isready"
path = "/usr/lib/postgresql/bin/pg_isready"
about = "whether a database takes connections"

[flags]
"-d --dbname" = "name"
"-t --timeout" = "seconds"
"-q --quiet" = "switch"

[types]
name = { match = "[a-z_]{1,30}", says = "the name of a database" }
seconds = { min = 1, max = 5 }

[needs]
names = true

[examples]
pass = [["pg_isready", "-d", "orders"]]
refuse = [["pg_isready", "-h", "evil.example.org"], ["pg_isready", "-d", "host=evil"]]
"#;

fn load(text: &str) -> Result<std::sync::Arc<Commands>, String> {
    let built_in = texts();
    let files = built_in.iter().map(|(name, text)| GrammarFile { name, text, standing: Standing::BuiltIn });
    let own = GrammarFile { name: "mine.toml", text, standing: Standing::Operator };
    Commands::load(files.chain([own]))
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[test]
fn an_operator_adds_a_program_as_data() {
    let commands = load(READY).unwrap();
    let argv = words(&["pg_isready", "-qt2", "-d", "orders"]);
    assert_eq!(commands.classify(&argv).unwrap().argv(), ["-q", "-t", "2", "-d", "orders"]);
    assert!(commands.get("pg_isready").unwrap().program.is_none(), "it is not installed here");
}

#[test]
fn examples_that_do_not_do_as_they_say_stop_the_start() {
    let passes = READY.replace("[\"pg_isready\", \"-d\", \"host=evil\"]", "[\"pg_isready\", \"-q\"]");
    let refused =
        READY.replace("pass = [[\"pg_isready\", \"-d\", \"orders\"]]", "pass = [\n    [\"pg_isready\", \"-x\"]]");
    let none = READY.split("[examples]").next().unwrap();
    let other = READY.replace("pass = [[\"pg_isready\"", "pass = [[\"ls\"");
    let all = [passes, refused, none.to_owned(), other].map(|text| load(&text).unwrap_err());
    insta::assert_snapshot!(all.join("\n"), @r"
    mine.toml:19: the example must be refused and passes, as `pg_isready -q`
    mine.toml:19: the example must pass and is refused: `pg_isready` is not run with `-x`. It takes: --dbname --quiet --timeout -d -q -t
    mine.toml:1: `[examples]` needs commands that `pass` and commands that it must `refuse`, at least one of each
    mine.toml:18: the first word of an example is the program, `pg_isready`
    ");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let with = |from: &str, to: &str| load(&READY.replace(from, to)).unwrap_err();
    let all = [
        with("= \"seconds\"", "= \"second\""),
        with("min = 1", "mn = 1"),
        with("{1,30}\"", "{1,30}(\""),
        with("about = \"whether a database takes connections\"\n", ""),
        with("program = \"pg_isready\"", "program = \"ls\""),
        with("path = \"/usr", "path = \"usr"),
        with("\"-q --quiet\"", "\"-q --quiet -d\""),
        with("[needs]\nnames = true", "[needs]\nnetwork = true"),
        with("program = \"pg_isready\"\n", ""),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    mine.toml:7: there is no type `second`; there are entry, file, name, pattern, seconds, tree
    mine.toml:12: unknown field `mn`, expected one of `min`, `max`, `one_of`, `match`, `says`
    mine.toml:6: there is no type `name`; there are entry, file, pattern, seconds, tree
    mine.toml:11: type `name`: `match` is no regular expression: error: unclosed group
    mine.toml:1: `about` is missing: what the program shows
    mine.toml:1: there is a grammar of `ls` already; choose another program
    mine.toml:1: `path` must be absolute
    mine.toml:8: the flag `-d` stands here twice
    mine.toml:15: unknown field `network`, expected one of `reads`, `names`, `netlink`, `threads`
    mine.toml:1: `program` is missing: which one the grammar is of
    ");
}

#[test]
fn the_page_about_commands_shows_what_there_is() {
    let page = std::fs::read_to_string(super::root().join("docs/COMMANDS.md")).unwrap();
    let rows: Vec<String> = super::COMMANDS
        .known()
        .map(|known| format!("| `{}` | {} |\n", known.grammar.program, known.grammar.about))
        .collect();
    assert!(page.contains(&rows.concat()), "docs/COMMANDS.md lacks these rows:\n{}", rows.concat());
    let (_, shown) = page.split_once("```toml grammar\n").unwrap();
    load(shown.split_once("```").unwrap().0).unwrap();
}

#[test]
fn an_operator_may_forbid_a_program_that_is_built_in() {
    let commands = load("[forbidden]\nss = \"ask the network team\"\n").unwrap();
    let refusal = commands.classify(&words(&["ss", "-t"])).unwrap_err();
    assert_eq!(refusal.message, "`ss` is not run: ask the network team");
    assert!(load("").is_err());
}
