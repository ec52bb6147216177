//! Without a sandbox there are no such tools, and it is said why.

use std::path::{Path, PathBuf};

use super::*;

fn config(text: &str) -> Config {
    Config::parse(Path::new("shell"), &format!("store.path = \"/nowhere/warrant.db\"\n{text}")).unwrap()
}

#[test]
fn where_the_launcher_does_not_say_that_it_holds_there_are_no_commands() {
    let config = config("[commands]\nallow_readonly_shell = true");
    for launcher in ["/bin/true", "/bin/false", "/bin/cat", "/no/such/launcher"] {
        let mut problems = Vec::new();
        let shell = Shell::with(Sandbox::tried_with(PathBuf::from(launcher)), &config, &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        assert!(shell.ready.is_none(), "{launcher} was taken for a sandbox");
        let said = shell.says().unwrap().unwrap_err();
        assert!(said.starts_with("`[commands]`: no command is run, since the sandbox does not hold here: "), "{said}");
    }
}

#[test]
fn without_leave_nothing_is_tried_or_said() {
    let mut problems = Vec::new();
    let shell = Shell::open(&config(""), &mut problems);
    assert!(shell.ready.is_none() && shell.why_not.is_none() && shell.says().is_none() && problems.is_empty());
}

#[test]
fn what_is_wrong_with_a_grammar_is_told_with_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine.toml"), "program = \"mine\"\nabout = \"x\"\n[flags]\n\"-x\" = \"numbr\"\n")
        .unwrap();
    let text = format!("[commands]\nallow_readonly_shell = true\ndirs = [\"{}\"]", dir.path().display());
    let mut problems = Vec::new();
    Shell::with(Err("not here".to_owned()), &config(&text), &mut problems);
    assert!(problems.iter().any(|problem| problem.contains("mine.toml:4: there is no type `numbr`")), "{problems:?}");
}
