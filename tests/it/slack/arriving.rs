//! Over a socket: kept, then acknowledged; once; whatever becomes of the connection.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use warrant::chat::slack::health::{Link, Ready};
use warrant::chat::slack::incoming::{Incoming, Loss};

use super::world::World;
use crate::slack_server::BOT;
use crate::slack_server::people::{click, click_in_view, command, event, message, shortcut, submit};

fn mention(text: &str) -> String {
    format!("<@{BOT}> {text}")
}

#[tokio::test]
async fn wh_08_the_same_delivered_again_is_one_arrival() {
    let (world, task) = World::connected().await;
    let first = world.slack.writes("U0ANN", "C0OPS", None, &mention("look at checkout"));
    assert_eq!(world.slack.acked(&first).await, Value::Null);
    // It is there when it is acknowledged.
    assert_eq!(world.arrived().await.len(), 1);
    for attempt in 1..=3 {
        let again = world.slack.again(&first, attempt);
        world.slack.acked(&again).await;
    }
    let Some(Incoming::Mention(said)) = world.arrived().await.pop() else { panic!("no mention") };
    assert_eq!((said.by.user.as_str(), said.channel.as_str(), said.thread), ("U0ANN", "C0OPS", None));
    assert_eq!(said.words.text, "<@U0BOT> look at checkout");
    assert_eq!(world.arrived().await.len(), 1);

    // A message that names us comes as a message too, in an event of its own.
    let twin = {
        let mut inner = world.slack.shared.lock();
        let said = json!({
            "type": "message", "user": "U0ANN", "text": mention("look at checkout"), "channel": "C0OPS", "ts": said.ts,
            "channel_type": "channel",
        });
        event(&mut inner, &said)
    };
    world.slack.acked(&world.slack.envelope("events_api", &twin)).await;
    assert_eq!(world.arrived().await.len(), 1);
    world.cancel.cancel();
    task.await.unwrap();
}

#[tokio::test]
async fn what_people_do_comes_in_as_what_it_is() {
    let (world, _task) = World::connected().await;
    world.desk.follows.lock().unwrap().insert("1.000001".to_owned());
    let secret = "login with password=hunter2-and-more";
    let payloads = {
        let mut inner = world.slack.shared.lock();
        let alert = json!({
            "type": "message", "ts": "5.000001", "bot_id": "B0OTHER", "text": "",
            "attachments": [{ "title": "CheckoutErrors", "text": "rate 12 %" }],
        });
        vec![
            ("events_api", message(&mut inner, "U0ANN", "D0ANN", None, secret)),
            ("events_api", message(&mut inner, "U0BOB", "C0OPS", Some("1.000001"), "look at the database instead")),
            ("events_api", message(&mut inner, "U0BOB", "C0OPS", Some("2.000001"), "of no interest")),
            ("events_api", message(&mut inner, "U0BOB", "C0OPS", None, "of no interest")),
            ("events_api", event(&mut inner, &json!({ "type": "channel_archive", "channel": "C0OPS" }))),
            ("slash_commands", command(&mut inner, "U0ANN", "C0OPS", "/warrant", "handover 8h")),
            ("interactive", shortcut(&mut inner, "U0ANN", "C0OPS", "investigate", &alert)),
            ("interactive", click(&mut inner, "U0BOB", "C0OPS", "3.000001", "approve", "A12:3:ab12")),
        ]
    };
    for (kind, payload) in payloads {
        world.slack.acked(&world.slack.envelope(kind, &payload)).await;
    }
    let arrived = world.arrived().await;
    let stored = serde_json::to_string(&arrived).unwrap();
    for secret in ["hunter2", "hooks.slack.com", "verification-token"] {
        assert!(!stored.contains(secret), "{secret} is in {stored}");
    }
    let [direct, reply, lost, command, shortcut, click] = arrived.as_slice() else { panic!("{arrived:#?}") };
    assert!(matches!(direct, Incoming::Direct(said) if said.words.text.contains("[secret:")));
    assert!(matches!(reply, Incoming::ThreadReply(said) if said.thread.as_deref() == Some("1.000001")));
    assert_eq!(*lost, Incoming::Channel { channel: "C0OPS".to_owned(), loss: Loss::Archived });
    assert!(matches!(command, Incoming::Command { words, .. } if words.text == "handover 8h"));
    let Incoming::Shortcut { about: Some(about), .. } = shortcut else { panic!("{shortcut:?}") };
    assert_eq!(about.words.text, "\nCheckoutErrors\nrate 12 %");
    assert!(
        matches!(click, Incoming::Click { value, spot: Some(spot), .. } if value == "A12:3:ab12" && spot.ts == "3.000001")
    );
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_acknowledged_and_comes_again() {
    let (world, _task) = World::connected().await;
    world.disk.full.store(true, Ordering::SeqCst);
    let lost = world.slack.writes("U0ANN", "C0OPS", None, &mention("look at checkout"));
    // Something that is nothing to us is acknowledged, so the one before it would have been by then.
    let other = world.slack.writes("U0ANN", "C0OPS", None, "of no interest");
    world.slack.acked(&other).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!world.slack.shared.lock().acks.contains_key(&lost));
    assert_eq!(world.health.picture().ready(), Ready::No);
    assert!(world.health.picture().words().contains("nothing can be taken in"), "{}", world.health.picture().words());

    world.disk.full.store(false, Ordering::SeqCst);
    world.slack.acked(&world.slack.again(&lost, 1)).await;
    assert_eq!((world.arrived().await.len(), world.health.picture().ready()), (1, Ready::Yes));
}

