//! `warrant serve`.

use std::sync::Arc;

use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use warrant::app::App;
use warrant::app::fault::{Fault, counted};
use warrant::app::serve::{News, Told, serve};

use crate::commands::on_interrupt;
use crate::flags::Json;

/// Serves until it is told to end, by Ctrl-C or by SIGTERM. On SIGHUP it reads policies, tools and runbooks again.
pub async fn serve_command(app: App, json: Json) -> Result<u8, Fault> {
    let cancel = on_interrupt();
    let mut terminated = listen(SignalKind::terminate())?;
    let mut hung_up = listen(SignalKind::hangup())?;
    let reload = Arc::new(Notify::new());
    let rung = Arc::clone(&reload);
    tokio::spawn(async move {
        while hung_up.recv().await.is_some() {
            rung.notify_one();
        }
    });
    let fired = cancel.clone();
    tokio::spawn(async move {
        if terminated.recv().await.is_some() {
            fired.cancel();
        }
    });
    let path = app.config.path.display().to_string();
    let mut tell =
        |news: News| if json.json { println!("{}", as_json(&news)) } else { println!("{}", as_text(&news, &path)) };
    serve(Arc::new(app), Told { cancel, reload }, &mut tell).await?;
    Ok(0)
}

fn listen(kind: SignalKind) -> Result<Signal, Fault> {
    signal(kind).map_err(|error| Fault::Failed(format!("can't listen for signals: {error}")))
}

fn as_text(news: &News, config: &str) -> String {
    match news {
        News::Ready { at, routes, taken_up } => {
            let alerts = match routes.as_slice() {
                [] => "no alerts: no `[alerts.NAME]` has an authentication".to_owned(),
                routes => format!("alerts at /v1/alerts/{{{}}}", routes.join(",")),
            };
            let goes_on = match taken_up {
                0 => String::new(),
                count => format!("\n{} of before go on", counted(*count, "investigation")),
            };
            format!("serving {config} at http://{at}\n{alerts}{goes_on}")
        }
        News::Reloaded { policies, tools, runbooks } => format!(
            "read again, and in force: {policies} policies, {}, {}",
            counted(*tools, "tool"),
            counted(*runbooks, "runbook")
        ),
        News::NotReloaded { why } => format!("not taken, those of before stay in force: {why}"),
        News::Ending { running, drain_s } => format!(
            "ending: {} parked, to go on at the next start; requests under way have {drain_s} s",
            counted(*running, "investigation")
        ),
    }
}

fn as_json(news: &News) -> serde_json::Value {
    match news {
        News::Ready { at, routes, taken_up } => {
            json!({ "event": "ready", "listen": at.to_string(), "alerts": routes, "taken_up": taken_up })
        }
        News::Reloaded { policies, tools, runbooks } => {
            json!({ "event": "reloaded", "policies": policies, "tools": tools, "runbooks": runbooks })
        }
        News::NotReloaded { why } => json!({ "event": "not_reloaded", "why": why }),
        News::Ending { running, drain_s } => json!({ "event": "ending", "parked": running, "drain_s": drain_s }),
    }
}
