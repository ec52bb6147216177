//! People who do something in the Slack of the tests: write, click, send modals off, give commands.
//!
//! Each of these makes the payload that Slack would send; [`SlackServer::envelope`] sends it through a socket, and
//! [`signed`] signs it for who takes posts.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::state::Inner;
use super::{APP, BOT, SlackServer, TEAM};

/// A full member of the workspace, as `users.info` tells of one.
pub fn member(id: &str) -> Value {
    json!({
        "id": id, "team_id": TEAM, "name": id.to_lowercase(), "deleted": false, "is_bot": false,
        "is_restricted": false, "is_ultra_restricted": false, "is_app_user": false,
    })
}

/// An event in the form in which the Events API tells of it.
pub fn event(inner: &mut Inner, event: &Value) -> Value {
    json!({
        "type": "event_callback", "token": "verification-token", "team_id": TEAM, "api_app_id": APP,
        "event_id": format!("Ev{:08}", inner.next()), "event_time": 1, "event": event,
        "authorizations": [{ "team_id": TEAM, "user_id": BOT, "is_bot": true }],
    })
}

/// Somebody writes.
pub fn message(inner: &mut Inner, user: &str, channel: &str, thread: Option<&str>, text: &str) -> Value {
    let ts = inner.ts();
    let said = json!({
        "type": if text.contains(&format!("<@{BOT}>")) { "app_mention" } else { "message" }, "user": user, "text": text,
        "channel": channel, "channel_type": if channel.starts_with('D') { "im" } else { "channel" }, "ts": ts,
        "event_ts": ts, "thread_ts": thread, "team": TEAM,
    });
    event(inner, &said)
}

/// What somebody posts.
#[derive(Debug, Clone, Copy)]
pub struct Posted<'a> {
    pub user: &'a str,
    pub channel: &'a str,
    pub thread: Option<&'a str>,
    pub text: &'a str,
}

fn interaction(kind: &str, user: &str, trigger: &str) -> Value {
    json!({
        "type": kind, "token": "verification-token", "api_app_id": APP, "trigger_id": trigger, "enterprise": null,
        "is_enterprise_install": false, "team": { "id": TEAM, "domain": "tests" },
        "user": { "id": user, "username": user.to_lowercase(), "name": user.to_lowercase(), "team_id": TEAM },
        "response_url": "https://hooks.slack.com/actions/T0TEAM/1/secret",
    })
}

fn extend(mut payload: Value, fields: Value) -> Value {
    if let (Some(payload), Value::Object(fields)) = (payload.as_object_mut(), fields) {
        payload.extend(fields);
    }
    payload
}

/// Somebody clicks a button of a message.
pub fn click(inner: &mut Inner, user: &str, channel: &str, ts: &str, action: &str, value: &str) -> Value {
    let trigger = inner.trigger(user);
    let button = json!({ "type": "plain_text", "text": action, "emoji": true });
    extend(
        interaction("block_actions", user, &trigger),
        json!({
            "container": { "type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": false },
            "channel": { "id": channel, "name": "ops" }, "message": { "type": "message", "ts": ts },
            "actions": [{
                "type": "button", "action_id": action, "block_id": "b1", "value": value, "text": button, "action_ts": "1.2",
            }],
        }),
    )
}

/// Somebody clicks in an open modal.
pub fn click_in_view(inner: &mut Inner, user: &str, view: &str, action: &str, value: &str) -> Value {
    let trigger = inner.trigger(user);
    let open = inner.views.iter().find(|open| open.id == view).unwrap();
    let view = extend(open.view.clone(), json!({ "id": open.id, "hash": open.hash }));
    extend(
        interaction("block_actions", user, &trigger),
        json!({
            "container": { "type": "view", "view_id": open.id }, "view": view,
            "actions": [{ "type": "button", "action_id": action, "block_id": "b1", "value": value, "action_ts": "1.2" }],
        }),
    )
}

/// Somebody sends an open modal off, with what they wrote by block and action.
pub fn submit(inner: &mut Inner, user: &str, view: &str, written: &[(&str, &str, &str)]) -> Value {
    let trigger = inner.trigger(user);
    let open = inner.views.iter().find(|open| open.id == view).unwrap();
    let mut values = json!({});
    for (block, action, text) in written {
        let given = json!({ "type": "plain_text_input", "value": text });
        values.as_object_mut().unwrap().insert((*block).to_owned(), json!({ *action: given }));
    }
    let view = extend(open.view.clone(), json!({ "id": open.id, "hash": open.hash, "state": { "values": values } }));
    extend(interaction("view_submission", user, &trigger), json!({ "view": view }))
}

