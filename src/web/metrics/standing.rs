//! What is counted elsewhere, told as it stands when metrics are asked for: approvals, queues, the ledger, disks.
//!
//! Approvals are all kept, so these are counters of all time and not of this process.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use warrant_kernel::call::gate::sequencer::shown::{Counted, DECISION_BOUNDS_S, Decision, Figures};

use crate::web::backend::{Alerts, Standing};

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
        if let Some(alerts) = standing.alerts {
            tell.alerts(alerts)?;
        }
        let Some(approvals) = &standing.approvals else { return Ok(()) };
        tell.approvals(approvals)?;
        tell.figures(&approvals.figures)
    }
}

struct Telling<'e, 'w> {
    encoder: &'e mut DescriptorEncoder<'w>,
}

impl Telling<'_, '_> {
    fn approvals(&mut self, approvals: &Counted) -> Result<(), fmt::Error> {
        let is_open = |decision: Decision| decision == Decision::Open;
        let kind = ConstCounter::new(0_u64).metric_type();
        let help = "Approvals that are decided, by tier and decision";
        let mut family = self.encoder.encode_descriptor("approvals", help, None, kind)?;
        for ((tier, decision), count) in approvals.by.iter().filter(|((_, decision), _)| !is_open(*decision)) {
            let labels = [("tier", tier.as_str()), ("decision", decision.as_str())];
            ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
        }
        let open = approvals.by.iter().filter(|((_, decision), _)| is_open(*decision));
        let open: Vec<_> = open.map(|((tier, _), count)| ([("tier", tier.as_str())], *count)).collect();
        self.gauges("approvals_open", "Approvals that wait for people, by tier", None, &open)
    }

    /// How alerts fare, since the start of this process.
    fn alerts(&mut self, alerts: Alerts) -> Result<(), fmt::Error> {
        let received = [([("delivery", "new")], alerts.received), ([("delivery", "known")], alerts.known)];
        self.counters("alerts_received", "Alerts received, new ones and those delivered before", &received)?;
        let refused = [
            ([("reason", "unauthenticated")], alerts.unauthenticated),
            ([("reason", "unreadable")], alerts.unreadable),
            ([("reason", "too_large")], alerts.too_large),
            ([("reason", "unavailable")], alerts.unavailable),
        ];
        self.counters("alert_requests_refused", "Requests of senders of alerts that were refused, by why", &refused)?;
        self.counter("incidents_opened", "Incidents opened by alerts", None, alerts.opened)?;
        self.counter("alerts_shed", "Alerts that only the message of a storm counts", None, alerts.shed)
    }

    fn figures(&mut self, figures: &Figures) -> Result<(), fmt::Error> {
        self.counter("decisions", "Decisions of people", None, figures.decisions)?;
        self.counter("decisions_hasty", "Decisions within three seconds of the card", None, figures.hasty)?;
        self.times(figures)?;
        let Some(share) = figures.hasty_share() else { return Ok(()) };
        self.gauge("decisions_hasty_ratio", "The share of decisions within three seconds of the card", None, share)
    }

    /// How long people took to decide.
    #[expect(clippy::cast_precision_loss, reason = "seconds of decisions are few")]
    fn times(&mut self, figures: &Figures) -> Result<(), fmt::Error> {
        let help = "How long people took to decide, from the card on";
        let bounds = DECISION_BOUNDS_S.iter().map(|bound| f64::from(*bound)).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = bounds.zip(figures.times).collect();
        let encoder =
            self.encoder.encode_descriptor("decision_time", help, Some(&Unit::Seconds), MetricType::Histogram)?;
        let mut encoder = encoder;
        encoder.encode_histogram::<NoLabelSet>(figures.seconds as f64, figures.decisions, &buckets, None)
    }

    fn counters(
        &mut self,
        name: &str,
        help: &str,
        values: &[([(&'static str, &'static str); 1], u64)],
    ) -> Result<(), fmt::Error> {
        let mut family = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, value) in values {
            ConstCounter::new(*value).encode(family.encode_family(labels)?)?;
        }
        Ok(())
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
