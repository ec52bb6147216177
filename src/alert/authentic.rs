//! Whether a request comes from whom it says: compared in constant time, over the bytes as they came.
//!
//! Ask [`Authentication::before`] with the headers alone, then read the body, then ask [`Authentication::whole`]. Every
//! proof that is configured has to hold.

use std::fmt;
use std::time::Duration;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use sha2::Sha256;
use warrant_kernel::domain::hex::unhex;

#[cfg(test)]
mod tests;

/// More signatures in one header are not looked at: a sender in rotation has two.
const MOST_SIGNATURES: usize = 8;

/// A shared secret; never shown.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// A secret that consists of this text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }

    /// The secret with a text before it: a user's name and its password.
    #[must_use]
    pub fn after(&self, before: &str) -> Self {
        let mut whole = before.as_bytes().to_vec();
        whole.extend_from_slice(&self.0);
        Self(whole)
    }

    /// Whether these bytes are the secret; takes as long whatever they are.
    fn is(&self, given: &[u8]) -> bool {
        // The codes of both under one key are compared, not the texts: neither content nor length shows.
        let code = |text: &[u8]| code_of(b"warrant: a secret that was given", &[text]);
        match (code(&self.0), code(given)) {
            (Some(ours), Some(theirs)) => theirs.verify_slice(&ours.finalize().into_bytes()).is_ok(),
            (None, _) | (_, None) => false,
        }
    }

    /// Whether one of the codes is that of these bytes.
    fn signed(&self, parts: &[&[u8]], codes: &[Vec<u8>]) -> bool {
        let Some(code) = code_of(&self.0, parts) else { return false };
        codes.iter().fold(false, |found, given| found | code.clone().verify_slice(given).is_ok())
    }
}

fn code_of(key: &[u8], parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
    let mut code = Hmac::<Sha256>::new_from_slice(key).ok()?;
    for part in parts {
        code.update(part);
    }
    Some(code)
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// HMAC-SHA-256 in hex, with `sha256=` before it or nothing.
    Hex,
    /// A list of `v1=` and HMAC-SHA-256 in hex, between commas; one that fits suffices.
    List,
}

/// A signed body.
#[derive(Debug, Clone)]
pub struct Signature {
    /// Where the signature stands.
    pub header: HeaderName,
    /// How it is written.
    pub form: Form,
    /// Where the time stands that is signed before the body, with a `:` between.
    pub timestamp: Option<HeaderName>,
    /// What it is made with.
    pub secret: Secret,
    /// How far the time may be off.
    pub tolerance: Duration,
}

/// One proof.
#[derive(Debug, Clone)]
pub enum Proof {
    /// `Authorization: Bearer TOKEN`.
    Bearer(Box<Secret>),
    /// `Authorization: Basic`, the secret being `user:password`.
    Basic(Box<Secret>),
    /// A signed body.
    Signature(Signature),
}

/// What a request has to prove.
#[derive(Debug, Clone)]
pub struct Authentication {
    asked: Vec<Proof>,
}

/// A request that did not prove it. Says nothing of why: whoever guesses learns nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request is not authenticated as the config of this route asks")]
pub struct Refused;

impl Authentication {
    /// All of these.
    #[must_use]
    pub fn new(asked: Vec<Proof>) -> Self {
        Self { asked }
    }

    /// Whether nothing is asked for, so that the route is off.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.asked.is_empty()
    }

    /// What the headers alone can show, before a byte of the body is read.
    ///
    /// # Errors
    /// [`Refused`], also where nothing is asked for.
    pub fn before(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let holds = |proof: &Proof| match proof {
            Proof::Bearer(token) => after_scheme(headers, "bearer").is_some_and(|given| token.is(given.as_bytes())),
            Proof::Basic(pair) => after_scheme(headers, "basic")
                .and_then(|given| STANDARD.decode(given).ok())
                .is_some_and(|given| pair.is(&given)),
            Proof::Signature(signature) => !signature.codes(headers).is_empty(),
        };
        if !self.is_none() && self.asked.iter().all(holds) { Ok(()) } else { Err(Refused) }
    }

    /// What the headers and the body show together.
    ///
    /// # Errors
    /// [`Refused`], also where nothing is asked for.
    pub fn whole(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<(), Refused> {
        self.before(headers)?;
        let holds = |proof: &Proof| match proof {
            Proof::Bearer(_) | Proof::Basic(_) => true,
            Proof::Signature(signature) => signature.holds(headers, body, now),
        };
        if self.asked.iter().all(holds) { Ok(()) } else { Err(Refused) }
    }
}

impl Signature {
    fn codes(&self, headers: &HeaderMap) -> Vec<Vec<u8>> {
        let Some(text) = only(headers, &self.header) else { return Vec::new() };
        match self.form {
            Form::Hex => unhex(text.strip_prefix("sha256=").unwrap_or(text)).into_iter().filter(is_code).collect(),
            Form::List => text
                .split(',')
                .take(MOST_SIGNATURES)
                .filter_map(|one| unhex(one.trim().strip_prefix("v1=")?))
                .filter(is_code)
                .collect(),
        }
    }

    fn holds(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> bool {
        let codes = self.codes(headers);
        match &self.timestamp {
            None => self.secret.signed(&[body], &codes),
            Some(header) => {
                let Some(text) = only(headers, header) else { return false };
                self.is_recent(text, now) && self.secret.signed(&[text.as_bytes(), b":", body], &codes)
            }
        }
    }

    fn is_recent(&self, text: &str, now: Timestamp) -> bool {
        let digits = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds: Option<i64> = if digits { text.parse().ok() } else { None };
        seconds.is_some_and(|seconds| seconds.abs_diff(now.as_second()) <= self.tolerance.as_secs())
    }
}

#[expect(clippy::ptr_arg, reason = "given to `filter` over vectors")]
fn is_code(code: &Vec<u8>) -> bool {
    code.len() == 32
}

/// The value of a header that stands once and is text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// What stands behind the scheme in `Authorization`.
fn after_scheme<'h>(headers: &'h HeaderMap, scheme: &str) -> Option<&'h str> {
    let (given, rest) = only(headers, &AUTHORIZATION)?.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then_some(rest.trim())
}
