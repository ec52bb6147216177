//! An operator defines a command: words with typed places, or it does not load.

use crate::domain::tool::ToolRun;

use super::{load, operator};

const COMMAND: &str = r#"name = "ready"
version = 1
description = "Whether the database takes connections."
risk = "shell"
roles = ["general-purpose"]
parallel_safe = true
timeout = "5s"
output = { max_chars = 4000, keep = "full" }
target = { kind = "source" }
run.command.argv = ["/usr/bin/pg_isready", "--timeout={seconds}", "{name}"]

[args.seconds]
type = "int"
min = 1
max = 5
description = "How long it is waited for."

[args.name]
type = "label"
required = true
description = "The database."

[args.words]
type = "words"
description = "Words."
"#;

#[test]
fn a_command_of_fixed_words_and_typed_places_loads() {
    let definitions = load([operator("c.toml", COMMAND)]).unwrap();
    let ToolRun::Command(command) = &definitions.get("ready").unwrap().tool().run else { panic!("not a command") };
    assert_eq!(command.argv, ["/usr/bin/pg_isready", "--timeout={seconds}", "{name}"]);
}

#[test]
fn a_place_fills_a_whole_word_and_names_an_argument() {
    let with = |words: &str| {
        let text = COMMAND.replace(r#"["/usr/bin/pg_isready", "--timeout={seconds}", "{name}"]"#, words);
        load([operator("c.toml", &text)]).unwrap_err()
    };
    let all = [
        with("[]"),
        with(r#"["{name}"]"#),
        with(r#"["./ready"]"#),
        with(r#"["/bin/x", "a{name}"]"#),
        with(r#"["/bin/x", "{name}{seconds}"]"#),
        with(r#"["/bin/x", "-t={name}"]"#),
        with(r#"["/bin/x", "--t={name} x"]"#),
        with(r#"["/bin/x", "{seconds}"]"#),
        with(r#"["/bin/x", "--t={nam}"]"#),
        with(r#"["/bin/x", "--t={words}"]"#),
        with("[\"/bin/x\", \"a\\nb\"]"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    c.toml:10: `argv` is empty: its first item is the program
    c.toml:10: the program is fixed: a placeholder can't stand for it
    c.toml:10: the program `./ready` is named by its absolute path, or by its name alone
    c.toml:10: `a{name}`: a placeholder fills a whole word, or all behind the `=` of a long flag
    c.toml:10: `{name}{seconds}`: a placeholder fills a whole word, or all behind the `=` of a long flag
    c.toml:10: `-t={name}`: a placeholder fills a whole word, or all behind the `=` of a long flag
    c.toml:10: `--t={name} x`: a placeholder fills a whole word, or all behind the `=` of a long flag
    c.toml:10: `{seconds}`: a word of its own must be `required` or have a `default`; write `--flag={..}` for one that may be left out
    c.toml:10: `{nam}` names no argument; did you mean `name`?
    c.toml:10: `{words}`: a list of words is no word; give it another type
    c.toml:10: `a\nb`: a word has no control characters and at most 1000 bytes
    ");
}

#[test]
fn a_command_says_that_it_is_one_and_is_not_for_those_who_only_search() {
    let read = COMMAND.replace("\"shell\"", "\"read\"");
    let explore = COMMAND.replace("[\"general-purpose\"]", "[\"explore\", \"general-purpose\"]");
    let http = COMMAND.replace(
        "run.command.argv = [\"/usr/bin/pg_isready\", \"--timeout={seconds}\", \"{name}\"]",
        "run.http = { source = \"deploys\", path = \"/x\" }",
    );
    let floor = COMMAND.replace("version = 1", "version = 1\ntier_floor = \"high\"");
    let all = [read, explore, http, floor].map(|text| load([operator("c.toml", &text)]).unwrap_err());
    insta::assert_snapshot!(all.join("\n"), @r#"
    c.toml:10: a tool that runs a command says `risk = "shell"`; it can only look
    c.toml:1: the role `explore` runs no commands: take it out of `roles`
    c.toml:10: `risk = "shell"` is of tools that run a command; over HTTP it is `read` or `write`
    c.toml:3: what only looks is never asked for; `tier_floor` belongs to write tools
    "#);
}
