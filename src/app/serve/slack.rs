//! Slack, joined with what runs here: what people say becomes investigations and votes, and what comes of them is shown.
//!
//! Whatever people did lies in the store before it is handled, and is handled until it is done: a crash in between handles it
//! again, and everything it does goes by ids that are the same the second time.
//!
//! | module | does |
//! |---|---|
//! | [`home`] | where the messages of an investigation stand |
//! | [`talk`] | what people say |
//! | [`files`] | text files that they post |
//! | [`click`] | what people press and fill in |
//! | [`readings`] | how far they have read the wholes of cards |
//! | [`readers`] | what not everybody may read who reads in a channel |
//! | [`shows`] | progress, reports, incidents |
//! | [`charts`] | pictures of the decisive metrics |
//! | [`handover`] | what happened in a shift |
//! | [`cards`] | what waits for people, and what became of it |

mod home;

mod talk;

mod files;

mod click;

mod readings;

mod readers;

mod shows;

mod charts;

mod handover;

mod cards;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::people::People;
use warrant_kernel::people::directory::{Directory, DirectoryError};
use warrant_kernel::store::Store;

use super::runs::Runs;
use crate::app::fault::Fault;
use crate::app::sequencer::hold::Hold;
use crate::app::{App, SystemClock};
use crate::chat::slack::client::Client;
use crate::chat::slack::client::error::CallError;
use crate::chat::slack::config::{Checked, Secrets, Way};
use crate::chat::slack::health::Health;
use crate::chat::slack::http::{self, Http};
use crate::chat::slack::inbox::{self, Inbox};
use crate::chat::slack::outbox::{self, Outbox};
use crate::chat::slack::socket::Socket;
use crate::chat::slack::who::{Register, Who};
use crate::config::people::ConfigPeople;

use home::Home;
use readings::Readings;

pub(super) use readers::READERS;
pub(super) use shows::Watching;

/// Notes of Slack's, for whoever tidies up.
pub(super) mod notes {
    pub(in crate::app::serve) use super::cards::SHOWN as CARD;
    pub(in crate::app::serve) use super::charts::UPLOADED as CHART;
    pub(in crate::app::serve) use super::home::{HOME, Home, THREAD, Threaded};
    pub(in crate::app::serve) use super::readings::{READ, card_of};
}

/// How long Slack may take to say who we are, where nothing can begin without it.
const INTRODUCTION: Duration = Duration::from_secs(20);

/// The longest wait between two tries of it.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Slack, before anything runs: who is who is asked of it.
pub struct Connection {
    settings: Checked,
    secrets: Secrets,
    client: Arc<Client>,
    who: Arc<Who>,
    health: Arc<Health>,
}

/// Who is who, as the config says now.
struct Registered(ConfigPeople);

#[async_trait]
impl Register for Registered {
    async fn people(&self) -> Result<People, DirectoryError> {
        self.0.now().await
    }
}

impl Connection {
    /// Nothing is asked of Slack yet.
    ///
    /// # Errors
    /// [`Fault::Failed`] where no client can be made.
    pub fn new(app: &App, settings: Checked, secrets: Secrets) -> Result<Self, Fault> {
        let client = Client::new(&settings.api_url, &secrets.bot_token)
            .map_err(|why| Fault::Failed(format!("can't talk to Slack: {why}")))?;
        let client = Arc::new(client);
        let register = Arc::new(Registered(ConfigPeople::new(app.config.path.clone())));
        let who = Who::new(client.clone(), register, settings.ours.clone(), settings.groups.clone());
        Ok(Self { settings, secrets, client, who: Arc::new(who), health: Arc::default() })
    }

    /// Knows who is who, those too whom only Slack knows.
    pub fn directory(&self) -> Arc<dyn Directory> {
        self.who.clone()
    }
}

/// Slack.
pub struct Slack {
    app: Arc<App>,
    store: Store,
    hold: Arc<Hold>,
    runs: Mutex<Option<Runs>>,
    settings: Checked,
    secrets: Secrets,
    client: Arc<Client>,
    who: Arc<Who>,
    health: Arc<Health>,
    outbox: Arc<Outbox>,
    inbox: Mutex<Option<Arc<Inbox>>>,
    homes: Mutex<BTreeMap<InvestigationId, Home>>,
    /// How far each investigation is, as a message that is still to be put.
    progress: Mutex<BTreeMap<InvestigationId, Value>>,
    /// Rung when there is progress.
    moved: Notify,
    /// Rung when approvals may have changed.
    decided: Notify,
    /// Approvals whose cards are to be looked at again.
    again: Mutex<BTreeSet<ApprovalId>>,
    readings: Mutex<Readings>,
    /// Investigations whose charts are owed.
    owed: Mutex<Vec<InvestigationId>>,
    /// Rung when charts are owed.
    drawing: Notify,
    tasks: TaskTracker,
}

