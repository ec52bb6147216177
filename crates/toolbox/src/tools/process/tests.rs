//! Programs end with their call, whatever they do.

use std::time::Duration;

use super::*;

fn shell(script: &str, max_stdout: usize) -> (Program, Vec<OsString>, usize) {
    (Program::find("sh").unwrap(), vec!["-c".into(), script.into()], max_stdout)
}

async fn carried_out((program, args, max_stdout): (Program, Vec<OsString>, usize)) -> Finished {
    let env = vec![("ONLY".into(), "this".into())];
    run(Invocation { program: &program, args, env, directory: Path::new("/"), max_stdout }).await.unwrap()
}

#[tokio::test]
async fn the_environment_is_what_the_caller_lists_and_standard_input_is_empty() {
    let finished = carried_out(shell("echo $ONLY-$HOME-$CARGO; cat; echo gone >&2; exit 3", 1000)).await;
    let expected = Finished { end: End::Exited(3), stdout: b"this--\n".to_vec(), stderr: "gone\n".to_owned() };
    assert_eq!(finished, expected);
}

#[tokio::test]
async fn output_beyond_the_limit_ends_the_program() {
    let finished = carried_out(shell("while :; do echo yes; done", 10_000)).await;
    assert_eq!((finished.end, finished.stdout.len()), (End::Cut, 10_000));
    let exact = carried_out(shell("printf 12345", 5)).await;
    assert_eq!((exact.end, exact.stdout.len()), (End::Exited(0), 5));
}

#[tokio::test]
async fn rs_03_a_gibibyte_without_a_line_end_is_cut_where_the_limit_stands() {
    let (program, args) = (Program::find("head").unwrap(), ["-c", "1G", "/dev/zero"].map(OsString::from).to_vec());
    let finished = carried_out((program, args, 1 << 20)).await;
    // What stands at the cut may be half a secret and is left out.
    assert!(finished.end == End::Cut && (1_000_000..=1 << 20).contains(&finished.stdout.len()));
    assert!(finished.stdout.capacity() <= 4 << 20, "{}", finished.stdout.capacity());
}

#[tokio::test]
async fn a_long_complaint_does_not_block() {
    let finished = carried_out(shell("i=0; while [ $i -lt 20000 ]; do echo complaint >&2; i=$((i+1)); done", 10)).await;
    // The last word was cut, and half a word may be half a secret.
    let whole_words = MAX_STDERR - MAX_STDERR % "complaint\n".len();
    assert_eq!((finished.end, finished.stderr.len()), (End::Exited(0), whole_words));
}

#[tokio::test]
async fn dropping_the_call_ends_the_whole_group() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("alive");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    // A grandchild holds the pipe open for writing; the reader sees its end when the last of them has died.
    let script = format!("sh -c 'exec 3>{0}; echo up >&3; sleep 600' & wait", pipe.display());
    let call = tokio::spawn(carried_out(shell(&script, 10)));
    let reader = tokio::task::spawn_blocking(move || {
        use std::io::{BufRead as _, Read as _};
        let mut pipe = std::io::BufReader::new(std::fs::File::open(pipe).unwrap());
        let mut first = String::new();
        pipe.read_line(&mut first).unwrap();
        (first, std::thread::spawn(move || pipe.read_to_string(&mut String::new()).unwrap()))
    });
    let (first, ended) = reader.await.unwrap();
    assert_eq!(first, "up\n");
    call.abort();
    let ended = tokio::task::spawn_blocking(move || ended.join().unwrap());
    tokio::time::timeout(Duration::from_secs(10), ended).await.unwrap().unwrap();
}

#[test]
fn a_program_is_pinned_by_an_absolute_path() {
    assert_eq!(Program::at("git".into()), None);
    assert_eq!(Program::find("no-such-program"), None);
}

/// A secret over the limit is not left in halves.
#[tokio::test]
async fn rd_06_what_a_limit_cut_holds_no_half_of_a_secret() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    for limit in [20, 30, 45] {
        let finished = carried_out(shell(&format!("echo sent with {token} and so on; sleep 9"), limit)).await;
        assert_eq!((finished.end, &*finished.stdout), (End::Cut, &b"sent with "[..]), "{limit}");
    }
    let much =
        format!("i=0; while [ $i -lt 405 ]; do echo 123456789 >&2; i=$((i+1)); done; echo 'sent with {token}' >&2");
    let finished = carried_out(shell(&much, 10)).await;
    assert!(finished.stderr.ends_with("sent with "), "{}", finished.stderr);
}
