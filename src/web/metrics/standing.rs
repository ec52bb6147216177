//! What is counted elsewhere, told as it stands when metrics are asked for: approvals, queues, the ledger, disks.
//!
//! Approvals are all kept, so these are counters of all time and not of this process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::sequencer::shown::{Figures, Listed};

use crate::web::backend::Standing;

/// The latest.
#[derive(Debug, Default)]
pub(super) struct Latest(Mutex<Standing>);

impl Latest {
    pub(super) fn set(&self, standing: Standing) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }
}

impl Collector for Latest {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let standing = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut tell = Telling { encoder: &mut encoder };
        let queues: Vec<_> = standing.queues.iter().map(|(name, depth)| ([("queue", *name)], *depth)).collect();
        tell.gauges("queue_depth", "What waits, by queue", None, &queues)?;
        let disks: Vec<_> = standing.disks.iter().map(|(name, free)| ([("disk", *name)], *free)).collect();
        tell.gauges("disk_free", "Free bytes where that lies", Some(&Unit::Bytes), &disks)?;
        if let Some(lag) = standing.ledger_lag_s {
            let help = "How long the oldest record waits to be published";
            tell.gauge("ledger_lag", help, Some(&Unit::Seconds), lag)?;
        }
        let Some((approvals, figures)) = &standing.approvals else { return Ok(()) };
        tell.approvals(approvals)?;
        tell.figures(*figures)
    }
}

/// How a state counts: a decision of people, or that it waits for one.
fn decision(state: &State) -> Option<&'static str> {
    match state {
        State::Open => None,
        State::Approved { .. }
        | State::Consumed { .. }
        | State::Executed { .. }
        | State::NotExecuted { .. }
        | State::Unknown { .. } => Some("approved"),
        State::Denied { .. } => Some("denied"),
        State::Expired { .. } => Some("expired"),
        State::Revoked { .. } => Some("revoked"),
        State::Superseded { .. } => Some("superseded"),
    }
}

struct Telling<'e, 'w> {
    encoder: &'e mut DescriptorEncoder<'w>,
}

impl Telling<'_, '_> {
    fn approvals(&mut self, approvals: &[Listed]) -> Result<(), fmt::Error> {
        let (mut decided, mut open) = (BTreeMap::new(), BTreeMap::new());
        for approval in approvals {
            let tier = approval.tier.as_str();
            match decision(&approval.state) {
                Some(word) => *decided.entry((tier, word)).or_insert(0_u64) += 1,
                None => *open.entry(tier).or_insert(0_u64) += 1,
            }
        }
        let kind = ConstCounter::new(0_u64).metric_type();
        let help = "Approvals that are decided, by tier and decision";
        let mut family = self.encoder.encode_descriptor("approvals", help, None, kind)?;
        for ((tier, word), count) in decided {
            let labels = [("tier", tier), ("decision", word)];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        let open: Vec<_> = open.into_iter().map(|(tier, count)| ([("tier", tier)], count)).collect();
        self.gauges("approvals_open", "Approvals that wait for people, by tier", None, &open)
    }

    fn figures(&mut self, figures: Figures) -> Result<(), fmt::Error> {
        self.counter("decisions", "Decisions of people", None, figures.decisions)?;
        self.counter("decisions_hasty", "Decisions within three seconds of the card", None, figures.hasty)?;
        let help = "What people took to decide, in all";
        self.counter("decision_time", help, Some(&Unit::Seconds), figures.seconds)?;
        let Some(share) = figures.hasty_share() else { return Ok(()) };
        self.gauge("decisions_hasty_ratio", "The share of decisions within three seconds of the card", None, share)
    }

    fn counter(&mut self, name: &str, help: &str, unit: Option<&Unit>, value: u64) -> Result<(), fmt::Error> {
        let counter = ConstCounter::new(value);
        counter.encode(self.encoder.encode_descriptor(name, help, unit, counter.metric_type())?)
    }

    fn gauge(&mut self, name: &str, help: &str, unit: Option<&Unit>, value: f64) -> Result<(), fmt::Error> {
        let gauge = ConstGauge::new(value);
        gauge.encode(self.encoder.encode_descriptor(name, help, unit, gauge.metric_type())?)
    }

    fn gauges(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        values: &[([(&'static str, &'static str); 1], u64)],
    ) -> Result<(), fmt::Error> {
        let kind = ConstGauge::new(0_i64).metric_type();
        let mut family = self.encoder.encode_descriptor(name, help, unit, kind)?;
        for (labels, value) in values {
            let value = i64::try_from(*value).unwrap_or(i64::MAX);
            ConstGauge::new(value).encode(family.encode_family(labels)?)?;
        }
        Ok(())
    }
}
