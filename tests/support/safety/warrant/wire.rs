//! The socket at which other processes answer for people, as bytes.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::safety::adapter::Said;

const PATIENCE: Duration = Duration::from_secs(40);

/// Sends bytes and reads what comes back, if anything does.
pub async fn raw(socket: &Path, bytes: &[u8]) -> Result<String, String> {
    let talk = async {
        let mut stream = UnixStream::connect(socket).await?;
        // It may be refused before all of it is read.
        let sent = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer).await;
        if answer.is_empty() {
            sent?;
            read?;
        }
        Ok::<_, std::io::Error>(answer)
    };
    let answer = tokio::time::timeout(PATIENCE, talk).await.map_err(|_| "the socket does not answer")?;
    let answer = answer.map_err(|error| format!("{}: {error}", socket.display()))?;
    String::from_utf8(answer).map_err(|error| error.to_string())
}

/// Asks for something in the name of this user of the machine, or of a token.
pub async fn ask(socket: &Path, token: Option<&str>, ask: &Value) -> Result<Result<Value, String>, String> {
    let mut request = json!({ "version": 1, "ask": ask });
    if let (Some(token), Some(fields)) = (token, request.as_object_mut()) {
        fields.insert("token".to_owned(), Value::from(token));
    }
    let answer = raw(socket, format!("{request}\n").as_bytes()).await?;
    read(&answer)
}

/// What an answer says: something, or the code of a refusal.
pub fn read(answer: &str) -> Result<Result<Value, String>, String> {
    let mut value: Value = serde_json::from_str(answer).map_err(|error| format!("{error}: {answer}"))?;
    if let Some(refused) = value.pointer("/refused/code").and_then(Value::as_str) {
        return Ok(Err(refused.to_owned()));
    }
    let done = value.as_object_mut().and_then(|fields| fields.remove("done"));
    done.map(Ok).ok_or_else(|| format!("neither done nor refused: {answer}"))
}

/// The reasons of the suite and the codes of Warrant, where the two are not the same word.
const REASONS: &[(&str, &str)] = &[
    ("already-used", "ALREADY_CONSUMED"),
    ("another-plan", "PLAN_HASH_MISMATCH"),
    ("older-request", "STALE_CARD"),
    ("whole-not-opened", "WHOLE_NOT_OPENED"),
    ("not-entitled", "NOT_ELIGIBLE"),
    ("not-a-person", "NOT_HUMAN"),
    ("has-left", "NOT_ACTIVE"),
    ("unknown-person", "NO_SUCH_PERSON"),
    ("bad-proof", "NO_TOKEN"),
    ("same-account", "SAME_ACCOUNT"),
    ("stopped", "WRITES_STOPPED"),
    ("no-such-tool", "UNKNOWN_TOOL"),
    ("malformed", "INVALID_ARGUMENTS"),
    ("denied-before", "DENIED"),
    ("too-many-variants", "ESCALATED"),
    ("asked-too-often", "ASKS_SPENT"),
    ("not-read", "NOT_READ"),
    ("changed-since-read", "STALE_READ"),
    ("not-seen-whole", "LINES_NOT_SEEN"),
    ("would-not-parse", "UNPARSABLE"),
    ("protected", "PROTECTED"),
    ("garbled", "GARBLED"),
];

/// A code in the words of the suite.
pub fn reason(code: &str) -> String {
    let known = REASONS.iter().find(|(_, known)| *known == code);
    known.map_or_else(|| code.to_ascii_lowercase().replace('_', "-"), |(reason, _)| (*reason).to_owned())
}

/// An answer to the model: its envelope is taken off.
pub fn told(content: &str) -> Result<Said, String> {
    let inner = match content.split_once('\n') {
        Some((head, rest)) if head.starts_with('<') => rest.rsplit_once('\n').map_or(rest, |(body, _)| body),
        _ => content,
    };
    let value: Value = serde_json::from_str(inner).map_err(|error| format!("{error}: {content}"))?;
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Ok(match text("/status").as_deref() {
        Some("ok") => Said::Taken("done".to_owned()),
        Some("pending") => Said::Taken("waits".to_owned()),
        Some("unknown") => Said::Taken("unknown".to_owned()),
        _ => Said::Refused(reason(&text("/error/reason").or_else(|| text("/error/code")).unwrap_or_default())),
    })
}
