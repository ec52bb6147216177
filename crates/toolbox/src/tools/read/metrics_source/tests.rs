//! Which server a call means, and how numbers are written.

use insta::assert_debug_snapshot;
use serde_json::{Value, json};

use super::double::{problems, setup};
use super::number;
use crate::tools::read::query_metrics::query_metrics;

const SETUP: &str = r#"
    sources.metrics.prom.url = "http://127.0.0.1:9090"
    sources.metrics.archive.url = "http://127.0.0.1:8428"
    services.checkout.metrics = { source = "archive", labels = { job = "checkout" } }
    services.payments.description = "takes the money"
"#;

#[test]
fn senseless_calls_are_told_all_at_once() {
    let (catalog, clients) = setup(SETUP);
    let tool = query_metrics(catalog, clients);
    let against = |args: Value| problems(tool.as_ref(), args);
    assert_debug_snapshot!(
        [
            against(json!({"query": "up", "source": "archiv"})),
            against(json!({"query": "up", "service": "chekout"})),
            against(json!({"query": " ", "since": "2026-03-01T11:00:00Z", "until": "2026-03-01T10:00:00Z"})),
            against(json!({"query": "up", "source": "prom", "since": "2026-01-01T00:00:00Z"})),
        ],
        @r#"
    [
        [
            "/source: there is no metrics source `archiv`; did you mean `archive`?",
        ],
        [
            "/service: there is no service `chekout`; did you mean `checkout`?",
        ],
        [
            "/source: there are several metrics servers; name one: `archive`, `prom`",
            "/since: `since` (2026-03-01T11:00:00Z) must be before `until` (2026-03-01T10:00:00Z)",
            "/query: write a PromQL query, `up`",
        ],
        [
            "/since: the window is longer than 31 days; ask for less",
        ],
    ]
    "#
    );
    let (catalog, clients) = setup("");
    let tool = query_metrics(catalog, clients);
    assert_debug_snapshot!(problems(tool.as_ref(), json!({"query": "up"})), @r#"
    [
        "/source: no `[metrics.NAME]` server is configured; `scrape_metrics` reads a service's own page",
    ]
    "#);
}

#[test]
fn numbers_are_short_and_lose_nothing_that_counts() {
    let shown: Vec<Value> = [55.0, 0.1 + 0.2, 1_769_832_301.25, -0.0, 1e300, 1.234_567_89e-7, 12.000_000_4, f64::NAN]
        .into_iter()
        .chain([f64::INFINITY, f64::NEG_INFINITY])
        .map(number)
        .collect();
    let expected = json!([55, 0.3, 1_769_832_301.25, 0, 1e300, 1.23457e-7, 12.0, "NaN", "+Inf", "-Inf"]);
    assert_eq!(Value::from(shown), expected);
}
