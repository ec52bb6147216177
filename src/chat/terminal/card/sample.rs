//! Cards for tests.

use std::collections::BTreeMap;

use jiff::Timestamp;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::{Argument, Card, Electorate, Size};
use warrant_kernel::call::gate::exhibit::{Excerpt, SoFar};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::plan::{ApprovalId, Case, DiffLine, Ground, Said};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};

pub(in crate::chat) fn at(time: &str) -> Timestamp {
    format!("2026-01-31T{time}Z").parse().unwrap()
}

fn argument(name: &str, value: &[&str], ground: Ground) -> Argument {
    Argument { name: name.to_owned(), value: value.iter().map(|line| (*line).to_owned()).collect(), ground }
}

/// A change of one line, at the medium tier.
pub(in crate::chat) fn edit() -> Card {
    let facts = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    Card {
        approval: ApprovalId::nth(12),
        revision: 1,
        digest_prefix: "3fa90c12be77".to_owned(),
        state: State::Open,
        requester: "ann".parse().unwrap(),
        investigation: "0190a1b2-c3d4".parse().unwrap(),
        tool: "edit_config".parse().unwrap(),
        target: Target {
            kind: TargetKind::Path,
            name: "shop:config/pool.toml".to_owned(),
            service: Some("checkout".parse().unwrap()),
            environment: Some("production".parse().unwrap()),
            owner: None,
            source: "shop".parse().unwrap(),
        },
        effect: "replaces one line of shop:config/pool.toml".to_owned(),
        arguments: vec![
            argument("path", &["shop:config/pool.toml"], Ground::Catalog),
            argument(
                "old_string",
                &["max_connections = 8"],
                Ground::Stranger(Said {
                    evidence: "E3".parse().unwrap(),
                    field: "lines".to_owned(),
                    origin: Origin::Log,
                }),
            ),
            argument("new_string", &["max_connections = 32"], Ground::Runbook("pool-exhausted".to_owned())),
        ],
        bound: facts(&[("sha256", "9f2c5d01aa"), ("mode", "0644"), ("owner", "shop:shop")]),
        shown: facts(&[("parses", "as TOML, before and after")]),
        diff: vec![
            DiffLine::Hunk("-4,3 +4,3".to_owned()),
            DiffLine::Context("[pool]".to_owned()),
            DiffLine::Removed("max_connections = 8".to_owned()),
            DiffLine::Added("max_connections = 32".to_owned()),
            DiffLine::Context("wait_ms = 3000".to_owned()),
        ],
        size: Size { added: 1, removed: 1, sha256: "77aa0b1c2d3e4f5566778899".to_owned() },
        notes: vec!["checkout reads the file when it starts: a restart is needed for it to count".to_owned()],
        tier: Tier::Medium,
        tier_reasons: vec!["a change of configuration asks for medium".to_owned()],
        policy_ids: vec!["writes-config-medium".to_owned()],
        case: Case {
            because: "The pool was cut from 32 to 8 at 11:58; errors began 30 s later.".to_owned(),
            evidence: vec!["E3".parse().unwrap(), "E6".parse().unwrap()],
            alternatives: Some("roll back deploy 2.4.1".to_owned()),
            otherwise: Some("one order in three goes on failing".to_owned()),
        },
        excerpts: vec![
            Excerpt {
                evidence: "E3".parse().unwrap(),
                tool: "search_logs".to_owned(),
                origin: Origin::Log,
                lines: vec!["12:00:00 ERROR connection pool exhausted: 8 of 8 in use".to_owned()],
                of: 40,
            },
            Excerpt {
                evidence: "E6".parse().unwrap(),
                tool: "recent_changes".to_owned(),
                origin: Origin::Change,
                lines: vec!["11:58:12 checkout 2.4.1 by ada: pool of 8 connections".to_owned()],
                of: 1,
            },
        ],
        so_far: SoFar {
            turns: 4,
            reads: 11,
            lines: vec!["c7 search_logs checkout: 40 rows".to_owned()],
            ruled_out: vec!["the database is slow: its latency did not change".to_owned()],
        },
        electorate: Electorate {
            quorum: 1,
            approved: Vec::new(),
            contributors: vec!["ann".parse().unwrap()],
            who_may: "one person whom policy lets approve".to_owned(),
        },
        requested_at: at("12:10:00"),
        expires_at: at("12:40:00"),
        needs_whole: false,
    }
}

/// A restart, at the high tier.
pub(in crate::chat) fn restart() -> Card {
    let mut card = edit();
    card.tool = "restart_service".parse().unwrap();
    card.effect = "restarts the service checkout (unit checkout.service)".to_owned();
    card.target.kind = TargetKind::Service;
    card.target.name = "checkout".to_owned();
    card.arguments = vec![argument("service", &["checkout"], Ground::Trigger)];
    card.diff = Vec::new();
    card.tier = Tier::High;
    card.tier_reasons = vec!["a restart asks for high".to_owned()];
    card.needs_whole = true;
    card.electorate.who_may = "one person whom policy lets approve and who had no part in it (not ann)".to_owned();
    card.expires_at = at("13:10:00");
    card
}
