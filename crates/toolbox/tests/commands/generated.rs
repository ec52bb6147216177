//! Commands made with a seed: from the flags of the grammars, and from those that the programs' own help names.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use warrant_toolbox::tools::command::grammar::{Parser, Takes};
use warrant_toolbox::tools::command::value::{Type, Use};

use super::COMMANDS;

/// Flags that the programs' own help names, whether a grammar knows them or not.
static HELP: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    COMMANDS.known().map(|known| (known.grammar.program.clone(), flags_of_help(&known.grammar.program))).collect()
});

fn flags_of_help(program: &str) -> Vec<String> {
    let Some(found) = COMMANDS.get(program).and_then(|known| known.program.clone()) else { return Vec::new() };
    let args: &[&str] = match program {
        "ps" => &["--help", "all"],
        "find" | "ip" => &["-help"],
        _ => &["--help"],
    };
    #[expect(clippy::disallowed_methods, reason = "a test asks a program for its flags")]
    let output = Command::new(found.path()).args(args).stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut flags: Vec<String> = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| word.starts_with('-') && word.len() > 1 && word.chars().any(char::is_alphanumeric))
        .map(str::to_owned)
        .collect();
    flags.sort();
    flags.dedup();
    flags
}

/// What is put where a program may want it, and what it must never get.
const NAMES: [&str; 22] = [
    "app.log",
    "logs",
    ".",
    "conf/app.toml",
    "data/orders.csv",
    "README.md",
    "out",
    "x",
    "-",
    "--",
    "/etc/passwd",
    "../x",
    "logs/../x",
    "-o",
    "+5",
    "ERROR",
    "a|b",
    "1,2p",
    "w out",
    "$(id)",
    "*",
    "src",
];

const VALUES: [&str; 26] = [
    "1", "5", "-1", "+2", "2,2n", ",", "\t", "x", "never", "always", "touch", "1K", "99G", "f", "name", "%n %s", "@0",
    "pid,args", "-rss", "out", "/tmp/out", "./run", "%T/out", "tcp", "inet", "+%F",
];

/// A source of commands; the same seed gives the same ones.
pub(super) struct Words {
    state: u64,
    programs: Vec<String>,
}

