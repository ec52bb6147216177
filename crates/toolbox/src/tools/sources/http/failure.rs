//! Turns what went wrong on the way into a sentence that says what to do. URLs in it come from the config, without a
//! query and without credentials.

use std::error::Error;
use std::io;

use reqwest::Url;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::redact::guard::first_chars;

use super::place::Place;
use crate::catalog::reach::Refused;

const SHOWN: usize = 200;

/// The innermost cause, which names the thing that failed; no URL stands in it.
pub(super) fn cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    excerpt(&innermost.to_string())
}

/// The beginning of a text of unknown length.
pub(super) fn excerpt(text: &str) -> String {
    let mut short = first_chars(text, SHOWN).to_owned();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// Where a request went, for messages.
pub(super) fn server(url: &Url) -> String {
    let host = url.host_str().unwrap_or("no host");
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// A request that brought no answer.
pub(super) fn of(place: &Place, url: &Url, error: &reqwest::Error) -> ReadError {
    let at = server(url);
    let cause_text = cause(error);
    if find::<Refused>(error, |_| true).is_some() {
        return backend("ADDRESS_REFUSED", format!("{place}: {at} resolves to a refused address: {cause_text}"), false);
    }
    if error.is_dns() {
        let message =
            format!("{place}: the name in {at} can't be resolved ({cause_text}); check `url` and the name server");
        return backend("UNREACHABLE", message, true);
    }
    if let Some(tls) = find::<io::Error>(error, |io| io.kind() == io::ErrorKind::InvalidData) {
        let message = format!(
            "{place}: the TLS connection to {at} failed ({}); if its certificate is from a private CA, set `ca_file`",
            excerpt(&tls.to_string())
        );
        return backend("TLS", message, false);
    }
    if error.is_connect() && error.is_timeout() {
        let message = format!("{place}: {at} did not take the connection within 3 s; check `url` and the firewall");
        return backend("UNREACHABLE", message, true);
    }
    if error.is_connect() {
        let message = format!("{place}: can't connect to {at} ({cause_text}); is the server up, and `url` right?");
        return backend("UNREACHABLE", message, true);
    }
    backend("UNREACHABLE", format!("{place}: {at} broke off before it answered ({cause_text})"), true)
}

/// An answer whose status says no.
pub(super) fn status(place: &Place, url: &Url, status: u16, body: &str) -> ReadError {
    let at = server(url);
    let said = excerpt(body.trim());
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    match status {
        300..=399 => backend(
            "REDIRECT",
            format!(
                "{place}: {at} answered {status} and points elsewhere; redirects are not followed, set the final address in the config"
            ),
            false,
        ),
        401 | 403 => backend(
            "UNAUTHORIZED",
            format!(
                "{place}: {at} answered {status}; check the credentials in the config (`bearer_token_env`, `bearer_token_file` or `basic_user`)"
            ),
            false,
        ),
        404 => backend("NOT_FOUND", format!("{place}: {at} answered 404; check the path in the config{said}"), false),
        429 => backend("BUSY", format!("{place}: {at} answered 429, too many requests{said}"), true),
        500..=599 => backend("SERVER_ERROR", format!("{place}: {at} answered {status}{said}"), true),
        _ => backend("REFUSED", format!("{place}: {at} answered {status}{said}"), false),
    }
}

/// Whether an error of this type is among the causes.
pub(super) fn is<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    find::<E>(error, |_| true).is_some()
}

/// A failure of a source.
pub(super) fn backend(reason: &'static str, message: String, retryable: bool) -> ReadError {
    ReadError::Backend { reason, message, retryable }
}

/// Finds an error of type `E` that fits among the causes. What an `io::Error` wraps is looked at too: its `source` skips
/// it.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static), fits: impl Fn(&E) -> bool) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>().filter(|found| fits(found)) {
            return Some(found);
        }
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
