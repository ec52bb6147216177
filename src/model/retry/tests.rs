use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc::unbounded_channel;
use tokio::time::Instant;

use super::*;
use crate::model::testing::{asked, permanent, text, transient};

type Outcome = Result<Answer, ModelError>;

/// Fails as it is told to, then says something.
struct Scripted {
    outcomes: Mutex<Vec<Outcome>>,
    asked: AtomicUsize,
}

impl Scripted {
    fn new(outcomes: Vec<Outcome>) -> Arc<Self> {
        Arc::new(Self { outcomes: Mutex::new(outcomes), asked: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &'static str {
        "main"
    }

    async fn answer(
        &self,
        _: Request<'_>,
        _: &UnboundedSender<String>,
        _: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.outcomes.lock().unwrap().remove(0)
    }
}

/// Asks; how long it took, how often the model was asked, and what came of it.
async fn ask(outcomes: Vec<Outcome>, tries: u32, jitter: f64) -> (Duration, usize, Outcome) {
    let model = Scripted::new(outcomes);
    let inner: Arc<dyn Model> = Arc::clone(&model) as _;
    let patient = Patient::new(inner, NonZeroU32::new(tries).unwrap(), Arc::new(move || jitter));
    let began = Instant::now();
    let outcome = asked(&patient, &CancellationToken::new()).await;
    (began.elapsed(), model.asked.load(Ordering::Relaxed), outcome)
}

fn failing(times: usize, retry_after: Option<Duration>) -> Vec<Outcome> {
    (0..times).map(|_| Err(transient(retry_after))).collect()
}

#[tokio::test(start_paused = true)]
async fn lm_01_waits_double_up_to_eight_seconds() {
    let (waited, asked, outcome) = ask(failing(8, None), 8, 0.0).await;
    assert_eq!(waited.as_millis(), 500 + 1000 + 2000 + 4000 + 8000 + 8000 + 8000);
    assert_eq!(asked, 8);
    assert_eq!(outcome.unwrap_err().to_string(), "main: busy (tried 8 times)");
}

#[tokio::test(start_paused = true)]
async fn lm_01_jitter_takes_at_most_half_whatever_is_drawn() {
    for (drawn, waited) in [(0.5, 375), (1.0, 250), (7.0, 250), (-7.0, 500)] {
        let mut outcomes = failing(1, None);
        outcomes.push(Ok(text("main")));
        assert_eq!(ask(outcomes, 3, drawn).await.0.as_millis(), waited);
    }
    let jitter = system_jitter();
    assert!((0..100).map(|_| jitter()).all(|drawn| (0.0..=1.0).contains(&drawn)));
}

#[tokio::test(start_paused = true)]
async fn lm_01_what_the_provider_asks_for_is_obeyed_up_to_a_minute() {
    for (asked, waited) in [(0, 0), (30, 30_000), (60, 60_000), (61, 500), (u64::MAX, 500)] {
        let mut outcomes = failing(1, Some(Duration::from_secs(asked)));
        outcomes.push(Ok(text("main")));
        let (took, tries, outcome) = ask(outcomes, 3, 0.0).await;
        assert_eq!((took.as_millis(), tries, outcome.is_ok()), (waited, 2, true));
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_may_pass_is_tried_again() {
    let overflow = ModelError::ContextOverflow { model: "main".to_owned() };
    for error in [permanent(), overflow, ModelError::Cancelled] {
        let (took, tries, outcome) = ask(vec![Err(error.clone())], 3, 0.0).await;
        assert_eq!((took, tries, outcome), (Duration::ZERO, 1, Err(error)));
    }
    let (took, tries, outcome) = ask(failing(1, None), 1, 0.0).await;
    assert_eq!((took, tries, outcome.unwrap_err().to_string()), (Duration::ZERO, 1, "main: busy".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_investigation_ends_a_wait() {
    let inner = Scripted::new(failing(3, Some(Duration::from_secs(50))));
    let patient = Patient::new(inner, NonZeroU32::new(3).unwrap(), Arc::new(|| 0.0));
    let cancel = CancellationToken::new();
    let ended = async {
        sleep(Duration::from_secs(2)).await;
        cancel.cancel();
    };
    let began = Instant::now();
    let (outcome, ()) = tokio::join!(asked(&patient, &cancel), ended);
    assert_eq!((outcome, began.elapsed()), (Err(ModelError::Cancelled), Duration::from_secs(2)));
}

#[tokio::test]
async fn nobody_has_to_watch() {
    let (deltas, pieces) = unbounded_channel();
    drop(pieces);
    crate::model::wire::show(&deltas, "said to nobody");
}
