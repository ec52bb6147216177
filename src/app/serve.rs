//! `warrant serve`: one process that alerts, people and programs reach.
//!
//! It decides on writes for as long as it runs: it takes the lease of the store, and a second one is refused. What runs when
//! it ends is parked, and goes on at its next start.
//!
//! | module | does |
//! |---|---|
//! | `live` | the tools, policies and runbooks that it goes by |
//! | `reload` | reads them again |
//! | `runs` | the investigations of this process |
//! | `incidents` | what alerts ask for |
//! | `desk` | what the API asks for |
//! | `health` | how everything is that it depends on |
//! | `tidy` | lets go of notes of what is long over |
//! | `slack` | what people say and press in Slack, and what they are shown |

mod live;

mod reload;

mod runs;

mod incidents;

mod desk;

mod health;

mod slack;

mod tidy;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::store::Store;

use super::fault::Fault;
use super::sequencer::hold::Hold;
use super::{App, SystemClock, environment};
use crate::agent::trace::{Unwatched, Watcher};
use crate::alert::counts::Counts;
use crate::alert::{front, worker};
use crate::chat::terminal::approver::Attended;
use crate::config::people::ConfigPeople;
use crate::config::serve::Checked;
use crate::web::feed::Feed;
use crate::web::guard::{Guard, guarded};
use crate::web::metrics::Metrics;
use crate::web::server::{self, Drained};
use crate::web::{self, Pace};

use desk::Desk;
use incidents::Incidents;
use live::Live;
use reload::Reloader;
use runs::{Ends, Runs};
use slack::{Connection, READERS, Slack, Watching};
use tidy::Tidy;

pub use desk::NOBODY;
pub use incidents::REQUESTER;

/// What there is to tell while it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It is ready.
    Ready {
        /// Where it listens.
        at: SocketAddr,
        /// The routes of alerts that are on.
        routes: Vec<String>,
        /// Investigations of before that go on.
        taken_up: usize,
    },
    /// Policies, tools and runbooks were read again, and are in force.
    Reloaded {
        /// Policies in force.
        policies: usize,
        /// Tools.
        tools: usize,
        /// Runbooks.
        runbooks: usize,
    },
    /// They were read again, and those of before stay in force.
    NotReloaded {
        /// What is wrong, masked.
        why: String,
    },
    /// It is about to end.
    Ending {
        /// Investigations that are parked.
        running: usize,
        /// For how many seconds requests under way may go on.
        drain_s: u64,
    },
}

/// The sections of the config for serving, checked with the secrets of the environment.
///
/// # Errors
/// [`Fault::Config`] with all that is wrong.
pub fn settings(app: &App) -> Result<Checked, Fault> {
    let mut problems = Vec::new();
    for name in [NOBODY, REQUESTER, READERS] {
        if app.config.people.iter().any(|(person, _)| person.as_str() == name) {
            problems.push(format!("`[people.{name}]`: `{name}` is a name of Warrant's own; choose another name"));
        }
    }
    problems.extend(unknown_groups(app));
    let sources = app.bench.catalog.sources();
    for name in app.config.serve.slack.iter().flat_map(|slack| slack.links.keys()) {
        let is_source =
            name.parse().is_ok_and(|name| sources.has("metrics", &name) || sources.has("alertmanagers", &name));
        if !is_source {
            problems.push(format!("`slack.links.{name}`: there is no `[metrics.{name}]` or `[alertmanagers.{name}]`"));
        }
    }
    match app.config.serve.check(&environment) {
        Ok(checked) if problems.is_empty() => Ok(checked),
        Ok(_) => Err(Fault::Config { path: app.config.path.clone(), problems }),
        Err(more) => {
            problems.extend(more);
            Err(Fault::Config { path: app.config.path.clone(), problems })
        }
    }
}

