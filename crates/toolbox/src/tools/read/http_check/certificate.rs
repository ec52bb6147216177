//! The dates of a certificate. Nothing here trusts it.

use jiff::Timestamp;
use serde_json::{Value, json};
use warrant_kernel::domain::time;
use warrant_kernel::redact::guard::first_chars;
use x509_parser::parse_x509_certificate;

const DAY: i64 = 86_400;

/// What is told of a certificate.
pub(super) struct Certificate {
    subject: String,
    not_after: Timestamp,
    /// Whole days until it ends, rounded down: below zero once it has.
    pub(super) days_left: i64,
}

impl Certificate {
    /// Reads a certificate in DER; none where it is none.
    pub(super) fn read(der: &[u8], now: Timestamp) -> Option<Self> {
        let (_, certificate) = parse_x509_certificate(der).ok()?;
        let not_after = Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()?;
        let days_left = not_after.duration_since(now).as_secs().div_euclid(DAY);
        // The subject is a stranger's text of any length.
        let subject = first_chars(&certificate.subject().to_string(), 200).to_owned();
        Some(Self { subject, not_after, days_left })
    }

    pub(super) fn into_row(self) -> Value {
        json!({
            "subject": self.subject,
            "not_after": time::rfc3339(self.not_after),
            "days_left": self.days_left,
            "expired": self.days_left < 0,
        })
    }
}
