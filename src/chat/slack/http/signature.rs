//! Slack's signature, version 0: HMAC-SHA-256 over `v0:TIME:BODY`, as `v0=` and 64 small hex digits.
//!
//! See "Verifying requests from Slack". Compared in constant time; anything but this form is no signature.

use std::fmt;

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// How far the time of a post may be from ours, in seconds.
const FARTHEST: u64 = 300;

/// The signing secret.
pub struct Secret(Hmac<Sha256>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What the headers of a post claim.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claimed {
    time: String,
    signature: [u8; 32],
}

impl Claimed {
    /// The claim, if it is of the form, alone, and of about `now`.
    pub(super) fn read(headers: &HeaderMap, now: i64) -> Option<Self> {
        let one = |name: &str| {
            let mut values = headers.get_all(name).iter();
            let (first, second) = (values.next()?, values.next());
            second.is_none().then(|| first.to_str().ok()).flatten()
        };
        let time = one("x-slack-request-timestamp")?;
        let digits = (1..=12).contains(&time.len()) && time.bytes().all(|byte| byte.is_ascii_digit());
        let told: i64 = time.parse().ok().filter(|_| digits)?;
        if told.abs_diff(now) > FARTHEST {
            return None;
        }
        let hex = one("x-slack-signature")?.strip_prefix("v0=")?;
        Some(Self { time: time.to_owned(), signature: bytes(hex)? })
    }
}

fn bytes(hex: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    if pairs.len() != bytes.len() || !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

impl Secret {
    /// A signing secret; none where it is empty, for anybody could sign with that.
    #[must_use]
    pub fn new(secret: &str) -> Option<Self> {
        let key = Some(secret.trim()).filter(|secret| !secret.is_empty())?;
        Hmac::new_from_slice(key.as_bytes()).ok().map(Self)
    }

    /// Whether the claim holds for the bytes as they came.
    pub(super) fn signed(&self, claimed: &Claimed, body: &[u8]) -> bool {
        let mut mac = self.0.clone();
        for part in [b"v0:".as_slice(), claimed.time.as_bytes(), b":", body] {
            mac.update(part);
        }
        mac.verify_slice(&claimed.signature).is_ok()
    }
}
