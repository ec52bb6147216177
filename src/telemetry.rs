//! Warrant's own log: to standard error, every line masked before it is written.
//!
//! `WARRANT_LOG` sets what is logged, as in `WARRANT_LOG=debug`; warnings otherwise.

use std::io::{self, Write};
use std::sync::{OnceLock, PoisonError, RwLock};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use warrant_kernel::redact::{RedactionKey, Redactor};

static REDACTOR: OnceLock<RwLock<Option<Redactor>>> = OnceLock::new();

/// Begins to log. Called once, at start.
pub fn begin() {
    let filter = EnvFilter::try_from_env("WARRANT_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let begun = tracing_subscriber::fmt().with_env_filter(filter).with_writer(Masking).with_target(false).try_init();
    if begun.is_err() {
        // Another part of the process (a test) has begun already; its log is as good.
        tracing::debug!("the log had begun already");
    }
}

/// From now on lines are masked with the secrets of the config too.
pub fn mask_with(redactor: Redactor) {
    let slot = REDACTOR.get_or_init(RwLock::default);
    *slot.write().unwrap_or_else(PoisonError::into_inner) = Some(redactor);
}

/// Masks each line, or writes that it could not.
struct Masking;

impl Masking {
    fn masked(text: &str) -> String {
        let slot = REDACTOR.get_or_init(RwLock::default);
        let known = slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let redactor = known.map_or_else(|| RedactionKey::random().and_then(|key| Redactor::new(key, [])), Ok);
        let masked = redactor.and_then(|redactor| redactor.redact_text(text).map(|masked| masked.text.into_owned()));
        masked.unwrap_or_else(|_| "(a line of the log could not be checked for secrets)\n".to_owned())
    }
}

impl Write for Masking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The formatter hands over one whole event at a time.
        io::stderr().write_all(Self::masked(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for Masking {
    type Writer = Self;

    fn make_writer(&'a self) -> Self::Writer {
        Self
    }
}