#[tokio::test]
async fn wh_04_a_modal_is_open_at_once_and_a_replay_opens_none() {
    let (world, _task) = World::connected().await;
    let began = Instant::now();
    let clicked = world.slack.clicks("U0ANN", "C0OPS", "3.000001", "whole", "A12");
    let view = world.slack.until("a modal", |inner| inner.views.first().map(|view| view.id.clone())).await;
    assert!(began.elapsed() < Duration::from_millis(1_500), "{:?}", began.elapsed());
    world.slack.acked(&clicked).await;
    world.slack.acked(&world.slack.again(&clicked, 1)).await;

    let payload = click_in_view(&mut world.slack.shared.lock(), "U0ANN", &view, "page", "2");
    world.slack.acked(&world.slack.envelope("interactive", &payload)).await;
    world
        .slack
        .until("page 2", |inner| inner.views.iter().find(|view| view.view["title"]["text"] == "Page 2").map(drop))
        .await;

    let wrong = submit(&mut world.slack.shared.lock(), "U0ANN", &view, &[("why", "reason", "")]);
    let told = world.slack.acked(&world.slack.envelope("interactive", &wrong)).await;
    assert_eq!(told, json!({ "response_action": "errors", "errors": { "why": "say why" } }));

    let payload = submit(&mut world.slack.shared.lock(), "U0ANN", &view, &[("why", "reason", "the pool is fine")]);
    let sent = world.slack.envelope("interactive", &payload);
    let told = world.slack.acked(&sent).await;
    assert_eq!((&told["response_action"], &told["view"]["title"]["text"]), (&json!("update"), &json!("Recorded")));
    world.slack.acked(&world.slack.again(&sent, 1)).await;

    let arrived = world.arrived().await;
    let [Incoming::Click { .. }, Incoming::Click { .. }, Incoming::Submission { values, view, .. }] =
        arrived.as_slice()
    else {
        panic!("{arrived:#?}")
    };
    assert_eq!(values["why.reason"].text, "the pool is fine");
    assert_eq!(view.private_metadata, "A12");
    assert_eq!(world.slack.calls("views.open").len(), 1);
    assert_eq!(world.slack.shared.lock().violations, Vec::<String>::new());
}