impl Slack {
    /// Joined with what decides on writes.
    pub fn new(app: Arc<App>, store: Store, hold: Arc<Hold>, connection: Connection) -> Arc<Self> {
        let Connection { settings, secrets, client, who, health } = connection;
        let outbox = Outbox::new(outbox::Parts {
            keep: Arc::new(store.clone()),
            api: client.clone(),
            health: Arc::clone(&health),
            clock: Arc::new(SystemClock),
        });
        Arc::new(Self {
            app,
            store,
            hold,
            runs: Mutex::default(),
            settings,
            secrets,
            client,
            who,
            health,
            outbox: Arc::new(outbox),
            inbox: Mutex::default(),
            homes: Mutex::default(),
            progress: Mutex::default(),
            moved: Notify::new(),
            decided: Notify::new(),
            again: Mutex::default(),
            readings: Mutex::default(),
            owed: Mutex::default(),
            drawing: Notify::new(),
            tasks: TaskTracker::new(),
        })
    }

    /// How it stands with Slack.
    pub fn health(&self) -> &Health {
        &self.health
    }

    fn runs(&self) -> Option<Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The policies that go for what is shown now.
    fn in_force(&self) -> Arc<App> {
        self.runs().map_or_else(|| Arc::clone(&self.app), |runs| runs.in_force())
    }

    fn inbox(&self) -> Option<Arc<Inbox>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn homes(&self) -> MutexGuard<'_, BTreeMap<InvestigationId, Home>> {
        self.homes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins: messages leave, and whatever comes is taken in. Gives the routes where Slack posts, if it does.
    ///
    /// # Errors
    /// [`Fault::Failed`] where Slack must say who we are first and does not.
    pub async fn begin(self: &Arc<Self>, runs: Runs, cancel: &CancellationToken) -> Result<Router, Fault> {
        *self.runs.lock().unwrap_or_else(PoisonError::into_inner) = Some(runs);
        self.tasks.spawn(Arc::clone(&self.outbox).run(cancel.clone()));
        self.tasks.spawn(Arc::clone(self).show_progress(cancel.clone()));
        self.tasks.spawn(Arc::clone(self).show_cards(cancel.clone()));
        self.tasks.spawn(Arc::clone(self).show_charts(cancel.clone()));
        self.tasks.spawn(Arc::clone(self).catch_up(cancel.clone()));
        match &self.settings.way {
            Way::Socket(_) => {
                let (slack, cancel) = (Arc::clone(self), cancel.clone());
                self.tasks.spawn(async move {
                    let Some(Some(inbox)) = cancel.run_until_cancelled(slack.introduced()).await else { return };
                    let socket = Socket {
                        client: Arc::clone(&slack.client),
                        app_token: slack.secrets.arrival.clone(),
                        inbox,
                        health: Arc::clone(&slack.health),
                        clock: Arc::new(SystemClock),
                        jitter: Arc::new(chance),
                    };
                    tokio::join!(socket.run(cancel.clone()), slack.listen(cancel.clone()));
                });
                Ok(Router::new())
            }
            Way::Http(_) => {
                let inbox = tokio::time::timeout(INTRODUCTION, self.introduced()).await.ok().flatten();
                let Some(inbox) = inbox else {
                    let why = self.health.picture().token.unwrap_or_else(|| "it does not answer".to_owned());
                    return Err(Fault::Failed(format!("Slack does not say who we are: {why}")));
                };
                self.tasks.spawn(Arc::clone(self).listen(cancel.clone()));
                let secret = http::Secret::new(&self.secrets.arrival)
                    .ok_or_else(|| Fault::Failed("the signing secret is empty".to_owned()))?;
                let clock = Arc::new(SystemClock);
                Ok(http::router(Http { secret, inbox, health: Arc::clone(&self.health), clock }))
            }
        }
    }

    /// The inbox, once Slack has said who we are; tried until it does. None where it is somebody else's token.
    async fn introduced(self: &Arc<Self>) -> Option<Arc<Inbox>> {
        let mut wait = Duration::from_secs(1);
        let me = loop {
            match self.client.me().await {
                Ok(me) => break me,
                Err(error) => {
                    let why = error.to_string();
                    tracing::warn!(why, "slack does not say who we are");
                    if let CallError::NotAuthed(_) = error {
                        self.health.token(Some(why));
                    }
                }
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        };
        let ours = &self.settings.ours;
        if me.team != ours.team {
            let why = format!("the bot's token is of the workspace {}, `slack.team` is {}", me.team, ours.team);
            tracing::error!(why, "slack is not used");
            self.health.token(Some(why));
            return None;
        }
        self.health.token(None);
        let desk: Arc<dyn inbox::Desk> = self.clone();
        let inbox = Arc::new(Inbox::new(inbox::Parts {
            keep: Arc::new(self.store.clone()),
            desk,
            client: Arc::clone(&self.client),
            redactor: self.app.redactor.clone(),
            ours: ours.clone(),
            bot: me.user,
            clock: Arc::new(SystemClock),
            health: Arc::clone(&self.health),
        }));
        *self.inbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&inbox));
        Some(inbox)
    }

    /// Waits until everything that was begun has ended, and lets go of what it was joined with.
    pub async fn end(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A number below the one given, for waits that do not fall together.
fn chance(below: u64) -> u64 {
    let mut bytes = [0; 8];
    // Without chance the waits fall together, which is slower and no more.
    if getrandom::fill(&mut bytes).is_err() {
        return 0;
    }
    u64::from_le_bytes(bytes) % below.max(1)
}
