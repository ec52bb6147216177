//! Words for what a card's types say.

use jiff::Timestamp;
use serde_json::Value;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::write::Held;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::plan::{Ground, Said};
use warrant_kernel::domain::report::Written;
use warrant_kernel::domain::result::Origin;

use crate::chat::slack::escape::Shown;
use crate::chat::words::{held, origin as origin_of};

/// The tier, as a headline has it.
pub(super) fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Low => "LOW",
        Tier::Medium => "MEDIUM",
        Tier::High => "HIGH",
    }
}

/// What is asked of people at a tier.
pub(super) fn asks(tier: Tier) -> &'static str {
    match tier {
        Tier::Low => "nobody is asked",
        Tier::Medium => "one confirmation",
        Tier::High => "review by another person who has seen the whole",
    }
}

/// How it ended, or where it stands, in two words.
pub(super) fn end(state: &State) -> &'static str {
    match state {
        State::Open => "waits for people",
        State::Approved { .. } => "approved",
        State::Denied { .. } => "denied",
        State::Expired { .. } => "expired",
        State::Revoked { .. } => "taken back",
        State::Superseded { .. } => "superseded",
        State::Consumed { .. } => "is being carried out",
        State::Executed { verified: Some(Held::Failed), .. } => "done, and NOT as it should be",
        State::Executed { .. } => "done",
        State::NotExecuted { .. } => "not done",
        State::Unknown { .. } => "OUTCOME UNKNOWN",
    }
}

/// Where it stands, in a sentence or two: who, when, why.
#[must_use]
pub fn standing(state: &State) -> Shown {
    let at = |words: &'static str, time: Timestamp| Shown::own(words).then_line(&clock(time));
    let because = |words: Shown, reason: &str| words.then(": ").and(&Shown::lines(reason).parted(900).0);
    match state {
        State::Open => Shown::own("Waits for people"),
        State::Approved { at: time } => at("Approved at ", *time).then("; all is looked at again before it is done"),
        State::Denied { by, reason, at: time } => {
            because(at("Denied at ", *time).then(" by ").then_line(by.as_str()), reason)
        }
        State::Expired { at: time } => {
            at("Nobody decided, or nobody used it, until ", *time).then(": nothing was done")
        }
        State::Revoked { by, reason, at: time } => {
            because(at("Taken back at ", *time).then(" by ").then_line(by.as_str()), reason)
        }
        State::Superseded { by, at: time } => at("What would happen had changed at ", *time)
            .then(", so nothing was done; ")
            .then_line(&by.to_string())
            .then(" asks anew"),
        State::Consumed { at: time } => at("Is being carried out since ", *time),
        State::Executed { at: time, verified } => at("Done at ", *time).then(match verified {
            Some(Held::Held) => ", and it is as it should be",
            Some(Held::Failed) => ", but it is NOT as it should be",
            Some(Held::Unknown) | None => "; whether it is as it should be is not known",
        }),
        State::NotExecuted { at: time, because: reason } => because(at("Not done, at ", *time), reason),
        State::Unknown { at: time, because: reason } => because(
            at("Whether it took effect is not known since ", *time)
                .then(". Nothing more is written to this target until a person has looked and said so"),
            reason,
        ),
    }
}

/// What came of it, beyond the state.
pub(super) fn outcome(written: &Written) -> Vec<Shown> {
    let mut lines = Vec::new();
    lines.extend(written.reason.as_ref().map(|reason| Shown::own("why: ").and(&Shown::lines(reason))));
    lines.extend(came(written));
    lines
}

/// Whether it helped, how to take it back and how to prove it.
pub(in crate::chat::slack) fn came(written: &Written) -> Vec<Shown> {
    let mut lines = Vec::new();
    lines.extend(
        written.verified.as_ref().map(|verified| Shown::own(held(verified)).then(": ").then_line(&verified.because)),
    );
    lines.extend(written.undo.as_ref().map(|undo| {
        Shown::own("to undo it: ")
            .then_line(undo.tool.as_str())
            .then(" ")
            .then_line(&Value::Object(undo.arguments.clone()).to_string())
            .then(" (")
            .then_line(&undo.why)
            .then(")")
    }));
    lines.extend(written.proof.as_ref().map(|proof| {
        let record = Shown::own("ledger: record ").then_line(&proof.intent.to_string());
        match &proof.checkpoint {
            Some(checkpoint) => record.then(", checkpoint ").then_line(checkpoint),
            None => record,
        }
    }));
    lines
}

/// The time of day; a card lives for an hour.
pub(super) fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%SZ").to_string()
}

/// Who named a value.
pub(super) fn ground(ground: &Ground) -> String {
    match ground {
        Ground::Person => "from a person".to_owned(),
        Ground::Trigger => "from what began the investigation".to_owned(),
        Ground::Runbook(id) => format!("from the runbook {id}"),
        Ground::Catalog => "from the catalog".to_owned(),
        Ground::Stranger(Said { evidence, field, origin }) => {
            format!("UNTRUSTED: from {} ({evidence}, {field})", origin_of(*origin))
        }
        Ground::Model => "the model's own choice".to_owned(),
    }
}

/// The label over somebody's lines.
pub(in crate::chat::slack) fn trust(origin: Origin) -> &'static str {
    if origin.is_own() { "" } else { "untrusted text: " }
}