#[tokio::test]
async fn wh_09_a_slow_modal_delays_no_acknowledgement() {
    let (world, _task) = World::connected().await;
    let began = Instant::now();
    let clicks: Vec<String> = (0..8).map(|_| world.slack.clicks("U0ANN", "C0OPS", "3.000001", "slow", "A12")).collect();
    for click in &clicks {
        world.slack.acked(click).await;
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(world.arrived().await.len(), 8);
}

#[tokio::test]
async fn ap_14_what_is_of_another_app_or_workspace_is_refused() {
    let (world, _task) = World::connected().await;
    let good = click(&mut world.slack.shared.lock(), "U0ANN", "C0OPS", "3.000001", "approve", "A12");
    let changed = |pointer: &str, to: Value| {
        let mut payload = good.clone();
        *payload.pointer_mut(pointer).unwrap() = to;
        payload
    };
    let bad = [
        changed("/api_app_id", json!("A0OTHER")),
        changed("/api_app_id", Value::Null),
        changed("/team/id", json!("T0OTHER")),
        changed("/team", Value::Null),
        changed("/enterprise", json!({ "id": "E0OTHER" })),
        changed("/user", Value::Null),
        changed("/user/id", json!("U0ANN <!here>")),
        changed("/trigger_id", json!("")),
        changed("/actions", json!([])),
    ];
    let refused = bad.len() as u64;
    for payload in bad {
        // It is acknowledged: it would only come again.
        world.slack.acked(&world.slack.envelope("interactive", &payload)).await;
    }
    assert_eq!(world.arrived().await, []);
    assert_eq!(world.health.picture().refused, refused);
    world.slack.acked(&world.slack.envelope("interactive", &good)).await;
    assert_eq!(world.arrived().await.len(), 1);
}

#[tokio::test]
async fn a_connection_that_goes_is_replaced_before_it_is_gone() {
    let (world, _task) = World::connected().await;
    world.slack.disconnect(Some("refresh_requested"));
    world.slack.until("a second socket", |inner| (inner.sockets.len() == 2).then_some(())).await;
    // What still comes over the old one is taken in too.
    let late = {
        let mut inner = world.slack.shared.lock();
        let said = message(&mut inner, "U0ANN", "C0OPS", None, &mention("late"));
        inner.sockets.swap(0, 1);
        inner.envelope("events_api", &said, 0)
    };
    world.slack.acked(&late).await;
    assert!(matches!(world.health.picture().link, Link::Up { .. }));

    world.slack.disconnect(None);
    world.slack.until("no socket", |inner| inner.sockets.is_empty().then_some(())).await;
    world.slack.connected().await;
    let after = world.slack.writes("U0ANN", "C0OPS", None, &mention("after"));
    world.slack.acked(&after).await;
    assert_eq!(world.arrived().await.len(), 2);
}

#[tokio::test]
async fn what_keeps_us_from_connecting_is_said() {
    let world = World::new().await;
    let told = |reason: &'static str| {
        let health = world.health.clone();
        async move {
            let began = Instant::now();
            while !health.picture().words().contains(reason) {
                assert!(began.elapsed() < Duration::from_secs(10), "{}", health.picture().words());
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    world.slack.shared.lock().revoked = true;
    let _task = world.connect();
    told("token_revoked").await;
    assert_eq!(world.health.picture().ready(), Ready::No);
    {
        let mut inner = world.slack.shared.lock();
        inner.revoked = false;
        inner.most_sockets = 0;
    }
    told("too many connections").await;
    world.slack.shared.lock().most_sockets = 10;
    world.slack.connected().await;
    told("connected since").await;
    world.slack.disconnect(Some("link_disabled"));
    told("Socket Mode is switched off").await;
}

#[tokio::test]
async fn a_thousand_clicks_at_once_are_all_kept() {
    let (world, _task) = World::connected().await;
    let began = Instant::now();
    let clicks: Vec<String> =
        (0..1_000).map(|n| world.slack.clicks("U0ANN", "C0OPS", "3.000001", "approve", &format!("A{n}"))).collect();
    for click in &clicks {
        world.slack.acked(click).await;
    }
    assert_eq!(world.arrived().await.len(), 1_000, "{:?}", began.elapsed());
}
