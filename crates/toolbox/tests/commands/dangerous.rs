//! What the manuals of the programs give for doing more than looking.

use super::{classified, words};

/// What the manuals give for writing, for running something else, for connecting, for waiting without end, and for reading
/// what a list names. Each is tried as it stands, with a value in each of its places, behind a harmless flag, and last.
const DANGEROUS: &[(&str, &[&str])] = &[
    ("wc", &["--files0-from"]),
    ("tail", &["-f", "-F", "--follow", "--retry", "--pid", "-s", "--sleep-interval", "--max-unchanged-stats"]),
    ("rg", &["--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip", "--type-add", "--type-clear", "--config"]),
    (
        "find",
        &[
            "-delete",
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from",
            "-D",
        ],
    ),
    (
        "sort",
        &[
            "-o",
            "--output",
            "-T",
            "--temporary-directory",
            "-S",
            "--buffer-size",
            "--compress-program",
            "--files0-from",
            "--random-source",
            "-R",
            "--random-sort",
            "--batch-size",
            "--parallel",
        ],
    ),
    ("du", &["--files0-from"]),
    ("df", &["--sync"]),
    (
        "file",
        &[
            "-C",
            "--compile",
            "-m",
            "--magic-file",
            "-f",
            "--files-from",
            "-z",
            "-Z",
            "--uncompress",
            "-p",
            "--preserve-date",
            "-s",
            "-S",
            "-P",
        ],
    ),
    ("free", &["-s", "--seconds", "-c", "--count"]),
    (
        "ss",
        &[
            "-K",
            "--kill",
            "-D",
            "--diag",
            "-F",
            "--filter",
            "-r",
            "--resolve",
            "-E",
            "--events",
            "-N",
            "--net",
            "-b",
            "--bpf",
        ],
    ),
    ("ip", &["-b", "-batch", "-force", "-n", "-netns", "-a", "-all", "-r", "-resolve", "-l", "-rcvbuf", "-t", "-ts"]),
    ("date", &["-s", "--set", "-f", "--file"]),
    ("hostname", &["-F", "--file", "-b", "--boot", "-f", "--fqdn", "-d", "-A", "-i", "-I", "-y", "--yp", "--nis"]),
    ("sha256sum", &["-c", "--check"]),
    ("diff", &["-l", "--paginate", "--to-file", "--from-file", "-D", "--ifdef", "--line-format", "--old-line-format"]),
    ("sed", &["-i", "--in-place", "-f", "--file", "-s", "-z", "-E", "-u"]),
    ("ls", &["--hyperlink", "-D", "--dired"]),
    ("ps", &["e", "-M", "Z", "L", "--context"]),
    ("uptime", &["-x"]),
];

#[test]
fn sh_37_every_dangerous_flag_of_the_manuals_is_refused() {
    for (program, flags) in DANGEROUS {
        for flag in *flags {
            let value = format!("{flag}=x");
            let attached = format!("{flag}x");
            let cut: String = flag.chars().take(flag.len().saturating_sub(1).max(2)).collect();
            for words in [
                vec![*flag],
                vec![*flag, "x"],
                vec![value.as_str()],
                vec![attached.as_str()],
                vec!["a", *flag],
                vec!["a", *flag, "x"],
                vec!["a", "b", *flag],
            ] {
                let argv: Vec<&str> = std::iter::once(*program).chain(words).collect();
                // `find` and `ps` read a word without a dash as a path or as flags, which they may well be.
                if let Ok(given) = classified(&super::words(&argv)) {
                    assert!(!given.iter().any(|word| word == flag || *word == value), "{argv:?} passes as {given:?}");
                    assert!(attached == argv[argv.len() - 1], "{argv:?} passes as {given:?}");
                }
            }
            if flag.starts_with("--") && cut.len() > 4 {
                assert!(classified(&super::words(&[program, &cut, "a"])).is_err(), "{program} {cut}");
            }
        }
    }
    // What an operand alone can do.
    let operands: [&[&str]; 10] = [
        &["uniq", "a", "out"],
        &["hostname", "evil"],
        &["date", "010100002030"],
        &["ip", "link", "set", "eth0", "down"],
        &["ip", "addr", "add", "10.0.0.1/8", "dev", "eth0"],
        &["ip", "route", "flush", "table", "all"],
        &["ip", "netns", "exec", "x", "sh"],
        &["ip", "addr", "save"],
        &["ss", "dst", "evil.example.org"],
        &["ps", "auxe"],
    ];
    for argv in operands {
        assert!(classified(&words(argv)).is_err(), "{argv:?}");
    }
}
