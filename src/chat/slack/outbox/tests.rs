//! Nothing is lost, nothing comes too fast, and nothing stands there twice.

mod doubles;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use tokio::task::JoinHandle;

use super::*;
use doubles::{Memory, Mood, Slack, Still};

struct World {
    keep: Arc<Memory>,
    slack: Arc<Slack>,
    health: Arc<Health>,
    outbox: Arc<Outbox>,
    task: JoinHandle<()>,
    cancel: CancellationToken,
}

impl World {
    fn new(moods: impl IntoIterator<Item = Mood>) -> Self {
        Self::over(Arc::default(), Arc::new(Slack::new(moods)))
    }

    fn over(keep: Arc<Memory>, slack: Arc<Slack>) -> Self {
        let health = Arc::new(Health::default());
        let parts = Parts { keep: keep.clone(), api: slack.clone(), health: health.clone(), clock: Arc::new(Still) };
        let outbox = Arc::new(Outbox::new(parts));
        let cancel = CancellationToken::new();
        let task = tokio::spawn(Arc::clone(&outbox).run(cancel.clone()));
        Self { keep, slack, health, outbox, task, cancel }
    }

    /// The process dies, and another one starts over the same store.
    async fn killed(self) -> Self {
        self.task.abort();
        assert!(self.task.await.is_err_and(|error| error.is_cancelled()));
        // What Slack said to the old process the new one is told again. A start takes a second or more.
        sleep(Duration::from_secs(1)).await;
        self.slack.forget_limits();
        Self::over(self.keep, self.slack)
    }

    async fn put(&self, id: &str, channel: &str, class: Class, text: &str) {
        self.put_in(id, channel, Thread::None, class, text).await;
    }

