//! What both shapes need at their edge: names, ids and arguments that no provider refuses, whatever a model wrote.
//!
//! A model may call a tool that does not exist, with arguments that are no JSON and an id it used before. The loop
//! answers that; but the call goes back in the next request, and a provider refuses the whole request for it.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::agent::model::{Message, ModelCall, Stop};

/// Most characters of a tool's name on its way to a provider.
const MAX_NAME: usize = 64;

/// Longest id that is kept.
const MAX_ID: usize = 256;

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A tool's name that fits every provider's pattern.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let plain: String = name.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect();
    Cow::Owned(if plain.is_empty() { "_".to_owned() } else { plain })
}

/// An id that fits the pattern of the stricter provider. Different ids stay different.
pub(super) fn plain_id(id: &str) -> Cow<'_, str> {
    if id.chars().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let escape = |c: char| if is_plain(c) { c.to_string() } else { format!("_{:x}_", u32::from(c)) };
    Cow::Owned(id.chars().map(escape).collect())
}

/// Arguments as the JSON object they are; text that is none stands whole inside one, so that the model sees what it
/// wrote beside the error it got.
pub(super) fn arguments(text: &str) -> Map<String, Value> {
    serde_json::from_str(text)
        .unwrap_or_else(|_| Map::from_iter([("malformed_arguments".to_owned(), Value::String(text.to_owned()))]))
}

/// Gives each call an id that no other call of the conversation has.
pub(super) fn settle_ids(calls: &mut [ModelCall], messages: &[Message]) {
    let earlier = messages.iter().flat_map(|message| match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        Message::User { .. } | Message::Answers { .. } => &[],
    });
    let mut used: HashSet<String> = earlier.map(|call| call.id.clone()).collect();
    for (n, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() || call.id.len() > MAX_ID || used.contains(&call.id) {
            call.id = format!("call_{}_{n}", messages.len());
            while used.contains(&call.id) {
                call.id.push('_');
            }
        }
        used.insert(call.id.clone());
    }
}

/// Calls count only in an answer that stopped for them: any other stop may have cut one.
pub(super) fn calls_for(stop: Stop, calls: Vec<ModelCall>) -> Vec<ModelCall> {
    match stop {
        Stop::Calls => calls,
        Stop::Done | Stop::MaxTokens | Stop::Refused | Stop::Paused | Stop::ContextOverflow => Vec::new(),
    }
}

/// A block that must go back to the provider that made it, and where it stood: after how many bytes of text and how
/// many calls.
pub(super) fn opaque(family: &str, after_text: usize, after_calls: usize, block: &Value) -> Value {
    json!({ "family": family, "after_text": after_text, "after_calls": after_calls, "block": block })
}

/// A block of one's own family, opened again.
pub(super) struct Opened<'a> {
    pub(super) after_text: usize,
    pub(super) after_calls: usize,
    pub(super) block: &'a Value,
}

/// The blocks that `family` made; those of other providers are left out.
pub(super) fn open<'a>(family: &str, blocks: &'a [Value]) -> Vec<Opened<'a>> {
    let number = |value: &Value, field: &str| {
        value.get(field).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or_default()
    };
    let own = blocks.iter().filter(|value| value.get("family").and_then(Value::as_str) == Some(family));
    own.filter_map(|value| {
        let (after_text, after_calls) = (number(value, "after_text"), number(value, "after_calls"));
        Some(Opened { after_text, after_calls, block: value.get("block")? })
    })
    .collect()
}

/// Shows a piece of text to whoever watches. That nobody does is no error.
pub(super) fn show(deltas: &UnboundedSender<String>, piece: &str) {
    if !piece.is_empty() {
        drop(deltas.send(piece.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calls(ids: &[String]) -> Vec<ModelCall> {
        let call = |id: &String| ModelCall { id: id.clone(), name: String::new(), arguments: String::new() };
        ids.iter().map(call).collect()
    }

    proptest! {
        #[test]
        fn names_and_ids_always_fit(text in "\\PC{0,200}") {
            let name = name(&text);
            prop_assert!((1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_plain));
            prop_assert!(plain_id(&text).chars().all(is_plain));
        }

        #[test]
        fn arguments_are_kept_as_they_are_or_whole_as_text(text in "(\\{\"a\":[0-9]{1,3}\\}|\\PC{0,40})") {
            let map = arguments(&text);
            let Ok(object) = serde_json::from_str::<Map<String, Value>>(&text) else {
                prop_assert_eq!(map.get("malformed_arguments").and_then(Value::as_str), Some(text.as_str()));
                return Ok(());
            };
            prop_assert_eq!(map, object);
        }

        #[test]
        fn ids_become_unique_and_good_ones_stay(earlier in proptest::collection::vec("[ab]?|call_1_[01]_?", 0..4), new in proptest::collection::vec("[abc]?|call_1_[01]", 0..6)) {
            let message = Message::Assistant { text: String::new(), calls: calls(&earlier), opaque: Vec::new() };
            let mut settled = calls(&new);
            settle_ids(&mut settled, &[message]);
            let unique: HashSet<_> = settled.iter().map(|call| call.id.as_str()).collect();
            prop_assert_eq!(unique.len(), new.len());
            prop_assert!(earlier.iter().all(|id| !unique.contains(id.as_str())));
            if let (Some(given), Some(call)) = (new.first(), settled.first())
                && !given.is_empty() && !earlier.contains(given)
            {
                prop_assert_eq!(&call.id, given);
            }
        }
    }
}
