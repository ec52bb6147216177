//! The cases of shell classifiers, and the rule behind each.

use warrant_toolbox::tools::command::refusal::Reason;

use super::{COMMANDS, classified, words};

/// Every one is refused, for this reason.
#[track_caller]
fn refused(reason: Reason, cases: &[&[&str]]) {
    for case in cases {
        match classified(&words(case)) {
            Ok(argv) => panic!("{case:?} passes as {argv:?}"),
            Err(refusal) => assert_eq!(refusal.reason, reason, "{case:?}: {refusal}"),
        }
    }
}

/// What is said to whoever writes this.
fn told(case: &[&str]) -> String {
    classified(&words(case)).unwrap_err().message
}

#[test]
fn sh_01_sh_02_sh_03_sh_04_find_only_finds() {
    refused(
        Reason::FlagNotAllowed,
        &[
            &["find", "victim", "-delete"],
            &["find", ".", "-maxdepth", "0", "-exec", "python3", "-c", "x", "{}", "+"],
            &["find", ".", "-execdir", "sh", "{}", "+"],
            &["find", ".", "-ok", "sh", "{}", ";"],
            &["find", ".", "-okdir", "sh", "{}", ";"],
            &["find", ".", "-fprintf", "out", "x"],
            &["find", ".", "-fls", "out"],
            &["find", ".", "-fprint", "out"],
            &["find", ".", "-fprint0", "out"],
            &["find", "-files0-from", "list"],
            &["find", ".", "-dele"],
            &["find", "-D", "exec", "."],
            &["find", ".", "-name", "x", "-or", "-delete"],
        ],
    );
    assert!(told(&["find", ".", "-exec", "id", ";"]).contains("run it on the files that are found"));
}

#[test]
fn sh_06_sh_07_control_characters_are_in_no_command() {
    refused(
        Reason::ControlChar,
        &[
            &["ls\ntouch pwn"],
            &["ls", "\ntouch pwn"],
            &["ls\r\ntouch pwn"],
            &["ls", "a\x0bb"],
            &["ls", "a\x0cb"],
            &["cat", "a\0.txt"],
            &["grep", "a\rb", "f"],
            &["ls", "\x1b[2J"],
            &["ls", "a\u{7f}"],
            &["ls", "a\u{85}"],
        ],
    );
}

#[test]
fn sh_08_sh_09_sh_10_sh_11_sed_prints_lines_by_number_and_nothing_else() {
    refused(
        Reason::FlagNotAllowed,
        &[
            &["sed", "-i", "s/a/b/", "f"],
            &["sed", "-n", "-i.bak", "1p", "f"],
            &["sed", "-ni", "1p", "f"],
            &["sed", "--in-place", "s/a/b/", "f"],
            &["sed", "--in-plac", "-n", "1p", "f"],
            &["sed", "-n", "1p", "f", "-i"],
            &["sed", "-n", "-f", "evil.sed", "f"],
            &["sed", "-f", "evil.sed", "f"],
            &["sed", "1p", "f"],
        ],
    );
    let scripts = [
        "1e touch pwn",
        "e",
        "s/.*/touch pwn/e",
        "w pwn",
        "s/a/b/w pwn",
        "1w pwn",
        "r /etc/passwd",
        "1r x",
        "1p;1e id",
        "1p\\nw x",
        "/a/p",
        "1,2d",
        "1!p",
        "1~2p",
        "$!N",
        "p",
        "1,+3w x",
        "{p}",
        "1p #",
        " 1p",
        "1p ",
        "1,2,3p",
    ];
    for script in scripts {
        refused(Reason::ValueInvalid, &[&["sed", "-n", script, "f"], &["sed", "-n", "-e", script, "f"]]);
    }
    refused(Reason::ValueInvalid, &[&["sed", "-n", "1p", "-e", "w x", "f"]]);
    assert_eq!(classified(&words(&["sed", "-n", "5,9p", "f"])).unwrap(), ["--sandbox", "-n", "--", "5,9p", "f"]);
}

