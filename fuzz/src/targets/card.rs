//! Cards: whatever a model or a stranger wrote, nothing that is shown steers a terminal or hides anything, on the face, in
//! the whole and in the evidence, at any width.

use std::collections::BTreeMap;

use jiff::Timestamp;
use warrant::chat::terminal::card::{evidence, face, whole};
use warrant::chat::terminal::style::Paint;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::{Argument, Card, Electorate, Size};
use warrant_kernel::call::gate::exhibit::{Excerpt, SoFar};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::plan::{ApprovalId, Case, DiffLine, Facts, Ground};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::visible::{is_plain, passes_for, visible};

use crate::input::Input;

/// Tries the laws.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let columns = 20 + usize::from(input.byte());
    let card = card(&mut input);
    let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let (face, whole) = (face(&card, now, Paint::Plain, columns), whole(&card, Paint::Plain, columns));
    let evidence = evidence(&card, "E3".parse().unwrap(), Paint::Plain, columns);
    for line in face.lines().chain(evidence.lines()).chain(whole.iter().map(String::as_str)) {
        assert!(is_plain(line), "{line:?}");
    }
    let shown = visible(&card.effect);
    assert!(is_plain(&shown));
    assert_eq!(visible(&shown), shown);
    if let Some(other) = passes_for(&card.target.name) {
        assert_ne!(other, card.target.name);
    }
}

fn card(input: &mut Input<'_>) -> Card {
    let (tier, state, many) = (input.byte(), input.byte(), usize::from(input.byte()) % 40);
    let at: Timestamp = "2026-11-30T11:58:00Z".parse().unwrap();
    let e3: EvidenceId = "E3".parse().unwrap();
    let mut text = || input.text();
    let facts = |pair: (String, String)| -> Facts { BTreeMap::from([pair]) };
    let line = text();
    Card {
        approval: ApprovalId::nth(12),
        revision: 1,
        digest_prefix: "3fa90c12be77".to_owned(),
        state: match state % 4 {
            0 => State::Open,
            1 => State::Denied { by: "ann".parse().unwrap(), reason: text(), at },
            2 => State::NotExecuted { because: text(), at },
            _ => State::Unknown { because: text(), at },
        },
        requester: "ann".parse().unwrap(),
        investigation: "0190a1b2-c3d4".parse().unwrap(),
        tool: "edit_config".parse().unwrap(),
        target: Target {
            kind: TargetKind::Path,
            name: text(),
            service: Some("checkout".parse().unwrap()),
            environment: None,
            owner: None,
            source: "shop".parse().unwrap(),
        },
        effect: text(),
        arguments: vec![Argument { name: text(), value: vec![text(), text()], ground: Ground::Runbook(text()) }],
        bound: facts((text(), text())),
        shown: facts((text(), text())),
        diff: std::iter::repeat_n(DiffLine::Added(line.clone()), many)
            .chain([DiffLine::Hunk(text()), DiffLine::Context(text()), DiffLine::Removed(text())])
            .collect(),
        size: Size { added: many, removed: 1, sha256: text() },
        notes: vec![text()],
        tier: match tier % 3 {
            0 => Tier::Low,
            1 => Tier::Medium,
            _ => Tier::High,
        },
        tier_reasons: vec![text()],
        policy_ids: vec![text()],
        case: Case { because: text(), evidence: vec![e3], alternatives: Some(text()), otherwise: Some(text()) },
        excerpts: vec![Excerpt { evidence: e3, tool: text(), origin: Origin::Log, lines: vec![text(), line], of: 40 }],
        so_far: SoFar { turns: 4, reads: 11, lines: vec![text()], ruled_out: vec![text()] },
        electorate: Electorate {
            quorum: 1,
            approved: Vec::new(),
            contributors: vec!["ann".parse().unwrap()],
            who_may: text(),
        },
        requested_at: at,
        expires_at: at,
        needs_whole: tier > 128,
    }
}
