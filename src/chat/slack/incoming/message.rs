//! Events: what people write, and what becomes of channels.
//!
//! A message that names us comes twice, as a mention and as a message. Both are read as the mention and have one key.

use serde_json::Value;

use crate::chat::slack::config::Ours;
use crate::chat::slack::id::{is_id, is_ts};

use super::read::{Says, Stop, at, by, handle, id, whose};
use super::{About, FileRef, Incoming, Loss, MOST_FILES, Said, Words};

/// How many characters are read of a message's blocks and attachments.
const MOST_READ: usize = 60_000;

pub(super) fn event(payload: &Value, ours: &Ours, bot: &str) -> Result<(String, Incoming), Stop> {
    if at(payload, "/type") != Some("event_callback") {
        return Err(Stop::Nonsense("no event"));
    }
    let (team, enterprise) = (at(payload, "/team_id"), at(payload, "/enterprise_id"));
    whose(team, enterprise, at(payload, "/api_app_id"), Says::Sometimes, ours)?;
    let event = payload.get("event").ok_or(Stop::Nonsense("no event"))?;
    let numbered = || handle(payload, "/event_id", "no event id").map(|id| format!("event:{id}"));
    let channel = |pointer: &str| id(event, pointer, "no channel");
    let lost = |channel: String, loss| Ok((numbered()?, Incoming::Channel { channel, loss }));
    match at(event, "/type") {
        Some("app_mention" | "message") => said(event, ours, bot),
        Some("channel_archive" | "group_archive") => lost(channel("/channel")?, Loss::Archived),
        Some("channel_unarchive" | "group_unarchive") => lost(channel("/channel")?, Loss::Regained),
        Some("channel_deleted" | "group_deleted") => lost(channel("/channel")?, Loss::Deleted),
        Some("channel_left" | "group_left") => lost(channel("/channel")?, Loss::Removed),
        Some("member_left_channel") if at(event, "/user") == Some(bot) => lost(channel("/channel")?, Loss::Removed),
        Some("member_joined_channel") if at(event, "/user") == Some(bot) => lost(channel("/channel")?, Loss::Regained),
        Some(why @ ("app_uninstalled" | "tokens_revoked")) => {
            Ok((numbered()?, Incoming::Revoked { why: why.to_owned() }))
        }
        Some(_) => Err(Stop::Ignore),
        None => Err(Stop::Nonsense("no event")),
    }
}

fn said(event: &Value, ours: &Ours, bot: &str) -> Result<(String, Incoming), Stop> {
    // Of our own, of other bots, and what Slack writes itself. A bot's message is looked into when a person points at it.
    let by_nobody = event.get("bot_id").is_some_and(|id| !id.is_null()) || at(event, "/user") == Some(bot);
    let ordinary = matches!(at(event, "/subtype"), None | Some("file_share" | "thread_broadcast"));
    if by_nobody || !ordinary {
        return Err(Stop::Ignore);
    }
    let user = id(event, "/user", "nobody wrote it")?;
    let channel = id(event, "/channel", "no channel")?;
    let ts = at(event, "/ts").filter(|ts| is_ts(ts)).ok_or(Stop::Nonsense("no time of the message"))?.to_owned();
    let thread = at(event, "/thread_ts").filter(|thread| is_ts(thread) && **thread != *ts).map(str::to_owned);
    let text = at(event, "/text").unwrap_or_default();
    let named = text.contains(&format!("<@{bot}>")) || at(event, "/type") == Some("app_mention");
    let direct = at(event, "/channel_type") == Some("im");
    // `user_team` stands where somebody of another workspace wrote; `team` is where the message was written from.
    let user_team = at(event, "/user_team").or_else(|| at(event, "/team"));
    let key = format!("message:{channel}:{ts}");
    let said = Said {
        by: by(user, user_team, ours),
        channel,
        ts,
        thread,
        words: Words { text: text.to_owned(), left_out: 0 },
        files: files(event),
    };
    let incoming = match (direct, named, &said.thread) {
        (true, _, _) => Incoming::Direct(said),
        (false, true, _) => Incoming::Mention(said),
        (false, false, Some(_)) => Incoming::ThreadReply(said),
        (false, false, None) => return Err(Stop::Ignore),
    };
    Ok((key, incoming))
}

fn files(event: &Value) -> Vec<FileRef> {
    let files = event.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let file = |file: &Value| {
        let short = |pointer: &str| at(file, pointer).unwrap_or_default().chars().take(255).collect::<String>();
        Some(FileRef {
            id: at(file, "/id").filter(|id| is_id(id))?.to_owned(),
            name: short("/name"),
            kind: short("/mimetype"),
            size: file.get("size").and_then(Value::as_u64).unwrap_or(u64::MAX),
        })
    };
    // One more, so that it can be told that there are more.
    files.iter().filter_map(file).take(MOST_FILES + 1).collect()
}

/// A message that somebody pointed at, with all that can be read of it.
pub(super) fn about(payload: &Value) -> Option<About> {
    let message = payload.get("message")?;
    let valid_ts = |pointer: &str| at(message, pointer).filter(|ts| is_ts(ts)).map(str::to_owned);
    let mut text = at(message, "/text").unwrap_or_default().to_owned();
    for part in ["attachments", "blocks"] {
        if let Some(part) = message.get(part) {
            gather(part, &mut text, 0);
        }
    }
    Some(About {
        channel: at(payload, "/channel/id").filter(|id| is_id(id))?.to_owned(),
        ts: valid_ts("/ts")?,
        thread: valid_ts("/thread_ts"),
        author: at(message, "/user").or_else(|| at(message, "/bot_id")).filter(|id| is_id(id)).map(str::to_owned),
        words: Words { text, left_out: 0 },
    })
}

/// The texts of blocks and attachments, one a line, each once.
fn gather(value: &Value, into: &mut String, depth: usize) {
    if depth > 12 || into.len() > MOST_READ {
        return;
    }
    match value {
        Value::Array(parts) => parts.iter().for_each(|part| gather(part, into, depth + 1)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if is_read(name) && !into.contains(text.as_str()) => {
                        into.push('\n');
                        into.push_str(text);
                    }
                    Value::Array(_) | Value::Object(_) => gather(field, into, depth + 1),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_read(name: &str) -> bool {
    matches!(name, "text" | "title" | "pretext" | "value" | "fallback" | "title_link" | "footer")
}
