//! What a provider's failure means: whether to try again, and what a person can do about it.
//!
//! Texts here bear an excerpt of the provider's words, never the request, never the key.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;
use warrant_kernel::redact::guard::first_chars;

use crate::agent::model::ModelError;

use super::endpoint::Endpoint;

const MAX_EXCERPT: usize = 300;

/// How providers and servers say that a conversation is too long, in lower case.
const TOO_LONG: [&str; 10] = [
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context window",
    "context size",
    "context limit",
    "prompt is too long",
    "input is too long",
    "maximum context",
    "request_too_large",
];

fn too_long(lower: &str) -> bool {
    TOO_LONG.iter().any(|phrase| lower.contains(phrase))
}

/// An error with its causes, in one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    cut(&text)
}

fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept = first_chars(&line, MAX_EXCERPT);
    let mut shown: String = kept.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if kept.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// A request that brought no answer at all.
pub(super) fn of_transport(endpoint: &Endpoint, error: reqwest::Error) -> ModelError {
    let (builder, connect) = (error.is_builder(), error.is_connect());
    let cause = chain(&error.without_url());
    if builder {
        return endpoint.permanent(format!("the request could not be made: {cause}"));
    }
    let what = if connect { "no connection to" } else { "no answer from" };
    endpoint.transient(format!("{what} {}: {cause}", endpoint.base_url))
}

/// What the provider asked us to wait: `retry-after-ms`, seconds, or a date, which is measured against the provider's
/// own `Date` so that no clock of ours matters.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let finite = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return finite(milliseconds / 1000.0);
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return finite(seconds);
    }
    let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp());
    let wait = date(asked)?.duration_since(date(text(DATE.as_str())?)?);
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// The provider's own words about an error, wherever they stand in its body.
fn words(endpoint: &Endpoint, body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|value| {
        let places = ["/error/message", "/0/error/message", "/message", "/error", "/detail"];
        places.into_iter().find_map(|place| value.pointer(place).and_then(Value::as_str))
    });
    let mut text = message.unwrap_or(body).to_owned();
    if let Some(key) = &endpoint.key {
        text = text.replace(&key.value, "[api key]");
    }
    cut(&text)
}

/// An answer with a status that says no, or an error that came within a stream.
pub(super) fn of_status(endpoint: &Endpoint, status: u16, body: &str, retry_after: Option<Duration>) -> ModelError {
    let lower = body.to_lowercase();
    if status == 413 || (matches!(status, 400 | 422) && too_long(&lower)) {
        return ModelError::ContextOverflow { model: endpoint.name.clone() };
    }
    let (name, model, url) = (&endpoint.name, &endpoint.model, &endpoint.base_url);
    let words = words(endpoint, body);
    let said = if words.is_empty() { String::new() } else { format!(": {words}") };
    match status {
        429 if lower.contains("insufficient_quota") => {
            endpoint.permanent(format!("status 429, the account has no credit left{said}"))
        }
        408 | 409 | 425 | 429 | 500..=599 => {
            ModelError::Transient { model: name.clone(), message: format!("status {status}{said}"), retry_after }
        }
        // Providers quote the key they refused; its words are left out.
        401 => endpoint.permanent(match &endpoint.key {
            Some(key) => format!("status 401: {url} refused the key in {}; check that it is whole and valid", key.from),
            None => format!("status 401: {url} wants a key; name its variable in `api_key_env` of `[models.{name}]`"),
        }),
        403 => endpoint.permanent(format!("status 403: the key may not use model `{model}`{said}")),
        404 => endpoint.permanent(format!(
            "status 404: {url} knows no model `{model}`; check `model` and `base_url` of `[models.{name}]`{said}"
        )),
        300..=399 => endpoint.permanent(format!(
            "status {status}: {url} leads elsewhere; put the final address into `base_url` of `[models.{name}]`"
        )),
        _ => endpoint.permanent(format!("status {status}, the request was not understood{said}")),
    }
}

/// An error that came within a stream, which has no status: its type or code stands for one.
pub(super) fn of_event(endpoint: &Endpoint, error: &Value) -> ModelError {
    let field = |name: &str| error.get(name);
    let text = serde_json::json!({ "error": error }).to_string();
    let code = field("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let kind = field("type").and_then(Value::as_str).unwrap_or_default();
    let status = code.and_then(|code| u16::try_from(code).ok()).unwrap_or(match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "overloaded_error" => 529,
        _ if too_long(&text.to_lowercase()) => 400,
        _ => 500,
    });
    of_status(endpoint, status, &text, None)
}
