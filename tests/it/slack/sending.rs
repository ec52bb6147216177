//! Over the Web API: what is put stands there, what is refused is said, and files go both ways.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use warrant::app::SystemClock;
use warrant::chat::slack::client::Client;
use warrant::chat::slack::client::error::CallError;
use warrant::chat::slack::client::files::Upload;
use warrant::chat::slack::outbox::{Class, Fate, Message, Outbox, Parts, Thread};

use super::world::{World, modal, open};
use crate::slack_server::state::{Channel, Fault, File};
use crate::slack_server::{APP_TOKEN, BOT, TEAM};

fn message(id: &str, channel: &str, class: Class, text: &str) -> Message {
    let blocks = json!([{ "type": "section", "text": { "type": "plain_text", "text": text } }]);
    let content = json!({ "text": text, "blocks": blocks });
    Message { id: id.to_owned(), channel: channel.to_owned(), thread: Thread::None, class, content }
}

fn outbox(world: &World) -> (Arc<Outbox>, CancellationToken, JoinHandle<()>) {
    let parts = Parts {
        keep: world.store.clone(),
        api: world.client.clone(),
        health: world.health.clone(),
        clock: Arc::new(SystemClock),
    };
    let (outbox, cancel) = (Arc::new(Outbox::new(parts)), CancellationToken::new());
    let task = tokio::spawn(Arc::clone(&outbox).run(cancel.clone()));
    (outbox, cancel, task)
}

