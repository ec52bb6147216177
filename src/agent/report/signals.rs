//! What the reads themselves say about health, without any model: is a signal normal, abnormal, or unseen?
//!
//! `no_fault` rests on this, and so does the report that code writes when no model answers.

use serde_json::Value;
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::{Finding, FindingKind};
use warrant_kernel::domain::result::ToolResult;

use crate::agent::state::State;

/// Errors now, over those of the window before, that are still ordinary noise.
const NOISE_ERRORS: f64 = 3.0;

/// Growth of errors that is still ordinary.
const NOISE_FACTOR: f64 = 1.5;

/// Days below which a certificate is an incident to come.
const CERTIFICATE_DAYS: f64 = 14.0;

/// A signal that is not as it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Abnormal {
    /// The evidence it stands in.
    pub evidence: EvidenceId,
    /// What is wrong, with numbers out of that evidence.
    pub claim: String,
    /// When it began, if the evidence says so.
    pub at: Option<String>,
}

impl Abnormal {
    /// As a symptom for a report.
    #[must_use]
    pub fn into_finding(self) -> Finding {
        Finding {
            kind: FindingKind::Symptom,
            claim: self.claim,
            evidence: vec![self.evidence],
            quotes: Vec::new(),
            at: self.at,
        }
    }
}

/// All signals of an investigation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signals {
    /// Signals that were read and are as they should be.
    pub normal: usize,
    /// Signals that are not.
    pub abnormal: Vec<Abnormal>,
    /// Signals that could not be read: the tools, each once.
    pub unseen: Vec<String>,
}

enum Reading {
    Normal,
    Abnormal(Abnormal),
    /// The tool says nothing about health.
    Silent,
}

/// Reads the signals off all calls of the investigation.
#[must_use]
pub fn of(state: &State) -> Signals {
    let mut signals = Signals::default();
    for known in &state.calls {
        let Some(result) = &known.result else { continue };
        if !result.ok {
            let tool = known.call.tool.as_str();
            let tells = matches!(tool, "compare_logs" | "active_alerts" | "http_check" | "scrape_metrics");
            if tells && !signals.unseen.iter().any(|unseen| unseen == tool) {
                signals.unseen.push(tool.to_owned());
            }
            continue;
        }
        match read(&known.call.tool, result) {
            Reading::Normal => signals.normal += 1,
            Reading::Abnormal(abnormal) => signals.abnormal.push(abnormal),
            Reading::Silent => {}
        }
    }
    signals
}

fn read(tool: &str, result: &ToolResult) -> Reading {
    let Some(evidence) = result.evidence else { return Reading::Silent };
    match tool {
        "compare_logs" => logs(evidence, &result.data),
        "active_alerts" => alerts(evidence, &result.data),
        "http_check" => health(evidence, &result.data),
        _ => Reading::Silent,
    }
}

fn number(data: &Value, pointer: &str) -> Option<f64> {
    data.pointer(pointer).and_then(Value::as_f64)
}

fn text<'a>(data: &'a Value, pointer: &str) -> &'a str {
    data.pointer(pointer).and_then(Value::as_str).unwrap_or("?")
}

fn logs(evidence: EvidenceId, data: &Value) -> Reading {
    let (Some(now), Some(before)) = (number(data, "/errors/now"), number(data, "/errors/before")) else {
        return Reading::Silent;
    };
    if now <= before * NOISE_FACTOR + NOISE_ERRORS {
        return Reading::Normal;
    }
    let claim = format!("{} logs {now} errors in the window, {before} in the window before.", text(data, "/service"));
    let at = data.pointer("/onset").and_then(Value::as_str).map(str::to_owned);
    Reading::Abnormal(Abnormal { evidence, claim, at })
}

fn alerts(evidence: EvidenceId, data: &Value) -> Reading {
    let alerts = data.pointer("/alerts").and_then(Value::as_array);
    let loud = |alert: &&Value| {
        let severity = text(alert, "/severity");
        let quiet = matches!(severity, "none" | "info" | "?") || text(alert, "/name").eq_ignore_ascii_case("watchdog");
        text(alert, "/state") == "firing" && !quiet
    };
    match alerts.and_then(|alerts| alerts.iter().find(loud)) {
        None => Reading::Normal,
        Some(alert) => Reading::Abnormal(Abnormal {
            evidence,
            claim: format!("The alert {} is firing.", text(alert, "/name")),
            at: alert.pointer("/since").and_then(Value::as_str).map(str::to_owned),
        }),
    }
}

fn health(evidence: EvidenceId, data: &Value) -> Reading {
    let service = text(data, "/service");
    if let Some(unhealthy) = number(data, "/unhealthy").filter(|unhealthy| *unhealthy > 0.0) {
        let claim = format!("{unhealthy} health checks of {service} fail.");
        return Reading::Abnormal(Abnormal { evidence, claim, at: None });
    }
    match number(data, "/certificate_days_left") {
        Some(days) if days < CERTIFICATE_DAYS => Reading::Abnormal(Abnormal {
            evidence,
            claim: format!("The certificate of {service} expires in {days} days."),
            at: None,
        }),
        _ => Reading::Normal,
    }
}