/// Somebody points at a message of another bot.
pub fn shortcut(inner: &mut Inner, user: &str, channel: &str, callback: &str, message: &Value) -> Value {
    let trigger = inner.trigger(user);
    extend(
        interaction("message_action", user, &trigger),
        json!({ "callback_id": callback, "channel": { "id": channel, "name": "ops" }, "message": message }),
    )
}

/// Somebody gives a command.
pub fn command(inner: &mut Inner, user: &str, channel: &str, command: &str, text: &str) -> Value {
    let trigger = inner.trigger(user);
    json!({
        "token": "verification-token", "team_id": TEAM, "team_domain": "tests", "channel_id": channel,
        "channel_name": "ops", "user_id": user, "user_name": user.to_lowercase(), "command": command, "text": text,
        "api_app_id": APP, "is_enterprise_install": "false", "trigger_id": trigger,
        "response_url": "https://hooks.slack.com/commands/T0TEAM/1/secret",
    })
}

impl SlackServer {
    /// Adds full members.
    pub fn members(&self, ids: &[&str]) {
        self.shared.lock().users.extend(ids.iter().map(|id| ((*id).to_owned(), member(id))));
    }

    /// Adds a channel that the bot is in.
    pub fn channel(&self, id: &str) {
        let channel = super::state::Channel { archived: false, member: true };
        self.shared.lock().channels.insert(id.to_owned(), channel);
    }

    /// Somebody writes, through a socket; the envelope's id.
    pub fn writes(&self, user: &str, channel: &str, thread: Option<&str>, text: &str) -> String {
        let payload = message(&mut self.shared.lock(), user, channel, thread, text);
        self.envelope("events_api", &payload)
    }

    /// Puts a file where Slack keeps files; what events say of it.
    pub fn file(&self, id: &str, name: &str, bytes: &[u8]) -> Value {
        let url = format!("http://{}/files/{id}", self.shared.address);
        let info = json!({
            "id": id, "name": name, "size": bytes.len(), "mimetype": "text/plain", "url_private": url,
        });
        let file = super::state::File { info: info.clone(), bytes: bytes.to_vec(), shared: None };
        self.shared.lock().files.insert(id.to_owned(), file);
        info
    }

    /// Somebody posts a message with files, through a socket; the envelope's id.
    pub fn shares(&self, posted: &Posted<'_>, files: &[&Value]) -> String {
        let mut payload = message(&mut self.shared.lock(), posted.user, posted.channel, posted.thread, posted.text);
        if let Some(event) = payload.get_mut("event").and_then(Value::as_object_mut) {
            if posted.text.is_empty() {
                event.insert("subtype".to_owned(), json!("file_share"));
            }
            event.insert("files".to_owned(), json!(files));
        }
        self.envelope("events_api", &payload)
    }

    /// Somebody clicks a button of a message, through a socket; the envelope's id.
    pub fn clicks(&self, user: &str, channel: &str, ts: &str, action: &str, value: &str) -> String {
        let payload = click(&mut self.shared.lock(), user, channel, ts, action, value);
        self.envelope("interactive", &payload)
    }

    /// Sends again what an envelope held, in another one; its id.
    pub fn again(&self, envelope: &str, attempt: u32) -> String {
        let mut inner = self.shared.lock();
        let (kind, payload) = inner.sent.get(envelope).cloned().unwrap();
        inner.envelope(&kind, &payload, attempt)
    }
}

/// HMAC-SHA-256 by its definition, so that what is tested is not what tests it.
pub fn signed(secret: &str, time: &str, body: &[u8]) -> String {
    let pad = |with: u8| {
        let mut block = [with; 64];
        for (byte, of_key) in block.iter_mut().zip(secret.bytes()) {
            *byte ^= of_key;
        }
        block.to_vec()
    };
    let said = [b"v0:", time.as_bytes(), b":", body].concat();
    let inner = Sha256::digest([pad(0x36), said].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    format!("v0={}", warrant_kernel::domain::hex::hex(&outer))
}
