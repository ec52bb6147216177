//! What stands in a channel, and what does not: charts, links, who is called, and what not everybody may read there.

use axum::extract::Query;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::world::{BEARER, OPS, Serving, button, config, says, slack, text};
use crate::investigation::writes::{edit, file, read, report};
use crate::investigation::{World, serve, serve_all};
use crate::model_server::script::Turn;
use crate::slack_server::state::{Fault, Message};
use crate::slack_server::{BOT, SlackServer};

/// Asks in the channel.
async fn ask(slack: &SlackServer, user: &str) {
    slack.connected().await;
    let envelope = slack.writes(user, OPS, None, &format!("<@{BOT}> why does checkout fail?"));
    slack.acked(&envelope).await;
}

/// A metrics server with one series, which rises; where it listens.
async fn metrics() -> String {
    async fn range(Query(asked): Query<Vec<(String, String)>>) -> Json<Value> {
        let time =
            |key: &str| -> jiff::Timestamp { asked.iter().find(|(name, _)| name == key).unwrap().1.parse().unwrap() };
        let start = time("start").as_second();
        let points: Vec<Value> = (0..10).map(|n| json!([start + 60 * n, n.to_string()])).collect();
        let series = json!({ "metric": { "job": "checkout" }, "values": points });
        Json(json!({ "status": "success", "data": { "resultType": "matrix", "result": [series] } }))
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/api/v1/query_range", get(range))).await });
    format!("http://{address}")
}

#[tokio::test]
async fn a_report_has_charts_of_its_metrics_and_links_to_their_pages() {
    let (world, slack) = (World::new(), slack().await);
    let metrics = metrics().await;
    let query = json!({ "query": "rate(errors_total{job=\"checkout\"}[1m])", "source": "prom", "since": "1h" });
    // A configured source of metrics adds its alerts to the opening sweep.
    let mut found: Value =
        serde_json::from_str(&world.good_report().to_string().replace("E4", "E5").replace("E3", "E4")).unwrap();
    found["findings"].as_array_mut().unwrap().push(json!({
        "kind": "symptom", "claim": "Errors rise.", "evidence": ["E6"],
    }));
    let server =
        serve(vec![Turn::calls([("q1", "query_metrics", query)]), Turn::calls([("r1", "report", found)])]).await;
    // The first try is put off by Slack; it is tried again.
    slack.fault("files.getUploadURLExternal", [Fault::Limited(1)]);
    let config = config(&world, &server, &slack)
        + &format!("[slack.links]\nprom = \"https://prom.example/p\"\n[metrics.prom]\nurl = \"{metrics}\"\n");
    let serving = Serving::start(&world, &config).await;
    ask(&slack, "U0ANN").await;
    let is_picture = |message: &&Message| text(message).contains("slack_file");
    let chart = slack.until("the chart", |inner| inner.messages.iter().find(is_picture).cloned()).await;
    let thread = slack.until("the report", |inner| says(inner, "cut the pool of checkout")?.thread.clone()).await;
    assert_eq!(chart.thread.as_deref(), Some(thread.as_str()));
    let said = text(&chart);
    assert!(said.contains("E6 rate(errors_total") && said.contains("0 to 9"), "{said}");
    let id = chart.body.pointer("/blocks/0/slack_file/id").and_then(Value::as_str).unwrap();
    assert!(slack.shared.lock().files[id].bytes.starts_with(b"\x89PNG"));
    let linked = slack.until("a link", |inner| says(inner, "https://prom.example/p/graph?g0.expr=").map(text)).await;
    assert!(linked.contains("rate%28errors_total%7Bjob%3D%22checkout%22%7D"), "{linked}");
    assert!(!linked.contains(&metrics), "only what the config names is linked");
    serving.end().await;
    // A restart posts nothing again.
    let before = slack.messages(OPS).len();
    let serving = Serving::start(&world, &config).await;
    slack.connected().await;
    serving.end().await;
    assert_eq!((slack.messages(OPS).len(), slack.calls("files.completeUploadExternal").len()), (before, 1));
    assert_eq!(slack.shared.lock().violations, Vec::<String>::new());
}

/// The config with the service in the environment `restricted`, which only one group reads.
fn restricted(config: &str, channel: &str) -> String {
    config
        .replace("description = \"Takes orders.\"", "description = \"Takes orders.\"\nenvironment = \"restricted\"")
        .replace(
            "slack = [\"U0ANN\"]\ngroups = [\"oncall\"]",
            "slack = [\"U0ANN\"]\ngroups = [\"oncall\", \"restricted\"]",
        )
        + channel
}

#[tokio::test]
async fn what_not_everybody_may_read_in_a_channel_is_not_posted_there() {
    for (channel, is_shown) in
        [("", false), ("groups = [\"restricted\"]\n", true), ("groups = [\"restricted\", \"oncall\"]\n", false)]
    {
        let (world, slack) = (World::new(), slack().await);
        let turns = vec![
            read("checkout.toml"),
            Turn::calls([("w1", "edit_config", edit("checkout.toml", "max_connections = 8", "max_connections = 9"))]),
            report(&world),
        ];
        let server = serve_all(turns).await;
        let serving = Serving::start(&world, &restricted(&config(&world, &server, &slack), channel)).await;
        assert_eq!(serving.alert(&["OrdersFail"], "firing", BEARER).await, 200);
        ask(&slack, "U0ANN").await;
        let card = if is_shown { "max_connections = 9" } else { "warrant approvals show" };
        let thread = slack
            .until(card, |inner| {
                inner.messages.iter().filter(|it| text(it).contains(card)).find_map(|it| it.thread.clone())
            })
            .await;
        // The report waits for the answer; nobody is going to give one.
        let stop = slack.writes("U0ANN", OPS, Some(&thread), "stop");
        slack.acked(&stop).await;
        let words = if is_shown { "cut the pool of checkout" } else { "The report is written. It is not shown here" };
        slack.until(words, |inner| says(inner, words).map(drop)).await;
        for message in slack.messages(OPS).iter().filter(|_| !is_shown) {
            let said = text(message);
            assert!(!said.contains("pool") && !said.contains("OrdersFail") && !said.contains("max_conn"), "{said}");
            assert!(button(message, "warrant.approve").is_none() && button(message, "warrant.deny").is_none());
        }
        serving.end().await;
    }
}

#[tokio::test]
async fn who_may_decide_is_called_once_and_an_earlier_write_stands_on_the_next_card() {
    let (world, slack) = (World::new(), slack().await);
    let turns = |old, new| {
        vec![
            read("checkout.toml"),
            Turn::calls([("w1", "edit_config", edit("checkout.toml", old, new))]),
            report(&world),
            report(&world),
        ]
    };
    let first = turns("max_connections = 8", "max_connections = 9");
    let server = serve([first, turns("max_connections = 9", "max_connections = 32")].concat()).await;
    let serving = Serving::start(&world, &config(&world, &server, &slack)).await;
    let card = |words: &'static str| {
        move |inner: &crate::slack_server::state::Inner| {
            let open =
                |message: &&Message| text(message).contains(words) && button(message, "warrant.approve").is_some();
            inner.messages.iter().find(open).cloned()
        }
    };
    ask(&slack, "U0ANN").await;
    let one = slack.until("a card", card("max_connections = 9")).await;
    // Nobody's user group is on call, so those are named who may decide.
    assert!(text(&one).contains(r#""user_id":"U0ANN""#) && text(&one).contains(r#""user_id":"U0BOB""#));
    assert!(!text(&one).contains("U0EVE"));
    let clicked = slack.clicks("U0BOB", OPS, &one.ts, "warrant.approve", &button(&one, "warrant.approve").unwrap());
    slack.acked(&clicked).await;
    let done = |inner: &crate::slack_server::state::Inner| {
        let card = inner.messages.iter().find(|message| message.ts == one.ts)?;
        let said = text(card);
        (button(card, "warrant.approve").is_none() && said.contains("Done at ")).then_some(said)
    };
    let ended = slack.until("the end of the card", done).await;
    assert!(!ended.contains("user_id"), "an edit calls nobody again: {ended}");
    assert!(file(&world).contains("max_connections = 9\n"));

    ask(&slack, "U0ANN").await;
    let two = slack.until("the second card", card("max_connections = 32")).await;
    assert!(text(&two).contains("Done to this target before") && text(&two).contains("A1"), "{}", text(&two));
    serving.end().await;
}

#[tokio::test]
async fn the_next_group_is_asked_once_when_nobody_decides_over_a_restart_too() {
    let (world, slack) = (World::new(), slack().await);
    let edited = edit("checkout.toml", "max_connections = 8", "max_connections = 9");
    let turns = vec![read("checkout.toml"), Turn::calls([("w1", "edit_config", edited)]), report(&world)];
    let server = serve(turns).await;
    let config = config(&world, &server, &slack)
        .replace("[slack]\n", "[slack]\nremind_percent = 1\nescalate_percent = 1\n")
        + "oncall = [\"S0FIRST\", \"S0NEXT\"]\n";
    let serving = Serving::start(&world, &config).await;
    ask(&slack, "U0ANN").await;
    let calls = |inner: &crate::slack_server::state::Inner, group: &str| {
        let named = format!(r#""usergroup_id":"{group}""#);
        inner.messages.iter().filter(|message| text(message).contains(&named)).count()
    };
    slack.until("the first call", |inner| (calls(inner, "S0FIRST") == 1).then_some(())).await;
    assert_eq!(calls(&slack.shared.lock(), "S0NEXT"), 0);
    // A hundredth of half an hour.
    slack.until("the second call", |inner| (calls(inner, "S0NEXT") == 1).then_some(())).await;
    slack.until("a reminder", |inner| says(inner, "still waits for an answer").map(drop)).await;
    serving.end().await;
    let serving = Serving::start(&world, &config).await;
    let card = slack
        .until("the card", |inner| inner.messages.iter().find(|it| button(it, "warrant.deny").is_some()).cloned())
        .await;
    slack.connected().await;
    let clicked = slack.clicks("U0BOB", OPS, &card.ts, "warrant.approve", &button(&card, "warrant.approve").unwrap());
    slack.acked(&clicked).await;
    let done = |inner: &crate::slack_server::state::Inner| {
        let card = inner.messages.iter().find(|message| message.ts == card.ts)?;
        button(card, "warrant.approve").is_none().then_some(())
    };
    slack.until("the end of the card", done).await;
    serving.end().await;
    let inner = slack.shared.lock();
    // The card is edited without its call, so that only the one of the next group is left.
    assert_eq!((calls(&inner, "S0FIRST"), calls(&inner, "S0NEXT")), (0, 1));
    let reminders = inner.messages.iter().filter(|it| text(it).contains("still waits for an answer")).count();
    assert_eq!((reminders, inner.violations.clone()), (1, Vec::<String>::new()));
}
