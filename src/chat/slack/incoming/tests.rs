//! Whatever is sent, reading it ends well, and what is kept can be read again and holds no secret.

use proptest::prelude::*;
use serde_json::json;
use warrant_kernel::redact::RedactionKey;

use super::read::{Kind, Reading, read};
use super::*;
use crate::chat::slack::config::Ours;

fn ours() -> Ours {
    Ours { team: "T1".to_owned(), enterprise: None, app: "A1".to_owned() }
}

fn redactor() -> Redactor {
    Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap()
}

fn taken(kind: Kind, payload: &Value) -> (String, Incoming) {
    match read(kind, payload, &ours(), "U0BOT") {
        Reading::Take { key, incoming } => (key, *incoming),
        other => panic!("{other:?}"),
    }
}

fn event(event: &Value) -> Value {
    json!({ "type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": "Ev1", "event": event })
}

fn said(text: &str) -> Value {
    event(
        &json!({ "type": "message", "channel_type": "im", "user": "U1", "channel": "D1", "ts": "1.000001", "text": text }),
    )
}

fn click() -> Value {
    json!({
        "type": "block_actions", "api_app_id": "A1", "team": { "id": "T1" }, "enterprise": null, "user": { "id": "U1" },
        "trigger_id": "1.2.abc", "container": { "channel_id": "C1", "message_ts": "1.000001" },
        "actions": [{ "action_id": "approve", "block_id": "b", "value": "A12:0123456789abcdef:3" }],
    })
}

#[test]
fn what_is_of_no_interest_is_ignored() {
    for event in [
        event(&json!({ "type": "reaction_added" })),
        event(&json!({ "type": "message", "user": "U0BOT", "channel": "C1", "ts": "1.1", "text": "of ours" })),
        event(
            &json!({ "type": "app_mention", "bot_id": "B1", "user": "U1", "channel": "C1", "ts": "1.1", "text": "<@U0BOT>" }),
        ),
        event(&json!({ "type": "message", "subtype": "message_changed", "channel": "C1", "ts": "1.1" })),
        event(&json!({ "type": "member_left_channel", "user": "U1", "channel": "C1" })),
    ] {
        assert_eq!(read(Kind::Event, &event, &ours(), "U0BOT"), Reading::Ignore, "{event}");
    }
    let left = event(&json!({ "type": "member_left_channel", "user": "U0BOT", "channel": "C1" }));
    let (_, left) = taken(Kind::Event, &left);
    assert_eq!(left, Incoming::Channel { channel: "C1".to_owned(), loss: Loss::Removed });
    let revoked = taken(Kind::Event, &event(&json!({ "type": "tokens_revoked" }))).1;
    assert_eq!(revoked, Incoming::Revoked { why: "tokens_revoked".to_owned() });
}

#[test]
fn ap_14_a_payload_must_say_whose_it_is() {
    let ours = Ours { enterprise: Some("E1".to_owned()), ..ours() };
    let read = |kind, payload: &Value| super::read::read(kind, payload, &ours, "U0BOT");
    assert_eq!(read(Kind::Interaction, &click()), Reading::NotOurs("of another organisation"));
    let mut good = click();
    good["enterprise"] = json!({ "id": "E1" });
    assert!(matches!(read(Kind::Interaction, &good), Reading::Take { .. }));
    // An event names its organisation where it likes.
    assert!(matches!(read(Kind::Event, &said("hello")), Reading::Take { .. }));
    let mut other = said("hello");
    other["enterprise_id"] = json!("E2");
    assert_eq!(read(Kind::Event, &other), Reading::NotOurs("of another organisation"));
}

#[test]
fn texts_are_masked_whole_and_then_cut() {
    // The secret stands over the place of the cut.
    let text = format!("{}password=hunter2-and-some-more-of-it", "x ".repeat(MOST_TEXT / 2 - 4));
    let (_, incoming) = taken(Kind::Event, &said(&text));
    let Incoming::Direct(said) = incoming.masked(&redactor()).unwrap() else { panic!("not direct") };
    assert_eq!(said.words.text.chars().count(), MOST_TEXT);
    assert!(said.words.left_out > 0 && !said.words.text.contains("hunter2"));
    assert!(taken(Kind::Event, &self::said("x")).1.masked(&Redactor::out_of_order()).is_err());
}

#[test]
fn what_we_put_into_a_button_comes_back_as_it_was() {
    let (key, incoming) = taken(Kind::Interaction, &click());
    assert_eq!(key, "click:1.2.abc");
    let masked = incoming.clone().masked(&redactor()).unwrap();
    assert_eq!(masked, incoming);
}

/// Any JSON that is not too large.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop_oneof!["event_callback", "block_actions", "message", "T1", "A1", "U1", "1.2"].prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("[a-z_]{1,8}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The pointers of all that is in a value.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Array(parts) => {
            parts.iter().enumerate().for_each(|(n, part)| pointers(part, &format!("{at}/{n}"), into));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, part)| pointers(part, &format!("{at}/{name}"), into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    /// A payload of which any part is anything is taken, ignored or refused, and what is taken comes back from the store.
    #[test]
    fn hostile_payloads_end_well(which in 0_usize..3, part in any::<prop::sample::Index>(), put in any_json()) {
        let command = json!({
            "team_id": "T1", "api_app_id": "A1", "user_id": "U1", "channel_id": "C1", "command": "/warrant", "text": "x",
            "trigger_id": "1.2.a",
        });
        let (kind, mut payload) = match which {
            0 => (Kind::Event, said("<@U0BOT> hello")),
            1 => (Kind::Interaction, click()),
            _ => (Kind::Command, command),
        };
        let mut places = Vec::new();
        pointers(&payload, "", &mut places);
        *payload.pointer_mut(&places[part.index(places.len())]).unwrap() = put;
        if let Reading::Take { key, incoming } = read(kind, &payload, &ours(), "U0BOT") {
            prop_assert!(key.len() <= 200 && key.is_ascii(), "{}", key);
            let masked = incoming.masked(&redactor()).unwrap();
            let by = masked.by().cloned();
            prop_assert!(by.is_some_and(|by| by.team == "T1" && by.app == "A1"));
            let kept = serde_json::to_value(&masked).unwrap();
            prop_assert_eq!(Incoming::stored(&kept).unwrap(), masked);
        }
    }
}
