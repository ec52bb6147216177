//! Alerts with nobody watching: a thread, its report, and nothing lost or done twice over kills.

use serde_json::Value;

use super::world::{BEARER, OPS, Serving, config, says, slack, text};
use crate::investigation::writes::report;
use crate::investigation::{World, serve_all};

#[tokio::test]
async fn wh_10_an_alert_becomes_a_thread_with_its_report_and_a_forged_one_nothing() {
    let (world, slack) = (World::new(), slack().await);
    let server = serve_all(vec![report(&world)]).await;
    let serving = Serving::start(&world, &config(&world, &server, &slack)).await;
    assert_eq!(serving.alert(&["OrdersFail"], "firing", "somebody else").await, 401);
    assert_eq!(serving.alert(&["OrdersFail"], "firing", BEARER).await, 200);
    // Another Alertmanager tells the same.
    assert_eq!(serving.alert(&["OrdersFail"], "firing", BEARER).await, 200);
    let root = slack
        .until("the incident", |inner| {
            says(inner, "OrdersFail").filter(|it| it.thread.is_none()).map(|it| it.ts.clone())
        })
        .await;
    let thread = slack.until("the report", |inner| says(inner, "cut the pool of checkout")?.thread.clone()).await;
    assert_eq!(thread, root, "the report stands beneath the alert");
    // SL-01: what an alert says pings nobody.
    for message in slack.messages(OPS) {
        let said = text(&message);
        assert!(!said.contains("<!channel>") && !said.contains("<@U0ANN>"), "{said}");
    }
    let listed = serving.get("/v1/investigations").await;
    let investigations = listed["investigations"].as_array().unwrap();
    assert_eq!(investigations.len(), 1, "{listed}");
    assert_eq!(investigations[0]["requester"], "alerts");
    let ready: Value = serving.get("/readyz").await;
    let state =
        |name: &str| ready["checks"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap()["state"].clone();
    assert_eq!(
        (ready["ready"].clone(), state("slack"), state("store")),
        (true.into(), "up".into(), "up".into()),
        "{ready}"
    );
    assert_eq!(slack.shared.lock().violations, Vec::<String>::new());
    serving.end().await;
}

#[tokio::test]
async fn cr_an_alert_survives_kills_and_its_report_stands_once() {
    let (world, slack) = (World::new(), slack().await);
    let server = serve_all(vec![report(&world)]).await;
    let text_of_config = config(&world, &server, &slack);
    let serving = Serving::start(&world, &text_of_config).await;
    assert_eq!(serving.alert(&["OrdersFail", "CheckoutSlow"], "firing", BEARER).await, 200);
    // Killed at once, and again as soon as it is ready: what was taken in is taken up.
    serving.kill().await;
    Serving::start(&world, &text_of_config).await.kill().await;
    let serving = Serving::start(&world, &text_of_config).await;
    slack.until("the report", |inner| says(inner, "cut the pool of checkout")?.thread.clone()).await;
    assert_eq!(serving.alert(&["OrdersFail", "CheckoutSlow"], "firing", BEARER).await, 200);
    serving.end().await;
    let serving = Serving::start(&world, &text_of_config).await;
    let listed = serving.get("/v1/investigations").await;
    assert_eq!(listed["investigations"].as_array().unwrap().len(), 1, "{listed}");
    let reports =
        slack.messages(OPS).iter().filter(|message| text(message).contains("The deploy of 2.4.1 cut")).count();
    let incidents = slack.messages(OPS).iter().filter(|message| message.thread.is_none()).count();
    assert_eq!(incidents, 1, "one thread");
    assert!(reports >= 1);
    serving.end().await;
}
