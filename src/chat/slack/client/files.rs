//! Files: pictures that go up, and text files of a thread that come down.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use crate::chat::slack::id::is_id;

use super::connector::{bounded, chain};
use super::error::CallError;
use super::{Api as _, Client, text};

/// Where Slack keeps files. The bot's token goes nowhere else, whatever an event names.
const HOST: &str = "files.slack.com";
/// The longest that a file may take.
const LONGEST: Duration = Duration::from_secs(30);

/// A file to be shown in a channel.
#[derive(Debug, Clone, Copy)]
pub struct Upload<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is, for people who can't see it.
    pub alt: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Where it is shown at once: the channel, and the thread in it. Without it a message shows it later.
    pub place: Option<(&'a str, Option<&'a str>)>,
}

impl Client {
    /// Puts a file into a channel or a thread; its id.
    ///
    /// # Errors
    /// [`CallError`]; it may lie at Slack unseen then.
    pub async fn upload(&self, file: Upload<'_>) -> Result<String, CallError> {
        let length = file.bytes.len().to_string();
        let asked = [("filename", Some(file.name)), ("length", Some(&length)), ("alt_txt", Some(file.alt))];
        let place = self.ask("files.getUploadURLExternal", &asked).await?;
        let (url, id) = (text(&place, "upload_url")?, text(&place, "file_id")?);
        let url = self.of_slack(&url)?;
        let session = self.slack.open_session(&self.bot);
        let sent =
            session.http_session_api.http_post_uri_binary(url, "application/octet-stream".to_owned(), file.bytes, None);
        let _: Value = sent.await?;
        let mut body = json!({ "files": [{ "id": id, "title": file.name }] });
        if let (Some((channel, thread)), Some(body)) = (file.place, body.as_object_mut()) {
            body.insert("channel_id".to_owned(), json!(channel));
            body.extend(thread.map(|thread| ("thread_ts".to_owned(), json!(thread))));
        }
        self.post("files.completeUploadExternal", &body).await?;
        Ok(id)
    }

    /// Whether Slack has looked through a file that was uploaded; before that no message can show it.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn is_taken_in(&self, file: &str) -> Result<bool, CallError> {
        let answer = self.ask("files.info", &[("file", Some(file))]).await?;
        Ok(answer.pointer("/file/mimetype").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty()))
    }

    /// The text of a file that somebody posted, if it is text and no longer than `most` bytes.
    ///
    /// # Errors
    /// [`CallError::Refused`] where it is not text, too long, or does not lie at Slack.
    pub async fn download(&self, file: &str, most: usize) -> Result<String, CallError> {
        if !is_id(file) {
            return Err(CallError::Refused("not_a_file_id".to_owned()));
        }
        let answer = self.ask("files.info", &[("file", Some(file))]).await?;
        let info = answer.get("file").unwrap_or(&Value::Null);
        if info.get("size").and_then(Value::as_u64).is_none_or(|size| size > most as u64) {
            return Err(CallError::Refused("file_too_large".to_owned()));
        }
        let url = self.of_slack(&text(info, "url_private_download").or_else(|_| text(info, "url_private"))?)?;
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", self.bot.token_value.0))
            .map_err(|_| CallError::Refused("bad_token".to_owned()))?;
        bearer.set_sensitive(true);
        let request = self.http.get(url).timeout(LONGEST).header(AUTHORIZATION, bearer);
        let answer = request.send().await.map_err(|error| CallError::Transport(chain(&error)))?;
        if !answer.status().is_success() {
            return Err(CallError::Refused(format!("http_{}", answer.status().as_u16())));
        }
        // Whom Slack does not know is shown its page to sign in, with status 200.
        let is_page = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        if is_page && info.get("mimetype").and_then(Value::as_str) != Some("text/html") {
            return Err(CallError::NotAuthed("file_not_readable".to_owned()));
        }
        let bytes = bounded(answer, most).await.map_err(|_| CallError::Refused("file_too_large".to_owned()))?;
        // A NUL stands in no text, and in nearly every other file.
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        text.ok_or_else(|| CallError::Refused("file_is_not_text".to_owned()))
    }

    /// An address that Slack gave, if it is Slack's.
    fn of_slack(&self, url: &str) -> Result<Url, CallError> {
        let stranger = || CallError::Refused("file_not_at_slack".to_owned());
        let url = Url::parse(url).map_err(|_| stranger())?;
        let at_slack = url.scheme() == "https" && url.host_str() == Some(HOST) && url.port().is_none();
        if at_slack || self.is_api(&url) { Ok(url) } else { Err(stranger()) }
    }
}