#[test]
fn sh_12_sh_13_rg_runs_no_other_program_and_reads_no_config() {
    refused(
        Reason::FlagNotAllowed,
        &[
            &["rg", "--pre", "touch", "x"],
            &["rg", "--pre=touch", "x"],
            &["rg", "--pre-glob", "*", "x"],
            &["rg", "--hostname-bin", "x", "y"],
            &["rg", "--hostname-bin=x", "y"],
            &["rg", "-z", "x"],
            &["rg", "-iz", "x"],
            &["rg", "--search-zip", "x"],
            &["rg", "--search-zi", "x"],
            &["rg", "--type-add", "a:include:all", "x"],
        ],
    );
    assert_eq!(classified(&words(&["rg", "x"])).unwrap().first().map(String::as_str), Some("--no-config"));
}

#[test]
fn sh_14_sort_writes_nothing_and_runs_nothing() {
    refused(
        Reason::FlagNotAllowed,
        &[
            &["sort", "-o", "out", "f"],
            &["sort", "-oout", "f"],
            &["sort", "-no", "out", "f"],
            &["sort", "f", "-o", "f"],
            &["sort", "--output=out", "f"],
            &["sort", "--outp=out", "f"],
            &["sort", "--compress-prog=./x", "-S1", "f"],
            &["sort", "--compress-program=./x", "f"],
            &["sort", "-T", ".", "f"],
            &["sort", "-S1", "f"],
            &["sort", "--files0-from=f"],
            &["sort", "--random-source=/dev/zero", "-R", "f"],
        ],
    );
    refused(Reason::OperandNotAllowed, &[&["uniq", "in", "out"], &["uniq", "--", "in", "out"]]);
}

#[test]
fn sh_16_what_never_ends_is_not_begun() {
    refused(
        Reason::FlagNotAllowed,
        &[
            &["tail", "-F", "f"],
            &["tail", "--pid=1", "-f", "f"],
            &["tail", "-fn", "1", "f"],
            &["tail", "--follow=name", "f"],
            &["tail", "--retry", "f"],
            &["free", "-s", "1"],
            &["ss", "-E"],
        ],
    );
    refused(Reason::PathOutsideWorkspace, &[&["cat", "/dev/zero"], &["head", "-c", "99G", "/dev/zero"]]);
    refused(Reason::ProgramNotAllowed, &[&["seq", "1", "99999999999"], &["yes"], &["sleep", "600"], &["watch", "ls"]]);
    refused(Reason::OperandNotAllowed, &[&["cat"], &["sort"], &["grep", "x"], &["cat", "-"], &["ip", "monitor"]]);
}

#[test]
fn sh_18_sh_24_paths_lie_in_the_workspace_and_are_taken_to_the_letter() {
    refused(
        Reason::PathOutsideWorkspace,
        &[
            &["cat", "/etc/shadow"],
            &["cat", "/proc/self/environ"],
            &["cat", "~/.ssh/id_rsa"],
            &["cat", "~"],
            &["cat", "../x"],
            &["cat", "a/../../x"],
            &["ls", "-la", "/"],
            &["grep", "-r", "x", "/etc"],
            &["grep", "-f", "/etc/shadow", "f"],
            &["grep", "-f/etc/shadow", "f"],
            &["grep", "--file=/etc/shadow", "f"],
            &["find", "/", "-name", "x"],
            &["find", ".", "-newer", "/etc/shadow"],
            &["date", "-r", "/etc/shadow"],
            &["diff", "a", "/etc/shadow"],
            &["du", "-X", "/etc/shadow", "."],
        ],
    );
    refused(Reason::ValueInvalid, &[&["cat", "%2e%2e/x"], &["cat", "a\u{2215}b"], &["cat", "a."]]);
    // No shell reads these: each is a name, and the guard finds no such file.
    for name in ["$HOME/.aws/credentials", "*", "{a,b}", "a?", "[ab]"] {
        assert_eq!(classified(&words(&["cat", name])).unwrap(), ["--", name]);
    }
}

