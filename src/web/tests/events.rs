//! Events as they come: whole and in order, from anywhere on, for as long as one may see them.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use warrant_kernel::domain::event::{Answered, Body};
use warrant_kernel::store::numbered;

use crate::agent::state::State;
use crate::agent::trace::Unwatched;
use crate::web::server::Limits;

use super::{ANN, BOB, Double, World, opened, report, run, served, why, world};

const EVENTS: &str = "/v1/investigations/i-one/events";

fn steered(texts: &[&str]) -> Vec<Body> {
    texts.iter().map(|text| Body::Steered { text: (*text).to_owned(), by: None }).collect()
}

/// The numbers of the events in a text.
fn numbers(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

async fn whole(world: &World, last: Option<&str>) -> String {
    let mut asked = world.asked(Method::GET, EVENTS, Some(BOB));
    if let Some(last) = last {
        asked = asked.header("last-event-id", last);
    }
    let response = asked.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_stream_ends_with_the_report_and_goes_on_from_any_event() {
    let world = world(Double::new()).await;
    let id = world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let many: Vec<String> = (0..120).map(|n| format!("line {n}\nid: 999\n\ndata: {{}}\r")).collect();
    world.append(&id, 1, steered(&many.iter().map(String::as_str).collect::<Vec<_>>())).await;
    world.append(&id, 121, vec![report("likely")]).await;
    let text = whole(&world, None).await;
    assert_eq!(numbers(&text), (1..=122).collect::<Vec<_>>());
    assert!(text.ends_with("event: end\ndata: {}\n\n"));
    for last in [0, 1, 60, 121] {
        assert_eq!(numbers(&whole(&world, Some(&last.to_string())).await), (last + 1..=122).collect::<Vec<_>>());
    }
    for last in ["", "x", "-1", "1 2", "99999999999999999999999"] {
        let asked = world.asked(Method::GET, EVENTS, Some(BOB)).header("last-event-id", last);
        assert_eq!(asked.send().await.unwrap().status(), 400, "{last:?}");
    }
}

#[tokio::test]
async fn what_is_nobodys_business_is_left_out() {
    let world = world(Double::new()).await;
    let id = world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let answer = json!({
        "model": "scripted", "text": "I look.", "calls": [], "opaque": [{ "signature": "sealed-block" }], "stop": "done",
        "usage": { "input": 1, "cached": 0, "output": 1 },
    });
    let answered = Body::Answered(Answered::Model { turn: 1, answer });
    world.append(&id, 1, vec![Body::Framed { word: "q7marks".to_owned() }, answered, report("likely")]).await;
    let text = whole(&world, None).await;
    assert_eq!(numbers(&text), [1, 3, 4]);
    assert!(text.contains("I look.") && !text.contains("q7marks") && !text.contains("sealed-block"), "{text}");
}

#[tokio::test]
async fn events_of_what_runs_here_come_as_they_are_recorded() {
    let world = world(Double::new()).await;
    let id = world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let watcher = world.feed.watch(id.clone(), Arc::new(Unwatched));
    let mut response = world.asked(Method::GET, EVENTS, Some(BOB)).send().await.unwrap();
    let mut state = State::fold(&[opened(&run("i-one", 1, Some("checkout"), "ann"))]).unwrap();
    let mut text = String::new();
    for n in 1..=5_u64 {
        while numbers(&text).last() != Some(&n) {
            text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
        }
        let body = if n < 5 { steered(&["more"]) } else { vec![report("likely")] };
        let event = numbered(n, "2026-03-01T13:00:00Z".parse().unwrap(), body).remove(0);
        world.store.append(&id, std::slice::from_ref(&event), None).await.unwrap();
        state.apply(&event);
        watcher.event(&event, &state);
    }
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    assert_eq!(numbers(&text), [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn what_another_process_writes_comes_too_and_a_stream_shows_that_it_lives() {
    let world = world(Double::new()).await;
    let id = world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let mut response = world.asked(Method::GET, EVENTS, Some(BOB)).send().await.unwrap();
    let mut text = String::new();
    while !text.contains(": lives") {
        text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    world.append(&id, 1, vec![report("likely")]).await;
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    assert_eq!(numbers(&text), [1, 2]);
}

#[tokio::test]
async fn wh_16_a_stream_ends_when_its_token_is_revoked() {
    let world = world(Double::new()).await;
    world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let mut response = world.asked(Method::GET, EVENTS, Some(BOB)).send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    *world.double.revoked.lock().unwrap() = true;
    while response.chunk().await.unwrap().is_some() {}
    assert_eq!(world.get("/v1/approvals", Some(BOB)).await.0, 401);
}

#[tokio::test]
async fn so_many_streams_and_no_more_and_each_ends_with_the_server() {
    let world = world(Double::new()).await;
    world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut response = world.asked(Method::GET, EVENTS, Some(ANN)).send().await.unwrap();
        assert!(response.chunk().await.unwrap().is_some());
        open.push(response);
    }
    assert_eq!(why(&world.get(EVENTS, Some(ANN)).await), (429, "TOO_MANY_STREAMS"));
    drop(open.pop());
    // The place is free once the server has seen that the reader is gone.
    let mut again = world.asked(Method::GET, EVENTS, Some(ANN)).send().await.unwrap();
    while again.status() == 429 {
        tokio::task::yield_now().await;
        again = world.asked(Method::GET, EVENTS, Some(ANN)).send().await.unwrap();
    }
    world.ending.cancel();
    for mut response in open {
        while response.chunk().await.unwrap().is_some() {}
    }
    assert_eq!(world.serving.await.unwrap().cut, 0, "nothing had to be cut off");
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_cut_off_and_comes_back_for_the_rest() {
    // Long enough that all three are seen to have their streams, on a busy machine too.
    let limits = Limits { stall: Duration::from_secs(3), ..Limits::standard() };
    let world = served(Double::new(), limits, axum::Router::new()).await;
    let id = world.investigation("i-one", 1, Some("checkout"), "ann").await;
    // More than all buffers on the way hold.
    let long = "x".repeat(256 << 10);
    let many = vec![long.as_str(); 64];
    world.append(&id, 1, steered(&many)).await;
    world.append(&id, 65, vec![report("likely")]).await;
    let request = format!("GET {EVENTS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {BOB}\r\n\r\n");
    let mut slow = Vec::new();
    for _ in 0..3 {
        let mut one = TcpStream::connect(world.at).await.unwrap();
        one.write_all(request.as_bytes()).await.unwrap();
        // It has its stream before anybody else asks; looking takes nothing away.
        let mut head = [0; 12];
        one.peek(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        slow.push(one);
    }
    // They have all streams, until each has lost its own without having read anything.
    let asked = || async { world.asked(Method::GET, EVENTS, Some(BOB)).send().await.unwrap() };
    assert_eq!(asked().await.status(), 429);
    let mut held = Vec::new();
    while held.len() < slow.len() {
        let answer = asked().await;
        if answer.status() == 200 {
            held.push(answer);
        }
    }
    drop(held);
    let mut all = Vec::new();
    let mut first = slow.remove(0);
    let mut piece = vec![0; 1 << 20];
    while let Ok(read @ 1..) = first.read(&mut piece).await {
        all.extend_from_slice(&piece[..read]);
    }
    // The last one may have come in part only.
    let got = numbers(&String::from_utf8_lossy(&all));
    assert!((2..66).contains(&got.len()), "{} came", got.len());
    let last = got[got.len() - 2];
    assert_eq!(got, (1..=last + 1).collect::<Vec<_>>());
    let rest = numbers(&whole(&world, Some(&last.to_string())).await);
    assert_eq!(rest, (last + 1..=66).collect::<Vec<_>>());
}
