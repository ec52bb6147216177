use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use warrant_kernel::domain::plan::ApprovalId;

use super::*;

/// A socket that answers with what it was asked.
struct Echo {
    dir: TempDir,
    cancel: CancellationToken,
    ended: tokio::task::JoinHandle<()>,
}

impl Echo {
    fn begin() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("store.db"), "").unwrap();
        let socket = Socket::bind(&dir.path().join("store.db.sock")).unwrap();
        let cancel = CancellationToken::new();
        let answer = |peer: Peer, token: Option<String>, ask: Ask| async move {
            Answer::Done(json!({ "uid": peer.uid, "token": token, "ask": ask }))
        };
        let ended = tokio::spawn(socket.serve(answer, cancel.clone()));
        Self { dir, cancel, ended }
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("store.db")
    }

    async fn connect(&self) -> UnixStream {
        UnixStream::connect(self.dir.path().join("store.db.sock")).await.unwrap()
    }

    /// What is answered to these bytes, until the other end closes.
    async fn said(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The other end may close before all of a long line is sent.
        let _cut = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    async fn end(self) {
        self.cancel.cancel();
        self.ended.await.unwrap();
        assert!(!self.dir.path().join("store.db.sock").exists(), "the socket goes with who opened it");
    }
}

#[tokio::test]
async fn a_peer_is_who_the_kernel_says_and_not_who_it_claims_to_be() {
    let echo = Echo::begin();
    let asked = Ask::Show { approval: ApprovalId::nth(12) };
    let answer = ask(&echo.store(), None, asked).await.unwrap().unwrap();
    let uid = rustix::process::geteuid().as_raw();
    let shown = json!({ "uid": uid, "token": null, "ask": { "what": "show", "approval": "A12" } });
    assert_eq!(answer, Answer::Done(shown));
    let claims = br#"{"version":1,"uid":0,"person":"ben","ask":{"what":"list"}}"#;
    let answer = echo.said(&[claims.as_slice(), b"\n"].concat()).await;
    assert!(answer.starts_with(r#"{"refused":{"code":"GARBLED""#), "{answer}");
    echo.end().await;
}

#[tokio::test]
async fn garbage_a_huge_line_and_another_version_are_refused_and_the_next_is_answered() {
    let echo = Echo::begin();
    for garbage in ["\n", "approve A1\n", "\0\0\0\n", "[[[[[[\n", r#"{"version":1,"ask":{"what":"mint"}}"#] {
        let answer = echo.said(format!("{garbage}\n").as_bytes()).await;
        assert!(answer.starts_with(r#"{"refused":{"code":"GARBLED""#), "{garbage:?}: {answer}");
    }
    let deep = format!("{}\n", "[".repeat(60_000));
    assert!(echo.said(deep.as_bytes()).await.contains("GARBLED"));
    let huge = vec![b'x'; 4 << 20];
    let answer = echo.said(&huge).await;
    // The refusal may be lost to the reset that the unread rest brings; nothing else may come.
    assert!(answer.is_empty() || answer.contains("longer than 65536 bytes"), "{answer}");
    let newer = b"{\"version\":2,\"ask\":{\"what\":\"list\"}}\n";
    assert!(echo.said(newer).await.contains("use the same release on both sides"));
    assert!(matches!(ask(&echo.store(), None, Ask::List).await.unwrap(), Some(Answer::Done(_))));
    echo.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_nothing_is_let_go_and_takes_no_more_than_its_seats() {
    let echo = Echo::begin();
    let mut silent = Vec::new();
    for _ in 0..PER_USER {
        let mut stream = echo.connect().await;
        stream.write_all(b"{\"version\":").await.unwrap();
        silent.push(stream);
    }
    // The one beyond the seats is closed at once, not kept waiting.
    let mut beyond = echo.connect().await;
    let closed = tokio::time::timeout(Duration::from_secs(1), beyond.read(&mut [0; 8])).await;
    assert!(matches!(closed, Ok(Ok(0) | Err(_))), "{closed:?}");
    for mut stream in silent {
        let closed = tokio::time::timeout(2 * LINE_TIME, stream.read(&mut [0; 8])).await;
        assert!(matches!(closed, Ok(Ok(0))), "{closed:?}");
    }
    assert!(matches!(ask(&echo.store(), None, Ask::List).await.unwrap(), Some(Answer::Done(_))));
    echo.end().await;
}

#[tokio::test]
async fn a_socket_that_a_dead_process_left_is_replaced_and_anything_else_in_its_place_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let (store, path) = (dir.path().join("store.db"), dir.path().join("store.db.sock"));
    std::fs::write(&store, "").unwrap();
    assert!(ask(&store, None, Ask::List).await.unwrap().is_none());
    // Dropped without the file being removed, as by a process that is killed.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(ask(&store, None, Ask::List).await.unwrap().is_none());
    drop(Socket::bind(&path).unwrap());
    std::fs::write(&path, "mine").unwrap();
    assert!(matches!(Socket::bind(&path), Err(SocketError::InTheWay(_))));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let long = dir.path().join("d".repeat(120)).join("store.db.sock");
    assert!(matches!(Socket::bind(&long), Err(SocketError::LongPath(_))));
}

#[test]
fn nothing_is_told_to_a_stranger_who_answers_in_the_sequencers_place() {
    assert!(trusted(1000, 1000));
    assert!(trusted(0, 1000));
    assert!(!trusted(1001, 1000));
}

#[tokio::test]
async fn rs_04_a_request_that_two_readers_could_read_differently_is_refused() {
    let echo = Echo::begin();
    let vote = r#""seen":{"approval":"A1","revision":1,"digest":"abcdefabcdefabcd","whole":"no"}"#;
    for line in [
        r#"{"version":1,"version":1,"ask":{"what":"who"}}"#.to_owned(),
        r#"{"version":1,"token":"a","token":"b","ask":{"what":"who"}}"#.to_owned(),
        r#"{"version":1,"ask":{"what":"who"},"ask":{"what":"list"}}"#.to_owned(),
        r#"{"version":1,"ask":{"what":"list","what":"who"}}"#.to_owned(),
        r#"{"version":1,"ask":{"what":"revoke","approval":"A1","approval":"A2","reason":"x"}}"#.to_owned(),
        format!(r#"{{"version":1,"ask":{{"what":"approve",{vote},{vote}}}}}"#),
        r#"{"version":1,"ask":{"what":"who"},"person":"ada"}"#.to_owned(),
        format!(r#"{{"version":1,"ask":{}"#, "[".repeat(30_000)),
    ] {
        let said = echo.said(format!("{line}\n").as_bytes()).await;
        assert!(said.contains("GARBLED"), "{line}: {said}");
    }
    echo.end().await;
}