async fn fate(outbox: &Outbox, id: &str) -> Fate {
    let mut changes = outbox.changes();
    loop {
        changes.borrow_and_update();
        match outbox.fate(id).await.unwrap() {
            Some(Fate::Waiting) | None => {}
            Some(fate) => return fate,
        }
        tokio::time::timeout(Duration::from_secs(15), changes.changed()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn what_is_put_stands_there_over_a_restart_and_a_lost_answer() {
    let mut world = World::new().await;
    world.slack.channel("C0DEV");
    world.slack.fault("chat.postMessage", [Fault::DoneThenStatus(500)]);
    let (first, cancel, task) = outbox(&world);
    first.put(message("card", "C0OPS", Class::Card, "may I?")).await.unwrap();
    world.slack.until("a card", |inner| (!inner.messages.is_empty()).then_some(())).await;
    cancel.cancel();
    task.await.unwrap();
    world.store.close().await;

    world.store = open(&world.path).await;
    let (second, ..) = outbox(&world);
    let Fate::Stands { ts, .. } = fate(&second, "card").await else { panic!("it does not stand") };
    second.put(message("card", "C0OPS", Class::Card, "approved by Ann")).await.unwrap();
    second
        .put(Message { thread: Thread::Under("card".to_owned()), ..message("more", "C0OPS", Class::Report, "more") })
        .await
        .unwrap();
    let more = fate(&second, "more").await;
    world.slack.until("the edit", |inner| inner.messages.iter().find(|message| message.edits > 0).map(drop)).await;
    let stands = world.slack.messages("C0OPS");
    let said: Vec<(&str, Option<&str>)> =
        stands.iter().map(|message| (message.body["text"].as_str().unwrap(), message.thread.as_deref())).collect();
    assert_eq!(said, [("approved by Ann", None), ("more", Some(ts.as_str()))], "{more:?}");
    assert_eq!(world.slack.calls("conversations.history").len(), 1);
    assert_eq!(world.slack.shared.lock().violations, Vec::<String>::new());
    let posted = world.slack.calls("chat.postMessage");
    assert!(posted.iter().all(|call| call.body["unfurl_links"] == false && call.body["parse"] == "none"));
}

#[tokio::test]
async fn what_slack_refuses_is_said_and_kept() {
    let world = World::new().await;
    world.slack.shared.lock().channels.insert("C0OLD".to_owned(), Channel { archived: true, member: true });
    world.slack.shared.lock().channels.insert("C0OUT".to_owned(), Channel { archived: false, member: false });
    world.slack.channel("C0DEV");
    world.slack.fault("chat.postMessage", [Fault::Limited(1)]);
    let (outbox, ..) = outbox(&world);
    outbox.put(message("first", "C0OPS", Class::Report, "found")).await.unwrap();
    assert!(matches!(fate(&outbox, "first").await, Fate::Stands { .. }));
    let posted = world.slack.calls("chat.postMessage");
    assert!(posted.len() == 2 && posted[1].at - posted[0].at >= Duration::from_secs(1), "{posted:?}");
    outbox.put(message("old", "C0OLD", Class::Report, "found")).await.unwrap();
    outbox.put(message("out", "C0OUT", Class::Report, "found")).await.unwrap();
    outbox.put(message("none", "C0NONE", Class::Report, "found")).await.unwrap();
    outbox.put(message("long", "C0DEV", Class::Report, &"x".repeat(3_001))).await.unwrap();
    let mut told = Vec::new();
    for id in ["old", "out", "none", "long"] {
        let Fate::Undeliverable(why) = fate(&outbox, id).await else { panic!("{id} stands") };
        told.push(format!("{id}: {why}"));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    old: nothing can be posted to the channel (`is_archived`); invite the app or name another channel
    out: nothing can be posted to the channel (`not_in_channel`); invite the app or name another channel
    none: nothing can be posted to the channel (`channel_not_found`); invite the app or name another channel
    long: Slack refused it: `invalid_blocks`
    ");
    assert_eq!(world.health.picture().channels.len(), 3);
    assert_eq!(world.health.picture().limited, 1);
}

#[tokio::test]
async fn errors_are_told_by_what_follows_from_them() {
    let world = World::new().await;
    let client = &world.client;
    let me = client.me().await.unwrap();
    assert_eq!((me.team.as_str(), me.user.as_str(), me.enterprise), (TEAM, BOT, None));
    let trigger = world.slack.shared.lock().trigger("U0ANN");
    client.open_view(&trigger, &modal("One")).await.unwrap();
    assert_eq!(client.open_view(&trigger, &modal("Two")).await, Err(CallError::TriggerExpired));
    assert_eq!(client.open_view("1.2.nonsense", &modal("Two")).await, Err(CallError::TriggerExpired));
    client.look_at("C0OPS").await.unwrap();
    assert_eq!(client.look_at("C0NONE").await, Err(CallError::ChannelGone("channel_not_found".to_owned())));
    client.whisper("C0OPS", "U0ANN", None, "guests can't use this").await.unwrap();
    let whisper = world.slack.shared.lock().whispers.pop().unwrap();
    assert_eq!((&whisper["user"], &whisper["blocks"][0]["text"]["type"]), (&json!("U0ANN"), &json!("plain_text")));
    world.slack.fault("auth.test", [Fault::Limited(7), Fault::Status(502), Fault::Error("a strange\n*error*")]);
    assert_eq!(client.me().await, Err(CallError::RateLimited { after: Duration::from_secs(7) }));
    assert_eq!(client.me().await, Err(CallError::Transport("it answered 502".to_owned())));
    assert_eq!(client.me().await, Err(CallError::Refused("astrangeerror".to_owned())));
    let wrong = Client::new(&world.slack.api_url(), "xoxb-wrong").unwrap();
    assert_eq!(wrong.me().await, Err(CallError::NotAuthed("invalid_auth".to_owned())));
    let swapped = Client::new(&world.slack.api_url(), APP_TOKEN).unwrap();
    assert_eq!(swapped.me().await, Err(CallError::NotAuthed("not_allowed_token_type".to_owned())));
    let nobody = Client::new("http://127.0.0.1:1/api", "xoxb-1").unwrap();
    assert!(matches!(nobody.me().await, Err(CallError::Transport(why)) if why.starts_with("no connection")));
}

#[tokio::test]
async fn files_go_up_and_texts_come_down() {
    let world = World::new().await;
    let picture = Upload {
        name: "errors.png",
        alt: "errors over time",
        bytes: b"\x89PNG...",
        place: Some(("C0OPS", Some("1.000001"))),
    };
    let id = world.client.upload(picture).await.unwrap();
    let kept = world.slack.shared.lock().files[&id].clone();
    assert_eq!(kept.bytes, picture.bytes);
    let shared = kept.shared.unwrap();
    assert_eq!((&shared["channel_id"], &shared["thread_ts"]), (&json!("C0OPS"), &json!("1.000001")));
    assert_eq!(world.slack.shared.lock().violations, Vec::<String>::new());

    let address = world.slack.shared.address;
    let file = |id: &str, bytes: &[u8], url: Value| {
        let info = json!({ "id": id, "size": bytes.len(), "mimetype": "text/plain", "url_private": url });
        world.slack.shared.lock().files.insert(id.to_owned(), File { info, bytes: bytes.to_vec(), shared: None });
    };
    file("F1", "a log\nof two lines\n".as_bytes(), json!(format!("http://{address}/files/F1")));
    file("F2", &[0xff, 0xfe], json!(format!("http://{address}/files/F2")));
    file("F3", &[b'x'; 101], json!(format!("http://{address}/files/F3")));
    file("F4", b"x", json!("http://169.254.169.254/latest/meta-data"));
    file("F5", b"x", json!("https://files.slack.com.evil.example/F5"));
    assert_eq!(world.client.download("F1", 100).await.unwrap(), "a log\nof two lines\n");
    let refused = |code: &str| Err(CallError::Refused(code.to_owned()));
    assert_eq!(world.client.download("F2", 100).await, refused("file_is_not_text"));
    assert_eq!(world.client.download("F3", 100).await, refused("file_too_large"));
    assert_eq!(world.client.download("F4", 100).await, refused("file_not_at_slack"));
    assert_eq!(world.client.download("F5", 100).await, refused("file_not_at_slack"));
    assert_eq!(world.client.download("../F1", 100).await, refused("not_a_file_id"));
}
