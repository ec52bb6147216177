//! What the outside world is told, and what it is not.

use std::time::Duration;

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};

use crate::demo::fault::Fault;
use crate::demo::plan::Plan;
use crate::demo::shop::Tally;

use super::{Injected, Observed, Symptom, Trigger};

fn observed(since: Option<Tally>) -> Observed {
    let load_began: Timestamp = "2026-01-31T04:05:00Z".parse().unwrap();
    let began_at = load_began + SignedDuration::from_secs(5);
    let before = Tally { orders: 230, failed: 0, slow: 0, p95: Duration::from_millis(212) };
    let symptom = since.map(|since| Symptom { began_at, before, since });
    Observed { load_began, until: load_began + SignedDuration::from_secs(9), symptom }
}

#[test]
fn failing_orders_raise_an_alert_in_the_words_of_customers() {
    let since = Tally { orders: 150, failed: 90, slow: 3, p95: Duration::from_millis(1_130) };
    let trigger = Trigger::from_outside(&observed(Some(since)), "gateway".parse().unwrap());
    assert_snapshot!(format!("{:?}: {}", trigger.alert, trigger.question), @r#"Some("HighErrorRate"): Customers report that orders fail. Since 2026-01-31T04:05:05.000Z: 90 of 150 orders failed, 3 were slow, p95 1130 ms; before that: 0 of 230 failed, p95 212 ms."#);
    assert_eq!(trigger.since.to_string(), "2026-01-31T04:05:05Z");
}

#[test]
fn slow_orders_raise_another_one() {
    let since = Tally { orders: 60, failed: 10, slow: 45, p95: Duration::from_millis(12_200) };
    let trigger = Trigger::from_outside(&observed(Some(since)), "gateway".parse().unwrap());
    assert_snapshot!(format!("{:?}: {}", trigger.alert, trigger.question), @r#"Some("HighLatency"): Customers report that orders are slow. Since 2026-01-31T04:05:05.000Z: 10 of 60 orders failed, 45 were slow, p95 12s; before that: 0 of 230 failed, p95 212 ms."#);
}

#[test]
fn where_nobody_complains_the_question_is_open_and_looks_a_little_back() {
    let trigger = Trigger::from_outside(&observed(None), "gateway".parse().unwrap());
    assert_eq!(trigger.question, "Routine check: is anything wrong with the shop?");
    assert_eq!((trigger.alert, trigger.since.to_string().as_str()), (None, "2026-01-31T04:05:04.5Z"));
}

#[test]
fn what_was_injected_has_the_same_fields_for_every_fault() {
    let onset = "2026-01-31T04:05:04Z".parse().ok();
    let pool = Injected::of(&Plan::new(1, Fault::Pool).unwrap(), onset);
    assert_snapshot!(serde_json::to_string_pretty(&pool).unwrap(), @r#"
    {
      "fault": "pool",
      "service": "payments",
      "file": "payments/conf/payments.yaml",
      "key": "pool_size",
      "line": 30,
      "onset": "2026-01-31T04:05:04Z",
      "decoy": {
        "service": "store",
        "file": "store/conf/settings.toml",
        "key": "server.keepalive_timeout_ms",
        "line": 14
      }
    }
    "#);
    let disk = Injected::of(&Plan::new(1, Fault::Disk).unwrap(), onset);
    assert_snapshot!(serde_json::to_string_pretty(&disk).unwrap(), @r#"
    {
      "fault": "disk",
      "service": "store",
      "file": null,
      "key": null,
      "line": null,
      "onset": "2026-01-31T04:05:04Z",
      "decoy": {
        "service": "payments",
        "file": "payments/conf/payments.yaml",
        "key": "fraud_rules_refresh_minutes",
        "line": 24
      }
    }
    "#);
    let none = serde_json::to_value(Injected::of(&Plan::new(1, Fault::None).unwrap(), None)).unwrap();
    assert!(none["service"].is_null() && none["onset"].is_null() && none["decoy"]["line"].is_u64(), "{none}");
}
