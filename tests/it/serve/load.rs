//! `warrant serve` under load: a flood of alerts, clicks meanwhile, everything delivered again, and kills under way.
//!
//! The tests assert counts and memory, never times. With `WARRANT_TEST_LOAD=full` they run as large as docs/PERFORMANCE.md
//! tells of, and print what they measure.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::shop::free_port;
use super::world::{BEARER, OPS, Serving, config, program, says, secrets, slack};
use crate::investigation::writes::report;
use crate::investigation::{World, serve_all};
use crate::model_server::ModelServer;
use crate::model_server::script::Turn;
use crate::slack_server::SlackServer;

/// How much more memory a flood may take, in KiB.
const GROWTH: u64 = 64 << 10;

/// How large.
struct Scale {
    groups: usize,
    alerts_each: usize,
    /// In which the flood comes.
    flood: Duration,
    clicks: usize,
    kills: usize,
    between_kills: Duration,
    is_full: bool,
}

impl Scale {
    fn of_environment() -> Self {
        let is_full = std::env::var("WARRANT_TEST_LOAD").is_ok_and(|it| it == "full");
        let seconds = Duration::from_secs;
        if is_full {
            Self {
                groups: 500,
                alerts_each: 20,
                flood: seconds(10),
                clicks: 1_000,
                kills: 120,
                between_kills: seconds(5),
                is_full,
            }
        } else {
            Self {
                groups: 100,
                alerts_each: 20,
                flood: seconds(4),
                clicks: 100,
                kills: 12,
                between_kills: seconds(3),
                is_full,
            }
        }
    }

    fn alerts(&self) -> u64 {
        u64::try_from(self.groups * self.alerts_each).unwrap()
    }
}

struct Flooded {
    world: World,
    slack: SlackServer,
    config: String,
    _model: ModelServer,
}

async fn flooded(groups: usize) -> Flooded {
    let (world, slack) = (World::new(), slack().await);
    let model = serve_all(vec![report(&world)]).await;
    let mut config = config(&world, &model, &slack);
    for group in 0..groups {
        writeln!(config, "[services.s{group}]").unwrap();
    }
    Flooded { world, slack, config, _model: model }
}

/// What Alertmanager posts for a group.
fn body(group: usize, first: usize, count: usize) -> Value {
    let alerts: Vec<Value> = (first..first + count)
        .map(|nth| {
            json!({
                "status": "firing",
                "labels": { "alertname": format!("A{nth}"), "service": format!("s{group}"), "severity": "warning" },
                "annotations": { "summary": format!("number {nth} of group {group} is not well") },
                "startsAt": "2026-11-30T10:00:00Z", "endsAt": "0001-01-01T00:00:00Z",
                "fingerprint": format!("{group:04x}{nth:08x}"),
            })
        })
        .collect();
    json!({
        "version": "4", "groupKey": format!("g{group}"), "status": "firing", "receiver": "warrant", "groupLabels": {},
        "commonLabels": {}, "commonAnnotations": {}, "externalURL": "http://am", "alerts": alerts,
    })
}

