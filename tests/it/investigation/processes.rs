//! Real processes, really killed, at points that the other side of a connection holds.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::process::Child;
use tokio::sync::Notify;

use super::whole::warrant;
use super::{World, at, serve, serve_all};
use crate::model_server::ModelServer;
use crate::model_server::script::{Ending, Shape, Turn};

const PATIENCE: Duration = Duration::from_mins(1);

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect(what);
}

fn start(world: &World) -> Child {
    let since = at(world.since);
    warrant(world, &["ask", "why does checkout fail?", "--since", &since, "--json"]).spawn().unwrap()
}

/// The report of a run or of a resumed one.
async fn report(world: &World, args: &[&str]) -> Value {
    let run = warrant(world, args).output().await.unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice::<Value>(&run.stdout).unwrap()["report"].clone()
}

/// The id of the only investigation without a report.
async fn left_behind(world: &World) -> String {
    let list = warrant(world, &["investigations", "list", "--json"]).output().await.unwrap();
    let lines = String::from_utf8(list.stdout).unwrap();
    let mut open =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|it| it["outcome"].is_null());
    open.next().unwrap()["id"].as_str().unwrap().to_owned()
}

/// A server that answers like `script` up to turn `at` and there falls silent.
async fn silent_at(script: &[Turn], at: usize) -> ModelServer {
    let mut turns = script[..at].to_vec();
    turns.push(Turn::text(["hm"]).ending(Ending::Stall));
    serve(turns).await
}

pub async fn signal(child: &Child, name: &str) {
    let pid = child.id().unwrap().to_string();
    let sent = tokio::process::Command::new("kill").args([name, &pid]).status().await.unwrap();
    assert!(sent.success());
}

#[tokio::test]
async fn a_process_killed_while_the_model_answers_is_resumed_to_the_same_report() {
    let world = World::new();
    let shape = Shape::Anthropic;
    let whole = serve_all(world.script()).await;
    world.write_config(&world.config_of(shape, &whole, ""));
    let since = at(world.since);
    let unbroken = report(&world, &["ask", "why does checkout fail?", "--since", &since, "--json"]).await;
    for turn in 0..4 {
        let server = silent_at(&world.script(), turn).await;
        world.write_config(&world.config_of(shape, &server, ""));
        let mut child = start(&world);
        until("the request comes", || server.requests().len() == turn + 1).await;
        // SIGKILL.
        child.kill().await.unwrap();
        world.write_config(&world.config_of(shape, &whole, ""));
        let id = left_behind(&world).await;
        assert_eq!(report(&world, &["investigations", "resume", &id, "--json"]).await, unbroken, "at turn {turn}");
    }
}

/// A health endpoint that says nothing until it is told to.
async fn health() -> (u16, Arc<AtomicBool>, Arc<Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (speaks, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let (speaking, asking) = (Arc::clone(&speaks), Arc::clone(&asked));
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (speaks, asked) = (Arc::clone(&speaking), Arc::clone(&asking));
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _size = stream.read(&mut request).await;
                asked.notify_one();
                if speaks.load(Ordering::SeqCst) {
                    let _sent = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
                } else {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    (port, speaks, asked)
}

#[tokio::test]
async fn a_process_killed_while_reads_are_under_way_reads_on_when_resumed() {
    let world = World::new();
    let (port, speaks, asked) = health().await;
    // The sweep's check of health is E4 here, and the changes are E5.
    let mut good = world.good_report();
    good["findings"][1]["evidence"] = json!(["E5"]);
    let server = serve_all(vec![Turn::calls([("r", "report", good)])]).await;
    let config = world.config_of(Shape::OpenAi, &server, "");
    let health = format!("deploys = [\"deploys\"]\nhealth = [\"http://127.0.0.1:{port}/healthz\"]");
    world.write_config(&config.replace("deploys = [\"deploys\"]", &health));
    let mut child = start(&world);
    tokio::time::timeout(PATIENCE, asked.notified()).await.unwrap();
    child.kill().await.unwrap();
    speaks.store(true, Ordering::SeqCst);
    let id = left_behind(&world).await;
    let resumed = report(&world, &["investigations", "resume", &id, "--json"]).await;
    let since = at(world.since);
    let unbroken = report(&world, &["ask", "why does checkout fail?", "--since", &since, "--json"]).await;
    assert_eq!(resumed, unbroken);
    assert_eq!(resumed["outcome"], "confirmed");
}

#[tokio::test]
async fn ctrl_c_ends_cleanly_says_how_to_resume_and_no_second_process_may_run_it() {
    let world = World::new();
    let server = silent_at(&world.script(), 1).await;
    world.write_config(&world.config_of(Shape::OpenAi, &server, ""));
    let since = at(world.since);
    let mut command = warrant(&world, &["ask", "why does checkout fail?", "--since", &since]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    until("the second request comes", || server.requests().len() == 2).await;
    let id = left_behind(&world).await;
    let second = warrant(&world, &["investigations", "resume", &id]).output().await.unwrap();
    assert_eq!(second.status.code(), Some(2));
    let refused = String::from_utf8(second.stderr).unwrap();
    assert_eq!(refused, format!("warrant: investigation {id} is being run by another process\n"));
    signal(&child, "-INT").await;
    let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(
        stderr.ends_with(&format!("Interrupted. What was found is kept: warrant investigations resume {id}\n")),
        "{stderr}"
    );
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "");
    let whole = serve_all(world.script()).await;
    world.write_config(&world.config_of(Shape::OpenAi, &whole, ""));
    assert_eq!(report(&world, &["investigations", "resume", &id, "--json"]).await["outcome"], "confirmed");
    // Once it has reported, it only reports again; nobody is asked.
    world.write_config(&world.config_of(Shape::OpenAi, &server, ""));
    assert_eq!(report(&world, &["investigations", "resume", &id, "--json"]).await["outcome"], "confirmed");
    assert_eq!(server.requests().len(), 2);
}