/// Groups of alerts that nobody could be in: a word that policy never meets lets nothing be read.
fn unknown_groups(app: &App) -> Vec<String> {
    let people = app.config.people.iter().flat_map(|(_, person)| &person.groups);
    let slack = app.config.serve.slack.iter().flat_map(|slack| slack.groups.keys());
    let known: BTreeSet<&String> = people.chain(slack).collect();
    let told = if known.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are: {}", known.iter().map(|group| group.as_str()).collect::<Vec<_>>().join(", "))
    };
    let mut problems = Vec::new();
    for (name, route) in &app.config.serve.alerts {
        for group in route.groups.iter().filter(|group| !known.contains(group)) {
            problems.push(format!(
                "`alerts.{name}.groups`: nobody under `[people]`, and no group of `[slack.groups]`, is in `{group}`; {told}"
            ));
        }
    }
    problems
}

/// How others move a process that serves.
#[derive(Debug, Clone)]
pub struct Told {
    /// Ends it.
    pub cancel: CancellationToken,
    /// Has it read policies, tools and runbooks again at once.
    pub reload: Arc<Notify>,
}

/// Serves until it is told to end.
///
/// # Errors
/// [`Fault::Ledger`] where another process has the store; [`Fault::Failed`] where it can't listen.
pub async fn serve(app: Arc<App>, told: Told, tell: &mut dyn FnMut(News)) -> Result<(), Fault> {
    let settings = settings(&app)?;
    let listen = settings.web.listen;
    let listener = TcpListener::bind(listen).await.map_err(|error| {
        Fault::Failed(format!("can't listen on {listen}: {error}; `listen` under `[web]` says where"))
    })?;
    let at = listener.local_addr().map_err(|error| Fault::Failed(error.to_string()))?;
    let store = app.store().await?;
    let connection = match &settings.slack {
        Some((slack, secrets)) => Some(Connection::new(&app, slack.clone(), secrets.clone())?),
        None => None,
    };
    let directory = match &connection {
        Some(connection) => connection.directory(),
        None => Arc::new(ConfigPeople::new(app.config.path.clone())),
    };
    let hold = Arc::new(Hold::take_with(&app, Attended::default(), directory).await?);
    let slack = connection.map(|it| Slack::new(Arc::clone(&app), store.clone(), Arc::clone(&hold), it));
    let served = {
        let ground = Ground { app: &app, store: &store, hold: &hold, slack: slack.as_ref() };
        serving(ground, (listener, at), settings, told, tell).await
    };
    drop(slack);
    // All that held it has ended; were something left, its last checkpoint would go unpublished until the next start.
    let Ok(hold) = Arc::try_unwrap(hold) else {
        return Err(Fault::Failed("something still holds the sequencer at the end".to_owned()));
    };
    hold.end().await;
    store.close().await;
    app.close().await;
    served
}

/// What everything stands on.
struct Ground<'a> {
    app: &'a Arc<App>,
    store: &'a Store,
    hold: &'a Arc<Hold>,
    slack: Option<&'a Arc<Slack>>,
}

