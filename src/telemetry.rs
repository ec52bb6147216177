//! What Warrant tells of itself. Its own log goes to standard error, every line masked before it is written.
//!
//! `WARRANT_LOG` sets what is logged, as in `WARRANT_LOG=debug`; warnings otherwise.
//!
//! Where the config names a collector, investigations are sent to it as spans:
//!
//! | module | does |
//! |---|---|
//! | [`config`] | `[telemetry]`, checked |
//! | [`spans`] | makes spans of what happens |
//! | [`export`] | sends them |

pub mod config;

pub mod spans;

pub mod export;

use std::io::{self, Write};
use std::panic::PanicHookInfo;
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
        return;
    }
    // What a panic says may hold anything, a secret too, and the hook of the standard library writes it as it is.
    std::panic::set_hook(Box::new(|panic| {
        // Nobody is left to tell where standard error is gone.
        io::stderr().write_all(panicked(panic).as_bytes()).ok();
    }));
}

fn panicked(panic: &PanicHookInfo<'_>) -> String {
    masked(&format!("warrant: {panic}\n"))
}

/// From now on lines are masked with the secrets of the config too.
pub fn mask_with(redactor: Redactor) {
    let slot = REDACTOR.get_or_init(RwLock::default);
    *slot.write().unwrap_or_else(PoisonError::into_inner) = Some(redactor);
}

/// A text for standard error without secrets, those of the config too once it is read; a fixed sentence where it could
/// not be checked.
#[must_use]
pub fn masked(text: &str) -> String {
    let slot = REDACTOR.get_or_init(RwLock::default);
    let known = slot.read().unwrap_or_else(PoisonError::into_inner).clone();
    let redactor = known.map_or_else(|| RedactionKey::random().and_then(|key| Redactor::new(key, [])), Ok);
    let masked = redactor.and_then(|redactor| redactor.redact_text(text).map(|masked| masked.text.into_owned()));
    masked.unwrap_or_else(|_| "(a text that could not be checked for secrets)\n".to_owned())
}

/// Masks each event, or writes that it could not.
struct Masking;

impl Write for Masking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The formatter hands over one whole event at a time.
        io::stderr().write_all(masked(&String::from_utf8_lossy(bytes)).as_bytes())?;
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use warrant_kernel::redact::KnownSecret;

    /// Events and the fields of spans are formatted first, and masked as one text.
    #[test]
    fn rd_12_events_and_spans_say_no_secret_of_ours() {
        static WRITTEN: Mutex<String> = Mutex::new(String::new());
        struct Screen;
        impl Write for Screen {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                WRITTEN.lock().unwrap().push_str(&masked(&String::from_utf8_lossy(bytes)));
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let ours = "zq-known-value-0815-x";
        let known = [KnownSecret::new("model_key", ours)];
        mask_with(Redactor::new(RedactionKey::from_bytes([7; 32]), known).unwrap());
        let subscriber = tracing_subscriber::fmt().with_writer(|| Screen).finish();
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::error_span!("asked", key = ours, url = "https://u:Tr0ub4dor@h/");
            let _entered = span.enter();
            tracing::error!(header = ours, "no answer with {ours}, cause: {}", io::Error::other(ours));
        });
        let written = WRITTEN.lock().unwrap();
        assert!(written.contains("no answer with [secret:model_key:") && written.contains("asked"), "{written}");
        assert!(!written.contains(ours) && !written.contains("Tr0ub4dor"), "{written}");
        assert!(!masked(&format!("can't reach the provider: {ours}")).contains(ours));
    }

    #[test]
    fn rd_12_a_panic_says_no_secret() {
        static SAID: Mutex<String> = Mutex::new(String::new());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|panic| SAID.lock().unwrap().push_str(&panicked(panic))));
        let ended = std::thread::spawn(|| panic!("can't connect: password=Tr0ub4dor-and-more")).join();
        std::panic::set_hook(before);
        assert!(ended.is_err());
        let said = SAID.lock().unwrap();
        assert!(said.contains("can't connect") && !said.contains("Tr0ub4dor"), "{said}");
    }
}