    async fn put_in(&self, id: &str, channel: &str, thread: Thread, class: Class, text: &str) {
        let content = json!({ "text": text });
        let message = Message { id: id.to_owned(), channel: channel.to_owned(), thread, class, content };
        // Whoever could not put it tries again.
        while self.outbox.put(message.clone()).await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// All that stands, as `id: text`.
    fn stands(&self) -> Vec<String> {
        self.slack.posted().iter().map(|posted| format!("{}: {}", posted.id, posted.text)).collect()
    }

    async fn end(self) {
        self.cancel.cancel();
        self.task.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn cards_go_before_chatter_and_edits_are_folded_into_the_newest() {
    let world = World::new([]);
    for n in 0..5 {
        world.put(&format!("talk-{n}"), "C1", Class::Chatter, "talk").await;
    }
    world.put("card", "C1", Class::Card, "may I?").await;
    for state in 0..50 {
        world.put("status", "C1", Class::Chatter, &format!("{state} %")).await;
    }
    sleep(Duration::from_secs(20)).await;
    assert_eq!(world.stands().iter().position(|said| said == "card: may I?"), Some(1), "{:?}", world.stands());
    let status = world.slack.posted().into_iter().find(|posted| posted.id == "status").unwrap();
    assert_eq!((status.text.as_str(), status.edits), ("49 %", 0));
    assert_eq!(world.slack.violations(), Vec::<String>::new());
    assert_eq!(world.health.picture().waiting, 0);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn sl_10_two_hundred_messages_a_minute_to_one_channel() {
    let world = World::new((0..20).flat_map(|_| [Mood::Takes, Mood::Limits(3), Mood::Takes]));
    for second in 0..60 {
        for n in 0..3 {
            world.put(&format!("talk-{n}"), "C1", Class::Chatter, &format!("at {second}")).await;
        }
        if second % 10 == 0 {
            world.put(&format!("card-{second}"), "C1", Class::Card, "may I?").await;
        }
        sleep(Duration::from_secs(1)).await;
    }
    sleep(Duration::from_mins(2)).await;
    let stands = world.stands();
    assert_eq!(stands.iter().filter(|said| said.starts_with("card-")).count(), 6, "{stands:?}");
    assert_eq!(stands.iter().filter(|said| said.ends_with("at 59")).count(), 3, "{stands:?}");
    assert_eq!(world.slack.violations(), Vec::<String>::new());
    assert!(world.slack.calls() < 100, "{} calls", world.slack.calls());
    assert!(world.health.picture().limited > 10);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_of_a_thread_waits_for_the_one_above_it() {
    let world = World::new([]);
    world.put_in("reply", "C1", Thread::Under("root".to_owned()), Class::Card, "below").await;
    sleep(Duration::from_secs(5)).await;
    assert_eq!(world.stands(), Vec::<String>::new());
    world.put("root", "C1", Class::Chatter, "above").await;
    sleep(Duration::from_secs(5)).await;
    let posted = world.slack.posted();
    assert_eq!(world.stands(), ["root: above", "reply: below"]);
    assert_eq!(posted[1].thread.as_deref(), Some(posted[0].ts.as_str()));
    assert_eq!(
        world.outbox.fate("reply").await.unwrap(),
        Some(Fate::Stands { channel: "C1".to_owned(), ts: posted[1].ts.clone() })
    );
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_channel_that_is_gone_is_said_and_what_could_not_go_goes_when_it_is_back() {
    let world = World::new([]);
    world.slack.archive("C1");
    world.put("root", "C1", Class::Report, "found").await;
    world.put_in("reply", "C1", Thread::Under("root".to_owned()), Class::Report, "more").await;
    world.put("other", "C2", Class::Report, "elsewhere").await;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(world.stands(), ["other: elsewhere"]);
    let told = world.health.picture().words();
    assert!(told.contains("C1: nothing can be posted to the channel (`is_archived`)"), "{told}");
    assert!(
        matches!(world.outbox.fate("root").await.unwrap(), Some(Fate::Undeliverable(why)) if why.contains("is_archived"))
    );
    assert!(
        matches!(world.outbox.fate("reply").await.unwrap(), Some(Fate::Undeliverable(why)) if why.contains("above"))
    );
    world.slack.unarchive();
    world.outbox.revive("C1").await.unwrap();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(world.stands(), ["other: elsewhere", "root: found", "reply: more"]);
    assert!(world.health.picture().channels.is_empty());
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_card_that_somebody_deleted_stands_there_again() {
    let world = World::new([]);
    world.put("card", "C1", Class::Card, "may I?").await;
    world.put("talk", "C1", Class::Chatter, "hm").await;
    sleep(Duration::from_secs(5)).await;
    world.slack.delete("card");
    world.slack.delete("talk");
    world.put("card", "C1", Class::Card, "denied").await;
    world.put("talk", "C1", Class::Chatter, "so").await;
    sleep(Duration::from_secs(5)).await;
    assert_eq!(world.stands(), ["card: denied"]);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_a_moment_makes_nothing_stand_twice() {
    let world = World::new([]);
    world.put("a", "C1", Class::Card, "one").await;
    // The first write says that it is about to be posted, the next that it stands.
    sleep(Duration::from_millis(15)).await;
    world.keep.refuse(8);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(world.stands(), ["a: one"]);
    world.put("a", "C1", Class::Card, "two").await;
    sleep(Duration::from_secs(5)).await;
    assert_eq!(world.stands(), ["a: two"]);
    world.end().await;
}

#[derive(Debug, Clone)]
enum Step {
    Put(u8, Class),
    Reply(u8, u8),
    Wait(u16),
    Refuse(u32),
    Kill,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let class = prop_oneof![Just(Class::Card), Just(Class::Report), Just(Class::Chatter)];
    let step = prop_oneof![
        6 => (0_u8..6, class).prop_map(|(id, class)| Step::Put(id, class)),
        2 => (0_u8..3, 0_u8..6).prop_map(|(id, parent)| Step::Reply(id, parent)),
        3 => (0_u16..3_000).prop_map(Step::Wait),
        1 => (1_u32..12).prop_map(Step::Refuse),
        1 => Just(Step::Kill),
    ];
    proptest::collection::vec(step, 1..40)
}

fn moods() -> impl Strategy<Value = Vec<Mood>> {
    let mood = prop_oneof![
        4 => Just(Mood::Takes),
        2 => (1_u64..8).prop_map(Mood::Limits),
        1 => Just(Mood::Away),
        1 => Just(Mood::LosesAnswer),
    ];
    proptest::collection::vec(mood, 0..40)
}

async fn nothing_is_lost(steps: Vec<Step>, moods: Vec<Mood>) {
    let mut world = World::new(moods);
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for (number, step) in steps.into_iter().enumerate() {
        let text = format!("state {number}");
        match step {
            Step::Put(id, class) => {
                // A message stays in its channel.
                let channel = format!("C{}", id % 3);
                world.put(&format!("m{id}"), &channel, class, &text).await;
                wanted.insert(format!("m{id}"), text);
            }
            Step::Reply(id, parent) => {
                let (parent, channel) = (parent - parent % 3 + id % 3, format!("C{}", id % 3));
                let (id, above) = (format!("r{id}"), format!("m{parent}"));
                world.put(&above, &channel, Class::Chatter, &text).await;
                world.put_in(&id, &channel, Thread::Under(above.clone()), Class::Report, &text).await;
                wanted.insert(above, text.clone());
                wanted.insert(id, text);
            }
            Step::Wait(milliseconds) => sleep(Duration::from_millis(milliseconds.into())).await,
            Step::Refuse(writes) => world.keep.refuse(writes),
            Step::Kill => world = world.killed().await,
        }
    }
    sleep(Duration::from_mins(20)).await;
    let mut stands: BTreeMap<String, String> = BTreeMap::new();
    for posted in world.slack.posted() {
        assert!(stands.insert(posted.id.clone(), posted.text).is_none(), "{} stands twice", posted.id);
    }
    assert_eq!(stands, wanted);
    assert_eq!(world.slack.violations(), Vec::<String>::new());
    assert_eq!(world.health.picture().waiting, 0);
    world.end().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn sl_10_nothing_is_lost_doubled_or_too_fast(steps in steps(), moods in moods()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(nothing_is_lost(steps, moods));
    }
}
