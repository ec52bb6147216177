use std::sync::Mutex;

use super::*;
use crate::model::testing::{asked, permanent, text, transient};

/// Answers as long as it is well.
struct Moody {
    name: &'static str,
    ill: Mutex<Option<ModelError>>,
    asked: AtomicU64,
}

impl Moody {
    fn new(name: &'static str, ill: Option<ModelError>) -> Arc<Self> {
        Arc::new(Self { name, ill: Mutex::new(ill), asked: AtomicU64::new(0) })
    }

    fn times_asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Model for Moody {
    fn name(&self) -> &str {
        self.name
    }

    async fn answer(
        &self,
        _: Request<'_>,
        _: &UnboundedSender<String>,
        _: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.ill.lock().unwrap().clone().map_or_else(|| Ok(text(self.name)), Err)
    }
}

async fn who(list: &List) -> Result<String, ModelError> {
    asked(list, &CancellationToken::new()).await.map(|answer| answer.model)
}

#[tokio::test(start_paused = true)]
async fn the_next_one_answers_and_the_first_is_asked_again_after_a_rest() {
    for error in [permanent(), transient(None)] {
        let (main, spare) = (Moody::new("main", Some(error)), Moody::new("spare", None));
        let list = List::new(Arc::clone(&main) as _, vec![Arc::clone(&spare) as _]);
        assert_eq!(list.name(), "main, spare");
        assert_eq!(who(&list).await.unwrap(), "spare");
        *main.ill.lock().unwrap() = None;
        assert_eq!(who(&list).await.unwrap(), "spare");
        assert_eq!(main.times_asked(), 1);
        tokio::time::advance(REST).await;
        assert_eq!(who(&list).await.unwrap(), "main");
        assert_eq!(spare.times_asked(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn resting_ones_are_asked_when_no_other_answers() {
    let (main, spare) = (Moody::new("main", Some(permanent())), Moody::new("spare", None));
    let list = List::new(Arc::clone(&main) as _, vec![Arc::clone(&spare) as _]);
    assert_eq!(who(&list).await.unwrap(), "spare");
    *main.ill.lock().unwrap() = None;
    *spare.ill.lock().unwrap() = Some(transient(None));
    assert_eq!(who(&list).await.unwrap(), "main");
}

#[tokio::test]
async fn what_another_model_would_not_help_with_comes_back_at_once() {
    let overflow = ModelError::ContextOverflow { model: "main".to_owned() };
    for error in [overflow, ModelError::Cancelled] {
        let spare = Moody::new("spare", None);
        let list = List::new(Moody::new("main", Some(error.clone())), vec![Arc::clone(&spare) as _]);
        assert_eq!(who(&list).await, Err(error));
        assert_eq!(spare.times_asked(), 0);
    }
}

#[tokio::test]
async fn one_model_fails_in_its_own_words() {
    let list = List::new(Moody::new("main", Some(transient(None))), Vec::new());
    assert_eq!(who(&list).await, Err(transient(None)));
    assert_eq!(list.name(), "main");
}

/// Says what it was told to say, and counts.
struct Says {
    name: &'static str,
    stop: Stop,
    asked: AtomicU64,
}

impl Says {
    fn new(name: &'static str, stop: Stop) -> Arc<Self> {
        Arc::new(Self { name, stop, asked: AtomicU64::new(0) })
    }
}

#[async_trait]
impl Model for Says {
    fn name(&self) -> &str {
        self.name
    }

    async fn answer(
        &self,
        _: Request<'_>,
        _: &UnboundedSender<String>,
        _: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(Answer { stop: self.stop, ..text(self.name) })
    }
}

#[tokio::test]
async fn one_that_declines_is_not_asked_again_in_the_same_investigation() {
    let (main, spare) = (Says::new("main", Stop::Refused), Says::new("spare", Stop::Done));
    let list = List::new(Arc::clone(&main) as _, vec![Arc::clone(&spare) as _]);
    for _ in 0..3 {
        assert_eq!(who(&list).await.unwrap(), "spare");
    }
    assert_eq!(main.asked.load(Ordering::Relaxed), 1);
    let both = List::new(Arc::clone(&main) as _, vec![Says::new("other", Stop::Refused) as _]);
    let answer = asked(&both, &CancellationToken::new()).await.unwrap();
    assert_eq!((answer.stop, answer.model.as_str()), (Stop::Refused, "other"), "no one's refusal is an error");
}

#[test]
fn idle_answers_are_those_at_the_end_that_were_told_so() {
    use crate::agent::model::{CallAnswer, ModelCall};
    let user = || Message::User { text: "go on".to_owned() };
    let call = ModelCall { id: "a".to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() };
    let said =
        |calls: &[ModelCall]| Message::Assistant { text: "so".to_owned(), calls: calls.to_vec(), opaque: Vec::new() };
    let answers = || {
        let answer = CallAnswer { id: "a".to_owned(), content: String::new(), is_error: false };
        Message::Answers { answers: vec![answer] }
    };
    for (messages, expected) in [
        (vec![user()], 0),
        (vec![user(), said(&[]), user()], 1),
        (vec![user(), said(&[]), user(), said(&[]), user()], 2),
        (vec![user(), said(&[]), user(), said(std::slice::from_ref(&call)), answers()], 0),
        (vec![user(), said(std::slice::from_ref(&call)), answers(), user()], 0),
        (vec![user(), said(std::slice::from_ref(&call)), answers(), said(&[]), user()], 1),
        // Paused: nobody told it anything.
        (vec![user(), said(&[])], 0),
    ] {
        assert_eq!(idle_answers(&messages), expected, "{messages:?}");
    }
}
