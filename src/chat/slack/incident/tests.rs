//! An alert's thread says how many there are, whoever wrote them.

use proptest::prelude::*;

use super::*;
use crate::chat::slack::blocks::refuse;
use crate::chat::slack::blocks::sketch::sketch;
use crate::chat::slack::escape::Hosts;
use crate::chat::slack::escape::tests::hostile;

fn at(time: &str) -> Timestamp {
    format!("2026-01-31T{time}Z").parse().unwrap()
}

fn alert(name: &str, firing: Firing) -> Member {
    let service = Some("checkout".parse().unwrap());
    Member { name: name.to_owned(), service, severity: "critical".to_owned(), firing, since: at("12:00:00") }
}

fn incident() -> Incident {
    Incident {
        id: "in-7".to_owned(),
        name: "CheckoutFails".to_owned(),
        service: Some("checkout".parse().unwrap()),
        team: Some("payments @here".to_owned()),
        links: vec![(
            "Dashboard <!here>".to_owned(),
            Hosts::of(["https://grafana.example"]).link("https://grafana.example/d/1").unwrap(),
        )],
        severity: "critical".to_owned(),
        since: at("12:00:00"),
        text: "one in three <!here> fails\nsee https://evil.example/".to_owned(),
        members: vec![alert("CheckoutFails", Firing::Firing), alert("PoolEmpty @here", Firing::Resolved)],
        more: 40,
        firing: 41,
        resolved: 1,
        folded: 900,
        before: Some("third time in 7 days; last cause: the pool was cut".to_owned()),
        looked: Looked::By("0190a1b2-c3d4".parse().unwrap()),
    }
}

fn shown(message: &Message) -> String {
    let value = message.value();
    assert_eq!(refuse::message(&value), Vec::<String>::new());
    sketch(&value)
}

#[test]
fn an_incident_and_its_news() {
    insta::assert_snapshot!(shown(&render(&incident())), @r"
    notice: critical · CheckoutFails · checkout: 41 firing, 1 resolved
    # critical · CheckoutFails · checkout
    *Alerts*  _41 firing, 1 resolved_
    A storm: 900 alerts are folded into this message; each is recorded.
    *The first one says*  _untrusted text_
    | ┆ one in three <!here> fails
    | ┆ see https://evil.example/
    *Members*  _names are untrusted text_
    | firing    01-31 12:00:00Z (critical, checkout) CheckoutFails
    | resolved  01-31 12:00:00Z (critical, checkout) PoolEmpty @here
    | and 40 more
    *Before*  _a hypothesis, to be checked_
    > third time in 7 days; last cause: the pool was cut
    See <https://grafana.example/d/1|Dashboard <!here>>
    (incident in-7 | since 01-31 12:00:00Z | investigation 0190a1b2-c3d4 | owned by payments ＠here)
    ");
    let one = Incident {
        members: vec![alert("CheckoutFails", Firing::Resolved)],
        more: 0,
        firing: 0,
        folded: 0,
        before: None,
        team: None,
        links: Vec::new(),
        looked: Looked::Waits,
        ..incident()
    };
    insta::assert_snapshot!(shown(&render(&one)), @r"
    notice: resolved · CheckoutFails · checkout: 0 firing, 1 resolved
    # resolved · CheckoutFails · checkout
    *Alerts*  _0 firing, 1 resolved_
    *The first one says*  _untrusted text_
    | ┆ one in three <!here> fails
    | ┆ see https://evil.example/
    (incident in-7 | since 01-31 12:00:00Z | an investigation begins when a slot is free)
    ");
    let all = [
        News::Came(alert("PoolEmpty", Firing::Firing)),
        News::Resolved(alert("PoolEmpty", Firing::Resolved)),
        News::Again(alert("PoolEmpty", Firing::Firing)),
        News::Raised { severity: "<!here>".to_owned() },
        News::Over,
    ];
    insta::assert_snapshot!(all.map(|it| shown(&news(&it))).join("\n"), @r"
    notice: Joined: PoolEmpty (critical, checkout)
    Joined: PoolEmpty (critical, checkout)
    notice: Resolved: PoolEmpty (critical, checkout)
    Resolved: PoolEmpty (critical, checkout)
    notice: Fires again: PoolEmpty (critical, checkout)
    Fires again: PoolEmpty (critical, checkout)
    notice: The severity is now <!here>
    The severity is now <!here>
    notice: All alerts of this incident are resolved.
    All alerts of this incident are resolved.
    ");
}

#[test]
fn a_handover_has_ten_lines() {
    let entries = |word: &str, count: usize| (1..=count).map(|n| format!("{word} {n}")).collect::<Vec<_>>();
    let shift = Handover {
        since: at("04:00:00"),
        until: at("12:00:00"),
        investigated: entries("looked into", 9),
        changed: entries("changed", 3),
        waiting: Vec::new(),
    };
    insta::assert_snapshot!(shown(&handover(&shift)), @r"
    notice: Handover 01-31 04:00:00Z to 01-31 12:00:00Z
    # Handover 01-31 04:00:00Z to 01-31 12:00:00Z
    *Waits for people*  _nothing_
    *Changed*  _3_
    - changed 1
    - changed 2
    - changed 3
    *Investigated*  _9_
    - looked into 1
    - looked into 2
    - looked into 3
    - and 6 more
    ");
    let full = Handover { changed: entries("c", 30), waiting: entries("w", 30), ..shift };
    let text = shown(&handover(&full));
    assert_eq!(text.lines().filter(|line| line.starts_with("- ")).count(), 10, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sl_01_sl_02_no_alert_is_refused_by_slack(text in hostile(), times in 1usize..200, many in 0usize..80) {
        let long = text.repeat(times);
        let all = Incident {
            id: text.clone(),
            name: long.clone(),
            severity: long.clone(),
            text: long.clone(),
            members: vec![Member { name: long.clone(), severity: text.clone(), ..alert("x", Firing::Firing) }; many],
            before: Some(long.clone()),
            ..incident()
        };
        prop_assert!(shown(&render(&all)).contains("*Alerts*"));
        shown(&news(&News::Came(Member { name: long.clone(), severity: long.clone(), ..alert("x", Firing::Firing) })));
        let entries = vec![long; many];
        let shift = Handover { since: at("04:00:00"), until: at("12:00:00"), investigated: entries.clone(), changed: entries.clone(), waiting: entries };
        prop_assert!(shown(&handover(&shift)).contains("*Changed*"));
    }
}
