//! The documentation is held to the program: what it shows as a config, a tool, a runbook or a policy loads, what it shows as
//! a command parses, and its links lead somewhere.

#![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use warrant::app::{App, policy, runbooks};
use warrant::config::Config;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_in(dir: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(dir)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    files.sort();
    files
}

/// README, CHANGELOG and all of docs/.
fn pages() -> Vec<(PathBuf, String)> {
    let top = files_in(".", "md").into_iter();
    let all = top.chain(files_in("docs", "md")).chain(files_in("docs/decisions", "md"));
    all.map(|path| (path.clone(), fs::read_to_string(&path).unwrap())).collect()
}

/// The fenced blocks of a page whose first line is ```` ```KIND ````.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        if info == kind {
            found.push(body.join("\n") + "\n");
        }
    }
    found
}

fn all_blocks(kind: &str) -> Vec<String> {
    pages().iter().flat_map(|(_, page)| blocks(page, kind)).collect()
}

#[test]
fn every_config_shown_is_one() {
    let shown = pages().into_iter().flat_map(|(path, page)| {
        blocks(&page, "toml config").into_iter().map(move |text| (path.clone(), text)).collect::<Vec<_>>()
    });
    let examples =
        files_in("examples", "toml").into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap()));
    let all: Vec<(PathBuf, String)> = shown.chain(examples).collect();
    assert!(all.len() > 8, "{}", all.len());
    for (path, text) in all {
        if let Err(error) = Config::parse(&path, &text) {
            panic!("{error}\n{text}");
        }
    }
}

/// The commented-out sections of the example count too: people take the `#` away.
#[test]
fn the_example_config_holds_with_all_its_comments_taken_away() {
    let text = fs::read_to_string(root().join("examples/warrant.toml")).unwrap();
    let plain = |line: &str| {
        let bare = line.strip_prefix("# ").unwrap_or(line);
        let is_setting = bare.starts_with('[') || bare.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        if is_setting { bare.to_owned() } else { line.to_owned() }
    };
    let text: Vec<String> = text.lines().map(plain).collect();
    Config::parse(Path::new("examples/warrant.toml"), &text.join("\n")).unwrap();
}

#[test]
fn tools_runbooks_and_policies_shown_load_and_hold() {
    let dir = tempfile::tempdir().unwrap();
    let put = |kind: &str, name: &str, text: &str| {
        let into = dir.path().join(kind);
        fs::create_dir_all(&into).unwrap();
        fs::write(into.join(name), text).unwrap();
    };
    let mut count = 0;
    for (kind, extension, block) in
        [("tools", "toml", "toml tool"), ("policies", "cedar", "cedar"), ("runbooks", "md", "markdown runbook")]
    {
        for text in all_blocks(block) {
            count += 1;
            put(kind, &format!("shown-{count}.{extension}"), &text);
        }
    }
    assert!(count >= 4, "{count}");
    put("policies", "tests.toml", &all_blocks("toml cases").join("\n"));
    for example in files_in("examples/tools", "toml") {
        put("tools", example.file_name().unwrap().to_str().unwrap(), &fs::read_to_string(&example).unwrap());
    }
    let at = dir.path().display();
    let text = format!(
        "tools.dirs = [\"{at}/tools\"]\npolicies.dirs = [\"{at}/policies\"]\nrunbooks.dirs = [\"{at}/runbooks\"]\n\
         store.path = \"{at}/warrant.db\"\n\
         [http.flags]\nurl = \"http://127.0.0.1:9\"\n[http.grafana]\nurl = \"http://127.0.0.1:9\"\n"
    );
    let config = Config::parse(Path::new("docs"), &text).unwrap();
    let app = App::open(config, &|_| None, None).unwrap_or_else(|fault| panic!("{fault}"));
    let wrong: Vec<String> = runbooks::lint(&app).iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let checked = policy::check(&app);
    assert!(checked.problems.is_empty(), "{:#?}", checked.problems);
    assert!(checked.cases >= 12, "{}", checked.cases);
}

/// Splits a command line as a shell does, quotes and all.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut open, mut begun) = (String::new(), None, false);
    for c in line.chars() {
        match (open, c) {
            (Some(quote), c) if c == quote => open = None,
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => (open, begun) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, c) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// The commands of a page: lines of its `sh` blocks, and whole code spans.
fn commands(page: &str) -> Vec<Vec<String>> {
    let scripts = blocks(page, "sh").join("\n").replace("\\\n", " ");
    let mut lines: Vec<String> = scripts.lines().map(str::to_owned).collect();
    let mut is_block = false;
    for line in page.lines() {
        is_block ^= line.starts_with("```");
        if !is_block {
            lines.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    let ours = |line: String| {
        let mut words = words(line.split(" #").next().unwrap_or_default());
        // Variables for one command, and a redirection of its output, are the shell's.
        words.truncate(words.iter().position(|word| word.starts_with('>')).unwrap_or(words.len()));
        let words = words.into_iter().skip_while(|word| word.contains('=') && !word.starts_with('-'));
        let words: Vec<String> = words.collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["warrant", rest @ ..]
            | ["cargo", "run", "--", rest @ ..]
            | ["cargo", "run", "--release", "--", rest @ ..] => {
                Some(rest.iter().map(|word| (*word).to_owned()).collect())
            }
            _ => None,
        }
    };
    lines.into_iter().filter_map(ours).collect()
}

#[test]
fn every_command_shown_parses() {
    let mut count = 0;
    for (path, page) in pages() {
        for mut command in commands(&page) {
            count += 1;
            // With `--help` at its end a command is parsed and not carried out.
            let version = command.iter().any(|word| word == "--version");
            if !version {
                command.push("--help".to_owned());
            }
            let ran = Command::new(env!("CARGO_BIN_EXE_warrant")).args(&command).output().unwrap();
            let told = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(ran.status.success(), "{}: warrant {}\n{told}", path.display(), command.join(" "));
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn every_link_leads_somewhere() {
    for (path, page) in pages() {
        let dir = path.parent().unwrap();
        let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let pictures = page.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for link in links.chain(pictures) {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(dir.join(file).exists(), "{}: `{link}` leads nowhere", path.display());
        }
    }
}