/// Posts as a sender does that comes again until it is taken: over refusals, and while nobody listens.
async fn delivered(client: &reqwest::Client, at: &str, body: &Value) {
    loop {
        let sent = client.post(format!("{at}/v1/alerts/alertmanager")).bearer_auth(BEARER).json(body).send().await;
        match sent.map(|answer| answer.status().as_u16()) {
            Ok(200) => return,
            other => {
                assert!(matches!(other, Ok(503) | Err(_)), "{other:?}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn metrics(at: &str) -> String {
    reqwest::get(format!("{at}/metrics")).await.unwrap().text().await.unwrap()
}

/// A sample of the text that `/metrics` gives; 0 where there is none yet.
fn sample(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.map_or(0, |value| value.parse().unwrap())
}

const NEW: &str = "warrant_alerts_received_total{delivery=\"new\"}";
const KNOWN: &str = "warrant_alerts_received_total{delivery=\"known\"}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_alerts_is_kept_once_each_in_bounded_memory_and_clicks_are_answered_meanwhile() {
    let scale = Scale::of_environment();
    let flooded = flooded(scale.groups).await;
    let serving = Serving::start(&flooded.world, &flooded.config).await;
    flooded.slack.connected().await;
    let client = reqwest::Client::new();
    // The first alert brings everything into memory that any alert does.
    delivered(&client, &serving.at, &body(0, 1_000_000, 1)).await;
    flooded.slack.until("an incident", |inner| says(inner, "A1000000").map(drop)).await;
    let before = serving.resident_kib();
    if scale.is_full {
        eprintln!("{before} KiB after the first alert");
    }

    let flood = async {
        let pace = scale.flood / u32::try_from(scale.groups).unwrap();
        let mut tick = tokio::time::interval(pace);
        let began = Instant::now();
        for group in 0..scale.groups {
            tick.tick().await;
            delivered(&client, &serving.at, &body(group, 0, scale.alerts_each)).await;
        }
        began.elapsed()
    };
    let clicks = async {
        let mut tick = tokio::time::interval(scale.flood / u32::try_from(scale.clicks).unwrap());
        let mut took = Vec::new();
        for nth in 0..scale.clicks {
            tick.tick().await;
            let began = Instant::now();
            let value = format!("A{nth}.1.0123456789ab");
            let envelope = flooded.slack.clicks("U0BOB", OPS, "1.000001", "warrant.approve", &value);
            flooded.slack.acked(&envelope).await;
            took.push(began.elapsed());
        }
        took.sort_unstable();
        took
    };
    let (flood, took) = tokio::join!(flood, clicks);
    let told = metrics(&serving.at).await;
    assert_eq!(sample(&told, NEW), scale.alerts() + 1, "none lost, none twice");
    let grown = serving.resident_kib().saturating_sub(before);
    assert!(grown <= GROWTH, "{grown} KiB more");

    // All of it again, last first.
    for group in (0..scale.groups).rev() {
        delivered(&client, &serving.at, &body(group, 0, scale.alerts_each)).await;
    }
    let told = metrics(&serving.at).await;
    assert_eq!((sample(&told, NEW), sample(&told, KNOWN)), (scale.alerts() + 1, scale.alerts()));
    let grown_again = serving.resident_kib().saturating_sub(before);
    assert!(grown_again <= GROWTH, "{grown_again} KiB more");
    let incidents = flooded.slack.messages(OPS).iter().filter(|message| message.thread.is_none()).count();
    assert!(incidents <= scale.groups, "{incidents}");
    if scale.is_full {
        let at = |share: usize| took[took.len() * share / 100];
        eprintln!(
            "{} alerts in {flood:?}, {grown} KiB more ({grown_again} after all of it again); {} clicks acknowledged: median {:?}, \
             p99 {:?}",
            scale.alerts(),
            took.len(),
            at(50),
            at(99),
        );
    }
    serving.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cr_killed_again_and_again_under_load_it_loses_no_alert_that_it_took() {
    let scale = Scale::of_environment();
    let flooded = flooded(20).await;
    let address = format!("127.0.0.1:{}", free_port());
    let config = flooded.config.replace("listen = \"127.0.0.1:0\"", &format!("listen = \"{address}\""));
    let at = format!("http://{address}");
    let client = reqwest::Client::new();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let sending = tokio::spawn({
        let (client, at) = (client.clone(), at.clone());
        async move {
            let mut sent = 0;
            while !*stopped.borrow() {
                delivered(&client, &at, &body(sent % 20, sent, 1)).await;
                sent += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            sent
        }
    });
    let mut ready = Vec::new();
    for _ in 0..scale.kills {
        let began = Instant::now();
        let serving = Serving::start(&flooded.world, &config).await;
        ready.push(began.elapsed());
        tokio::time::sleep(scale.between_kills).await;
        serving.kill().await;
    }
    let serving = Serving::start(&flooded.world, &config).await;
    stop.send(true).unwrap();
    let sent = sending.await.unwrap();
    let known = sample(&metrics(&at).await, KNOWN);
    for nth in 0..sent {
        delivered(&client, &at, &body(nth % 20, nth, 1)).await;
    }
    let told = metrics(&at).await;
    // The process counts what it was sent itself: all of it was there already.
    let taken = sample(&told, KNOWN) - known;
    assert_eq!(taken, u64::try_from(sent).unwrap(), "{taken} of {sent} were known");
    assert!(sent > scale.kills, "{sent}");
    ready.sort_unstable();
    if scale.is_full {
        eprintln!("{sent} alerts over {} kills; ready in {:?} at most", scale.kills, ready.last());
    }
    serving.end().await;
    let mut verify = std::process::Command::new(program());
    verify.args(["audit", "verify", "--config"]).arg(flooded.world.path("warrant.toml")).envs(secrets());
    let verified = verify.output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

/// How many investigations have ended, whatever came of them.
fn ended(text: &str) -> u64 {
    let of = |line: &str| line.strip_prefix("warrant_investigations_total{")?.split_once("} ")?.1.parse::<u64>().ok();
    text.lines().filter_map(of).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_investigations_at_once_as_there_are_seats_end_well_and_give_back_their_memory() {
    let (count, thinks) = if Scale::of_environment().is_full {
        (1_000, Duration::from_secs(2))
    } else {
        (60, Duration::from_millis(200))
    };
    let (world, slack) = (World::new(), slack().await);
    let look = Turn::calls([
        ("c1", "search_logs", json!({ "service": "checkout", "level": "error", "limit": 5 })),
        ("c2", "read_file", json!({ "path": "checkout.toml" })),
    ]);
    let again = Turn::calls([("d1", "read_evidence", json!({ "evidence": "E3" }))]);
    let turns = [look, again, report(&world)].map(|turn| Turn { delay: thinks, ..turn });
    let model = serve_all(turns.to_vec()).await;
    // No chat: a message a second would be what is measured.
    let config = config(&world, &model, &slack);
    let (config, _) = config.split_once("[slack]\n").unwrap();
    let config = format!("{config}\n[serve]\nat_once = {count}\n");
    let serving = Serving::start(&world, &config).await;
    let client = reqwest::Client::new();
    let begins = |_| {
        let question = json!({ "question": "why does checkout fail?", "service": "checkout" });
        let sent = client.post(format!("{}/v1/investigations", serving.at)).json(&question).send();
        async move { sent.await.unwrap().status().as_u16() }
    };
    let began = Instant::now();
    let answers = futures_util::future::join_all((0..count).map(begins)).await;
    assert!(answers.iter().all(|status| *status == 202 || *status == 201 || *status == 200), "{answers:?}");
    let all = u64::try_from(count).unwrap();
    let mut told = metrics(&serving.at).await;
    while ended(&told) < all {
        tokio::time::sleep(Duration::from_millis(100)).await;
        told = metrics(&serving.at).await;
    }
    let (took, peak, after) = (began.elapsed(), serving.peak_kib(), serving.resident_kib());
    let likely = sample(&told, "warrant_investigations_total{outcome=\"confirmed\"}")
        + sample(&told, "warrant_investigations_total{outcome=\"likely\"}");
    assert_eq!((likely, sample(&told, "warrant_model_failures_total")), (all, 0), "{told}");
    assert!(peak <= 256 << 10, "{peak} KiB");
    if Scale::of_environment().is_full {
        eprintln!("{count} at once in {took:?}: {peak} KiB at most, {after} KiB right after");
    }
    serving.end().await;
}
