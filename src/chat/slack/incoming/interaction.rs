//! What people click, choose and send off, and the commands they give.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::chat::slack::config::Ours;
use crate::chat::slack::id::{is_id, is_ts};

use super::message::about;
use super::read::{Says, Stop, at, by, handle, id, own, whose};
use super::{By, Incoming, MOST_VALUES, Spot, View, Words};

/// The most characters of an element's value: Slack's own bound.
const MOST_VALUE: usize = 2_000;
/// The most characters that are put into a modal: Slack's own bound.
const MOST_METADATA: usize = 3_000;
/// The most characters of a name of ours: Slack's own bound.
const MOST_NAME: usize = 255;

pub(super) fn interaction(payload: &Value, ours: &Ours) -> Result<(String, Incoming), Stop> {
    let enterprise = at(payload, "/enterprise/id");
    whose(at(payload, "/team/id"), enterprise, at(payload, "/api_app_id"), Says::Always, ours)?;
    let user = id(payload, "/user/id", "nobody did it")?;
    let by = by(user, at(payload, "/user/team_id"), ours);
    match at(payload, "/type") {
        Some("block_actions") => click(payload, by),
        Some("view_submission") => submission(payload, by),
        Some("message_action" | "shortcut") => {
            let trigger = handle(payload, "/trigger_id", "no trigger")?;
            let callback_id = own(payload, "/callback_id", MOST_NAME)?;
            Ok((format!("shortcut:{trigger}"), Incoming::Shortcut { by, callback_id, about: about(payload), trigger }))
        }
        Some(_) => Err(Stop::Ignore),
        None => Err(Stop::Nonsense("no interaction")),
    }
}

fn click(payload: &Value, by: By) -> Result<(String, Incoming), Stop> {
    let trigger = handle(payload, "/trigger_id", "no trigger")?;
    let clicked = payload.pointer("/actions/0").ok_or(Stop::Nonsense("nothing was clicked"))?;
    let action = own(clicked, "/action_id", MOST_NAME)?;
    let block = own(clicked, "/block_id", MOST_NAME)?;
    let chosen = if clicked.pointer("/selected_option/value").is_some() { "/selected_option/value" } else { "/value" };
    let value = own(clicked, chosen, MOST_VALUE)?;
    let spot = spot(payload);
    let view = payload.get("view").filter(|view| !view.is_null()).map(view).transpose()?;
    Ok((format!("click:{trigger}"), Incoming::Click { by, action, block, value, trigger, spot, view }))
}

fn spot(payload: &Value) -> Option<Spot> {
    let ts = |pointer: &str| at(payload, pointer).filter(|ts| is_ts(ts)).map(str::to_owned);
    let channel = at(payload, "/container/channel_id").or_else(|| at(payload, "/channel/id"))?;
    Some(Spot {
        channel: Some(channel).filter(|id| is_id(id))?.to_owned(),
        ts: ts("/container/message_ts").or_else(|| ts("/message/ts"))?,
        thread: ts("/message/thread_ts").or_else(|| ts("/container/thread_ts")),
    })
}

fn view(view: &Value) -> Result<View, Stop> {
    Ok(View {
        id: id(view, "/id", "no view")?,
        hash: handle(view, "/hash", "no hash").ok(),
        callback_id: own(view, "/callback_id", MOST_NAME)?,
        private_metadata: own(view, "/private_metadata", MOST_METADATA)?,
    })
}

fn submission(payload: &Value, by: By) -> Result<(String, Incoming), Stop> {
    let trigger = handle(payload, "/trigger_id", "no trigger")?;
    let view = view(payload.get("view").ok_or(Stop::Nonsense("no view"))?)?;
    let mut values = BTreeMap::new();
    let blocks = payload.pointer("/view/state/values").and_then(Value::as_object);
    for (block, actions) in blocks.into_iter().flatten() {
        for (action, given) in actions.as_object().into_iter().flatten() {
            if values.len() == MOST_VALUES || block.len() > MOST_NAME || action.len() > MOST_NAME {
                return Err(Stop::Nonsense("more fields than a modal of ours has"));
            }
            let text = at(given, "/value").or_else(|| at(given, "/selected_option/value")).unwrap_or_default();
            values.insert(format!("{block}.{action}"), Words { text: text.to_owned(), left_out: 0 });
        }
    }
    Ok((format!("submission:{trigger}"), Incoming::Submission { by, view, values, trigger }))
}

/// A command comes as the fields of a form, all of them texts.
pub(super) fn command(payload: &Value, ours: &Ours) -> Result<(String, Incoming), Stop> {
    whose(at(payload, "/team_id"), at(payload, "/enterprise_id"), at(payload, "/api_app_id"), Says::Sometimes, ours)?;
    let user = id(payload, "/user_id", "nobody gave it")?;
    let trigger = handle(payload, "/trigger_id", "no trigger")?;
    let command = own(payload, "/command", MOST_NAME)?;
    let text = at(payload, "/text").unwrap_or_default().to_owned();
    let channel = id(payload, "/channel_id", "no channel")?;
    let words = Words { text, left_out: 0 };
    // The form names the workspace of the command, and of whoever gave it there is no other.
    Ok((format!("command:{trigger}"), Incoming::Command { by: by(user, None, ours), command, words, channel, trigger }))
}
