//! What a server answered: a status and a body that was read up to a cap.

use reqwest::{Response, Url};
use serde::de::DeserializeOwned;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::redact::guard::{cut_behind, first_chars};

use super::failure;
use super::place::Place;

/// Most values of a JSON answer.
pub const MAX_VALUES: usize = 1_000_000;

/// About how many values a JSON text holds: what begins or separates them outside strings.
fn values(json: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

/// Whether a body was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The cap came first.
    Cut,
}

/// A server's answer.
#[derive(Debug)]
pub struct Answer {
    place: Place,
    url: Url,
    status: u16,
    body: Vec<u8>,
    extent: Extent,
    certificate: Option<Vec<u8>>,
}

impl Answer {
    /// Reads the body while it comes, `cap` bytes at most.
    pub(super) async fn receive(
        place: &Place,
        base: &Url,
        mut response: Response,
        cap: usize,
    ) -> Result<Self, ReadError> {
        let certificate = response
            .extensions()
            .get::<reqwest::tls::TlsInfo>()
            .and_then(|info| info.peer_certificate().map(<[u8]>::to_vec));
        let mut body: Vec<u8> = Vec::new();
        let mut extent = Extent::Whole;
        while let Some(chunk) = response.chunk().await.map_err(|error| failure::of(place, base, &error))? {
            let room = cap.saturating_sub(body.len());
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                extent = Extent::Cut;
                break;
            }
        }
        if extent == Extent::Cut {
            body.truncate(cut_behind(&body).len());
        }
        let status = response.status().as_u16();
        Ok(Self { place: place.clone(), url: base.clone(), status, body, extent, certificate })
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The leaf certificate (DER) of the server, where TLS was spoken.
    #[must_use]
    pub fn certificate(&self) -> Option<&[u8]> {
        self.certificate.as_deref()
    }

    /// Whether the body was read to its end.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// The body as text; what is no UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The first characters of the body, `chars` at most.
    #[must_use]
    pub fn excerpt(&self, chars: usize) -> String {
        first_chars(&String::from_utf8_lossy(&self.body), chars).to_owned()
    }

    /// The answer itself if its status is 2xx.
    ///
    /// # Errors
    /// [`ReadError::Backend`] that says what the status means for this source.
    pub fn good(self) -> Result<Self, ReadError> {
        if (200..300).contains(&self.status) { Ok(self) } else { Err(self.bad_status()) }
    }

    /// What the status means for this source.
    #[must_use]
    pub fn bad_status(&self) -> ReadError {
        failure::status(&self.place, &self.url, self.status, &self.excerpt(400))
    }

    /// The body as JSON, nested at most 128 deep (the parser's own limit), of [`MAX_VALUES`] values.
    ///
    /// # Errors
    /// [`ReadError::Backend`] where it is longer than the cap, holds more values, or isn't what it should be.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        let (place, at) = (&self.place, failure::server(&self.url));
        if self.extent == Extent::Cut {
            let message = format!(
                "{place}: the answer of {at} is longer than {} MiB; ask for less: a narrower window, fewer series",
                super::BODY_CAP / 1024 / 1024
            );
            return Err(failure::backend("TOO_LARGE", message, false));
        }
        // A value takes many times its bytes in memory, so they are counted before any is made.
        if values(&self.body) > MAX_VALUES {
            let message = format!("{place}: the answer of {at} holds more than {MAX_VALUES} values; ask for less");
            return Err(failure::backend("TOO_LARGE", message, false));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            let said = self.excerpt(200);
            let message = format!("{place}: {at} did not answer with the JSON expected ({error}); it said: {said}");
            failure::backend("MALFORMED", message, false)
        })
    }
}