#[test]
fn sh_19_sh_20_sh_23_sh_31_sh_33_sh_34_programs_that_can_do_anything_are_not_run() {
    let programs = [
        "awk", "gawk", "mawk", "git", "env", "nice", "timeout", "xargs", "watch", "setsid", "ionice", "nohup",
        "busybox", "sh", "bash", "ping", "nslookup", "dig", "host", "kubectl", "jq", "curl", "docker", "python3",
        "perl", "tee", "dd", "sudo", "ssh", "nc", "make",
    ];
    for program in programs {
        refused(Reason::ProgramNotAllowed, &[&[program], &[program, "x"], &[program, "-S", "sh -c id", "ls"]]);
    }
    assert!(told(&["git", "log"]).contains("`recent_changes`"));
    assert!(told(&["awk", "{print $1}"]).contains("`cut`"));
    assert!(told(&["kubectl", "get", "secret"]).contains("no tool for clusters"));
    assert!(told(&["curl", "-o", "f"]).contains("`http_check`"));
    assert!(told(&["journalctl"]).contains("`search_logs`"));
}

#[test]
fn sh_22_sh_28_sh_29_the_first_word_is_a_name_of_the_list() {
    refused(
        Reason::ProgramNotAllowed,
        &[
            &["FOO=bar", "ls"],
            &["export", "X=1"],
            &["X=1"],
            &["ls "],
            &[" ls"],
            &["./ls"],
            &["/bin/ls"],
            &["/var/x/ls"],
            &["LS"],
            &["ls -la"],
            &[""],
            &["-l"],
            &["l\u{200b}s"],
        ],
    );
    refused(Reason::Empty, &[&[]]);
    // What runs is what was found in the directories of the system when Warrant started.
    for known in COMMANDS.known() {
        let Some(program) = &known.program else { continue };
        assert!(program.path().is_absolute() && !program.path().starts_with("."), "{program:?}");
    }
}

#[test]
fn sh_25_sh_27_there_is_no_shell() {
    refused(
        Reason::Operator,
        &[
            &["ls;", "id"],
            &["ls;id"],
            &["ls", ";", "id"],
            &["ls", "&&", "id"],
            &["ls", "||", "id"],
            &["ls", "|", "sh"],
            &["ls", "|sh"],
            &["cat", "`id`"],
            &["cat", "$(id)"],
            &["cat", "${IFS}"],
            &["diff", "<(id)", "a"],
            &["cat", "a", ">", "f"],
            &["cat", "a", ">f"],
            &["cat", "a", "2>&1"],
            &["cat", "a", ">&2", "f"],
            &["cat", "a", "&"],
            &["((1))"],
            &["[[", "x", "]]"],
            &["cat", "<<EOF"],
            &["uname", ";", "id"],
            &["free", "|", "head"],
            &["ps", "aux", "|", "grep", "x"],
            &["df", "-h", "&&", "id"],
            &["ip", "a", "|", "grep", "x"],
        ],
    );
    let is_refused = |argv: &[&str]| assert!(classified(&words(argv)).is_err(), "{argv:?}");
    for word in ["\\-exec", "\"-exec\"", "-ex\"\"ec", "'-exec'", "$'-exec'", "-e\\xec"] {
        is_refused(&["find", ".", word, "id", ";"]);
    }
    is_refused(&["ls", "\\\n-la"]);
}

#[test]
fn sh_32_nothing_that_asks_for_a_terminal_is_run() {
    let programs = ["journalctl", "systemctl", "less", "more", "man", "vi", "vim", "top", "git"];
    for program in programs {
        refused(Reason::ProgramNotAllowed, &[&[program, "status"]]);
    }
}

#[test]
fn sh_35_what_is_too_long_is_refused_before_anything_runs() {
    let long = "x".repeat(129 * 1024);
    let many: Vec<&str> = std::iter::once("cat").chain(std::iter::repeat_n("f", 10_000)).collect();
    let huge = "y".repeat(2 << 20);
    refused(Reason::TooLong, &[&["grep", &long, "f"], &many, &["cat", &huge], &[&huge]]);
    let pattern = "z".repeat(1_001);
    refused(Reason::TooLong, &[&["grep", &pattern, "f"]]);
}
