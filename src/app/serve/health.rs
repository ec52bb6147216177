//! How everything is that this process depends on, and what is counted elsewhere.

use std::time::Duration;

use tokio::time::timeout;
use warrant_kernel::store::Store;

use super::runs::Runs;
use crate::app::App;
use crate::app::fault::told;
use crate::app::sequencer::hold::Hold;
use crate::chat::slack::health::{Health, Ready};
use crate::web::backend::Standing;
use crate::web::health::{Check, Condition, Weight};

/// How long one dependency may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a record may wait for its checkpoint before that is said.
const LATE: Duration = Duration::from_secs(90);

/// Free bytes below which writes are soon no more possible.
const SHORT: u64 = 256 << 20;

/// Looks at everything that decides whether this process can do its work.
pub async fn checks(app: &App, store: &Store, hold: &Hold) -> Vec<Check> {
    vec![of_store(store).await, of_ledger(hold).await, of_disk(app), of_models(app)]
}

fn check(name: &str, state: Condition, weight: Weight, detail: String) -> Check {
    Check { name: name.to_owned(), state, weight, detail }
}

async fn of_store(store: &Store) -> Check {
    let (state, detail) = match timeout(PATIENCE, store.list(1)).await {
        Ok(Ok(_)) => (Condition::Up, String::new()),
        Ok(Err(error)) => (Condition::Down, told(&error)),
        Err(_) => (Condition::Down, format!("no answer within {} s", PATIENCE.as_secs())),
    };
    check("store", state, Weight::Decides, detail)
}

/// Without the ledger nothing is written, and reading goes on.
async fn of_ledger(hold: &Hold) -> Check {
    let (state, detail) = match timeout(PATIENCE, hold.sequencer().stopped()).await {
        Ok(Ok(None)) => match hold.ledger().waiting().await {
            Some(waiting) if waiting > LATE => (
                Condition::Degraded,
                format!("a record has been waiting for its checkpoint for {} s", waiting.as_secs()),
            ),
            Some(_) | None => (Condition::Up, String::new()),
        },
        Ok(Ok(Some(_))) => {
            (Condition::Degraded, "writes are stopped; `warrant stop-writes --lift` lets them go on".to_owned())
        }
        Ok(Err(objection)) => (Condition::Down, objection.to_string()),
        Err(_) => (Condition::Down, format!("no answer within {} s", PATIENCE.as_secs())),
    };
    check("ledger", state, Weight::Informs, detail)
}

fn of_disk(app: &App) -> Check {
    let (state, detail) = match free(app) {
        Some(free) if free < SHORT => {
            (Condition::Degraded, format!("{} MiB are free where the store lies", free >> 20))
        }
        Some(_) => (Condition::Up, String::new()),
        None => (Condition::Degraded, "how much is free where the store lies can't be told".to_owned()),
    };
    check("disk", state, Weight::Informs, detail)
}

/// Models are asked when they are needed; which of them are configured is all that can be said without paying for it.
fn of_models(app: &App) -> Check {
    check("models", Condition::Up, Weight::Informs, app.config.model_order.join(", "))
}

/// Slack may be away for a while: what comes is sent again by it, and what goes waits in the outbox.
pub fn of_slack(slack: Option<&Health>) -> Check {
    let Some(picture) = slack.map(Health::picture) else {
        return check("slack", Condition::Off, Weight::Informs, String::new());
    };
    let state = match picture.ready() {
        Ready::Yes => Condition::Up,
        Ready::Partly => Condition::Degraded,
        Ready::No => Condition::Down,
    };
    check("slack", state, Weight::Informs, picture.words())
}

fn free(app: &App) -> Option<u64> {
    let stat = rustix::fs::statvfs(app.config.store.parent()?).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// What is counted elsewhere.
pub async fn standing(app: &App, runs: &Runs, hold: &Hold) -> Standing {
    let sequencer = hold.sequencer();
    let approvals = match (sequencer.list().await, sequencer.figures().await) {
        (Ok(listed), Ok(figures)) => Some((listed, figures)),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(%error, "approvals can't be counted");
            None
        }
    };
    Standing {
        queues: vec![("investigations", u64::try_from(runs.count()).unwrap_or(u64::MAX))],
        ledger_lag_s: Some(hold.ledger().waiting().await.map_or(0.0, |waiting| waiting.as_secs_f64())),
        disks: free(app).map(|free| ("store", free)).into_iter().collect(),
        approvals,
    }
}
