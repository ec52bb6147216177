//! What this process goes by at the moment: tools, policies and runbooks, all of one reading. Whoever begins something takes
//! it as it is then, and keeps that until it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use jiff::Timestamp;
use warrant_kernel::call::tool::Clock;

use crate::app::{App, SystemClock};
use crate::web::health::{Check, Condition, Weight};

/// Most characters of what is wrong that are told.
const MOST_SAID: usize = 2_000;

/// How the last reading went.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reading {
    /// What was read is in force.
    Taken,
    /// It was not taken, for this reason.
    Refused(String),
}

/// What is gone by, and since when.
pub struct Live {
    app: RwLock<Arc<App>>,
    last: Mutex<(Timestamp, Reading)>,
}

impl Live {
    /// As the process began.
    #[must_use]
    pub fn new(app: Arc<App>) -> Arc<Self> {
        Arc::new(Self { app: RwLock::new(app), last: Mutex::new((SystemClock.now(), Reading::Taken)) })
    }

    /// All of it, as it is now.
    #[must_use]
    pub fn now(&self) -> Arc<App> {
        Arc::clone(&self.app.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn last(&self) -> MutexGuard<'_, (Timestamp, Reading)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on it is this.
    pub(super) fn take(&self, app: Arc<App>) {
        *self.app.write().unwrap_or_else(PoisonError::into_inner) = app;
        *self.last() = (SystemClock.now(), Reading::Taken);
    }

    /// The files as they are now are not taken, since `why`; masked, and whether that is something new.
    pub(super) fn refuse(&self, why: &str) -> (String, News) {
        let masked = self.now().redactor.redact_text(why).map(|masked| masked.text.into_owned());
        let why: String = masked.map_or_else(
            |_| "what is wrong with them could not be checked for secrets".to_owned(),
            // Only then cut: a part of a secret is no longer found.
            |masked| masked.chars().take(MOST_SAID).collect(),
        );
        let mut last = self.last();
        let refused = Reading::Refused(why.clone());
        let news = if last.1 == refused { News::Known } else { News::New };
        last.1 = refused;
        (why, news)
    }

    /// How it stands with the files, for whoever watches over this process.
    #[must_use]
    pub fn check(&self) -> Check {
        let (since, reading) = self.last().clone();
        let (state, detail) = match reading {
            Reading::Taken => (Condition::Up, format!("in force since {since:.0}")),
            Reading::Refused(why) => (
                Condition::Degraded,
                format!("the files as they are now are not taken, so those of {since:.0} stay in force: {why}"),
            ),
        };
        Check { name: "policies, tools and runbooks".to_owned(), state, weight: Weight::Informs, detail }
    }
}

/// Whether something has been told before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// It has not.
    New,
    /// It has.
    Known,
}
