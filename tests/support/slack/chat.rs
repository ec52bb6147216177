//! Messages: posted, edited, whispered and found again.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::api::{Answered, word};
use super::limits::of_message;
use super::state::{Inner, Message};

/// What a channel takes: one message a second. A little less counts as one, for clocks and networks differ.
const PACE: Duration = Duration::from_millis(950);

fn place(inner: &Inner, body: &Value) -> Result<String, String> {
    let channel = word(body, "channel");
    // Direct messages go to whoever it is.
    if channel.starts_with('D') || channel.starts_with('U') {
        return Ok(channel.to_owned());
    }
    let known = inner.channels.get(channel).ok_or("channel_not_found")?;
    if known.archived {
        return Err("is_archived".to_owned());
    }
    if known.member { Ok(channel.to_owned()) } else { Err("not_in_channel".to_owned()) }
}

fn checked(inner: &mut Inner, body: &Value) -> Result<(), String> {
    match of_message(body) {
        None => Ok(()),
        Some(error) => {
            inner.violations.push(error.clone());
            Err(error)
        }
    }
}

/// A picture that is not there, or that Slack has not taken in, can't be shown.
fn pictures(inner: &Inner, body: &Value) -> Result<(), String> {
    let blocks = body.get("blocks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ids = blocks.iter().filter_map(|block| block.pointer("/slack_file/id")?.as_str());
    let taken_in = |id: &str| inner.files.get(id).is_some_and(|file| file.shared.is_some());
    if ids.into_iter().all(taken_in) { Ok(()) } else { Err("invalid_blocks: no such file".to_owned()) }
}

fn paced(inner: &mut Inner, channel: &str) -> Result<(), String> {
    let last = inner.paced.get(channel);
    if last.is_some_and(|last| last.elapsed() < PACE) {
        return Err("ratelimited".to_owned());
    }
    inner.paced.insert(channel.to_owned(), Instant::now());
    Ok(())
}

pub fn post(inner: &mut Inner, body: &Value) -> Answered {
    let channel = place(inner, body)?;
    checked(inner, body)?;
    pictures(inner, body)?;
    let thread = body.get("thread_ts").and_then(Value::as_str).map(str::to_owned);
    paced(inner, &channel)?;
    let ts = inner.ts();
    let message = json!({ "type": "message", "text": word(body, "text"), "ts": ts, "bot_id": "B0BOT" });
    inner.messages.push(Message { channel: channel.clone(), ts: ts.clone(), thread, body: body.clone(), edits: 0 });
    Ok(json!({ "channel": channel, "ts": ts, "message": message }))
}

pub fn update(inner: &mut Inner, body: &Value) -> Answered {
    let channel = place(inner, body)?;
    checked(inner, body)?;
    let ts = word(body, "ts");
    let message = inner.messages.iter_mut().find(|message| message.channel == channel && message.ts == ts);
    let message = message.ok_or("message_not_found")?;
    message.body = body.clone();
    message.edits += 1;
    Ok(json!({ "channel": channel, "ts": ts, "text": word(body, "text") }))
}

pub fn whisper(inner: &mut Inner, body: &Value) -> Answered {
    place(inner, body)?;
    checked(inner, body)?;
    if !inner.users.contains_key(word(body, "user")) {
        return Err("user_not_in_channel".to_owned());
    }
    inner.whispers.push(body.clone());
    Ok(json!({ "message_ts": inner.ts() }))
}

/// Messages of a channel outside threads, or of one thread, the newest first.
pub fn history(inner: &mut Inner, body: &Value) -> Answered {
    let channel = place(inner, body)?;
    let thread = body.get("ts").and_then(Value::as_str);
    let of = |message: &&Message| {
        message.channel == channel
            && match thread {
                None => message.thread.is_none(),
                Some(ts) => message.thread.as_deref() == Some(ts) || message.ts == ts,
            }
    };
    let with_metadata = word(body, "include_all_metadata") == "true";
    let found = inner.messages.iter().filter(of).rev().take(200);
    let messages: Vec<Value> = found
        .map(|message| {
            let metadata = if with_metadata { message.body.get("metadata").cloned() } else { None };
            json!({ "type": "message", "ts": message.ts, "text": word(&message.body, "text"), "metadata": metadata })
        })
        .collect();
    Ok(json!({ "messages": messages, "has_more": false }))
}

pub fn info(inner: &mut Inner, body: &Value) -> Answered {
    let id = word(body, "channel");
    let channel = inner.channels.get(id).ok_or("channel_not_found")?;
    Ok(json!({ "channel": { "id": id, "is_archived": channel.archived, "is_member": channel.member } }))
}

pub fn join(inner: &mut Inner, body: &Value) -> Answered {
    let channel = inner.channels.get_mut(word(body, "channel")).ok_or("channel_not_found")?;
    if channel.archived {
        return Err("is_archived".to_owned());
    }
    channel.member = true;
    Ok(json!({}))
}