impl Words {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, programs: COMMANDS.known().map(|known| known.grammar.program.clone()).collect() }
    }

    /// The next number (splitmix64).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(count.max(1)).unwrap()).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick(&mut self, of: &[&str]) -> String {
        let at = self.below(of.len());
        of[at].to_owned()
    }

    /// A command: the right words more often than not, so that many pass and every flag comes up.
    pub(super) fn argv(&mut self) -> Vec<String> {
        let at = self.below(self.programs.len());
        let program = self.programs[at].clone();
        let known = COMMANDS.get(&program).unwrap();
        let mut argv = vec![program.clone()];
        for _ in 0..self.below(4) {
            if self.chance(18) {
                self.help(&program, &mut argv);
                continue;
            }
            match &known.grammar.parser {
                Parser::Getopt(getopt) => self.flag(&getopt.flags, &mut argv),
                Parser::Expression(_) => {}
                Parser::Steps(steps) => self.flag(&steps.flags, &mut argv),
            }
        }
        match &known.grammar.parser {
            Parser::Getopt(getopt) => {
                for flag in &getopt.required {
                    if self.chance(30) {
                        argv.push(flag.clone());
                    }
                }
                let given = argv.iter().any(|word| getopt.operands.unless.iter().any(|flag| word.starts_with(flag)));
                for kind in getopt.operands.first.iter().filter(|_| !given) {
                    let value = self.value(kind);
                    argv.push(value);
                }
                if let Some(kind) = &getopt.operands.rest {
                    let most = getopt.operands.max.min(3);
                    for _ in 0..getopt.operands.min.max(self.below(most + 1)) {
                        let value = self.value(kind);
                        argv.push(value);
                    }
                }
            }
            Parser::Expression(expression) => {
                if let Some(kind) = expression.operands.rest.as_ref().filter(|_| argv.len() == 1) {
                    let value = self.value(kind);
                    argv.push(value);
                }
                for _ in 0..=self.below(3) {
                    let at = self.below(expression.words.len());
                    let word = &expression.words[at];
                    let name = if word.shape.is_some() {
                        self.pick(&["-ef", "aux", "-eo", "axo", "-p", "-newermt", "-newerma"])
                    } else {
                        word.name.clone()
                    };
                    argv.push(name);
                    for kind in &word.values {
                        let value = self.value(kind);
                        argv.push(value);
                    }
                }
            }
            Parser::Steps(steps) => {
                let at = self.below(steps.forms.len());
                let form = &steps.forms[at];
                argv.extend(form.object.first().cloned());
                let verb = self.below(form.verb.len());
                argv.push(form.verb[verb].clone());
                for _ in 0..self.below(3) {
                    let at = self.below(form.selectors.len());
                    let Some((word, kinds)) = form.selectors.iter().nth(at) else { continue };
                    argv.push(word.clone());
                    for kind in kinds {
                        let value = self.value(kind);
                        argv.push(value);
                    }
                }
            }
        }
        if self.chance(6) {
            let (at, word) = (1 + self.below(argv.len()), self.pick(&NAMES));
            argv.insert(at.min(argv.len()), word);
        }
        argv
    }

    fn flag(&mut self, flags: &BTreeMap<String, Takes>, argv: &mut Vec<String>) {
        let at = self.below(flags.len());
        let Some((name, takes)) = flags.iter().nth(at) else { return };
        let long = name.starts_with("--");
        match takes {
            Takes::Nothing => argv.push(name.clone()),
            Takes::Value(kind) => {
                let value = self.value(kind);
                match (long, self.chance(50)) {
                    (true, true) => argv.push(format!("{name}={value}")),
                    (false, true) => argv.push(format!("{name}{value}")),
                    (_, false) => argv.extend([name.clone(), value]),
                }
            }
            Takes::Perhaps(kind) => {
                let value = self.value(kind);
                argv.push(if long { format!("{name}={value}") } else { format!("{name}{value}") });
            }
        }
    }

    /// A flag of the program's own help, with a value in one of the three places, or cut short, or in a cluster.
    fn help(&mut self, program: &str, argv: &mut Vec<String>) {
        let flags = &HELP[program];
        if flags.is_empty() {
            return;
        }
        let at = self.below(flags.len());
        let flag = flags[at].clone();
        let value = self.pick(&VALUES);
        match self.below(6) {
            0 => argv.push(flag),
            1 => argv.extend([flag, value]),
            2 => argv.push(format!("{flag}={value}")),
            3 => argv.push(format!("{flag}{value}")),
            4 => argv.push(flag.chars().take(flag.len().saturating_sub(2).max(2)).collect()),
            _ => argv.push(format!("-{}{}", self.pick(&["n", "r", "a", "l"]), flag.trim_start_matches('-'))),
        }
    }

    fn value(&mut self, kind: &Type) -> String {
        if self.chance(7) {
            return self.pick(&VALUES);
        }
        match kind {
            Type::Pattern => self.pick(&["ERROR", "a|b", "*.log", "%p %s", "x", "[a-z]+", "-x", "timeout", "%n"]),
            Type::Int(min, max) => {
                let value = (*min).max(1).min(*max) + i64::try_from(self.below(3)).unwrap();
                value.to_string()
            }
            Type::OneOf(choices) => {
                let at = self.below(choices.len());
                choices[at].clone()
            }
            Type::Match(_) => {
                // The first of some that fits, from a place that the seed says.
                let from = self.below(FITTING.len());
                let all = FITTING.iter().cycle().skip(from).take(FITTING.len());
                all.copied().find(|text| kind.fits(text)).unwrap_or("1").to_owned()
            }
            Type::Path(Use::File) => self.pick(&[
                "app.log",
                "data/orders.csv",
                "conf/app.toml",
                "README.md",
                "./app.log",
                "SHA256SUMS",
                "app.log",
            ]),
            Type::Path(Use::Tree | Use::Entry) => {
                self.pick(&["app.log", ".", "logs", "conf", "src", "./data", "README.md"])
            }
        }
    }
}

/// Texts of which some one fits every form that a built-in grammar has.
const FITTING: &[&str] = &[
    "1",
    "10",
    "+5",
    "-3",
    "1K",
    "10M",
    "K",
    "1,3-5",
    "2,2n",
    ",",
    ":",
    "f",
    "d",
    "f,d",
    "644",
    "-u+w",
    "root",
    "name",
    "2026-01-01",
    "@0",
    "1 day ago",
    "+%F",
    "full-iso",
    "pid,rss,args",
    "-rss,pid",
    "1,2",
    "state established",
    "dport = :443",
    "127.0.0.1",
    "lo",
    "main",
    "5,9p",
    "size,pcent",
];