async fn serving(
    Ground { app, store, hold, slack }: Ground<'_>,
    (listener, at): (TcpListener, SocketAddr),
    settings: Checked,
    Told { cancel, reload }: Told,
    tell: &mut dyn FnMut(News),
) -> Result<(), Fault> {
    let live = Live::new(Arc::clone(app));
    let metrics = Metrics::new(reload::tools(app), app.config.model_order.iter().cloned().collect());
    let of_alerts = settings.alerts.routes.iter();
    let groups = of_alerts.map(|(name, route)| (name.clone(), route.groups.clone())).collect();
    let (feed, incidents) = (Feed::new(), Incidents::new(Arc::clone(app), groups, slack.cloned(), cancel.clone()));
    let runs = Runs::new(runs::Parts {
        live: Arc::clone(&live),
        store: store.clone(),
        hold: Arc::clone(hold),
        seats: app.config.serve.at_once,
        watch: watch(&feed, &metrics, slack),
        ends: ends(&incidents, slack),
    });
    let counts = Arc::<Counts>::default();
    let (work, handle) = worker::Worker::start(worker::Parts {
        store: store.clone(),
        limits: settings.alerts.limits,
        around: Arc::clone(&app.bench.catalog) as Arc<dyn crate::alert::incident::Neighbourhood>,
        seam: Arc::clone(&incidents) as Arc<dyn crate::alert::seam::Investigations>,
        clock: Arc::new(SystemClock),
        counts: Arc::clone(&counts),
    })
    .await?;
    incidents.join(runs.clone(), handle);
    let alerts = front::router(
        &settings.alerts,
        front::Parts {
            store: store.clone(),
            redactor: app.redactor.clone(),
            around: Arc::clone(&app.bench.catalog) as Arc<dyn crate::alert::incident::Neighbourhood>,
            clock: Arc::new(SystemClock),
            counts: Arc::clone(&counts),
        },
    );
    let closing = cancel.child_token();
    let api = web::router(web::Parts {
        backend: Arc::new(Desk::new(desk::Parts {
            live: Arc::clone(&live),
            hold: Arc::clone(hold),
            runs: runs.clone(),
            store: store.clone(),
            slack: slack.cloned(),
            alerts: counts,
        })),
        store: store.clone(),
        feed,
        metrics: Arc::clone(&metrics),
        closing: closing.clone(),
        pace: Pace::standard(),
    });
    let from_slack = match slack {
        Some(slack) => slack.begin(runs.clone(), &cancel).await?,
        None => Router::new(),
    };
    let router = guarded(
        api.merge(alerts).merge(from_slack),
        Guard { names: Arc::new(settings.web.names), metrics: Arc::clone(&metrics) },
    );
    let taken_up = runs.take_up().await?;
    let left = hold.swept.approved.iter().map(|(approval, _)| *approval).collect();
    // Not waited for: a write may take longer than whoever starts this looks on.
    drop(hold.office().take_up(left));
    let working = tokio::spawn(work.run(cancel.child_token()));
    let tidying = tokio::spawn(Tidy::new(store.clone(), Arc::clone(hold)).run(cancel.child_token()));
    tell(News::Ready { at, routes: settings.alerts.routes.keys().cloned().collect(), taken_up });
    let (said, mut saying) = mpsc::channel(4);
    let hold = Arc::clone(hold);
    let reloader = Reloader::new(reload::Parts { live, hold, metrics, asked: reload, tell: said });
    let reloading = tokio::spawn(reloader.run(cancel.child_token()));
    let drain_s = settings.web.limits.drain.as_secs();
    let parking = async {
        while let Some(Some(news)) = cancel.run_until_cancelled(saying.recv()).await {
            tell(news);
        }
        cancel.cancelled().await;
        drop(saying);
        tell(News::Ending { running: runs.count(), drain_s });
        runs.park().await
    };
    let (served, _parked) = tokio::join!(server::serve(listener, router, settings.web.limits, closing), parking);
    incidents.part();
    if let Some(slack) = slack {
        slack.end().await;
    }
    for (work, what) in [(working, "the worker of alerts"), (reloading, "what reads policies again")] {
        if let Err(error) = work.await {
            tracing::error!(%error, "{what} broke off");
        }
    }
    if let Err(error) = tidying.await {
        tracing::error!(%error, "tidying up broke off");
    }
    let drained = served.map_err(|error| Fault::Failed(format!("can't serve any more: {error}")))?;
    let Drained { cut, .. } = drained;
    if cut > 0 {
        tracing::warn!(cut, "requests under way were cut off");
    }
    Ok(())
}

/// Everything that happens is counted, shown, and told to whoever follows it.
fn watch(feed: &Arc<Feed>, metrics: &Arc<Metrics>, slack: Option<&Arc<Slack>>) -> runs::Watch {
    let (feed, metrics, slack) = (Arc::clone(feed), Arc::clone(metrics), slack.cloned());
    Box::new(move |id: &InvestigationId| -> Arc<dyn Watcher> {
        let counted = metrics.counting(Arc::new(Unwatched));
        let shown = match &slack {
            Some(slack) => Arc::new(Watching::new(Arc::clone(slack), id.clone(), counted)) as Arc<dyn Watcher>,
            None => counted,
        };
        feed.watch(id.clone(), shown)
    })
}

fn ends(incidents: &Arc<Incidents>, slack: Option<&Arc<Slack>>) -> Vec<Arc<dyn Ends>> {
    let mut ends: Vec<Arc<dyn Ends>> = vec![Arc::clone(incidents) as Arc<dyn Ends>];
    if let Some(slack) = slack {
        ends.push(Arc::clone(slack) as Arc<dyn Ends>);
    }
    ends
}
