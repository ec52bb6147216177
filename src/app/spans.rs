//! What the spans of investigations are made with.

use std::collections::BTreeMap;
use std::sync::Arc;

use warrant_kernel::redact::Redactor;

use super::{App, Env};
use crate::agent::trace::Watcher;
use crate::config::Config;
use crate::model::config::RUNBOOK;
use crate::telemetry::config::{Checked, Content};
use crate::telemetry::export::Exporter;
use crate::telemetry::spans::{About, Parts, Spans};

/// `[telemetry]` and its secrets, where the config has it.
pub(super) fn settings(config: &Config, env: Env<'_>, problems: &mut Vec<String>) -> Option<(Checked, Vec<String>)> {
    let read = config.telemetry.as_ref()?.read(env);
    read.map_err(|wrong| problems.extend(wrong)).ok()
}

/// What makes spans.
pub(super) fn spans(config: &Config, settings: Checked, redactor: &Redactor, tools: Vec<String>) -> Arc<Spans> {
    let content = match settings.content {
        Content::Sent => Some(redactor.clone()),
        Content::Left => None,
    };
    let version = env!("CARGO_PKG_VERSION");
    let exporter = Exporter::new(settings, version);
    let tools = tools.into_iter().collect();
    Arc::new(Spans::new(Parts { exporter, content, models: models(config), tools, version }))
}

fn models(config: &Config) -> BTreeMap<String, About> {
    let built_in = About { provider: "warrant", model: RUNBOOK.to_owned(), server: None };
    let named = config.models.iter().map(|(name, model)| {
        let about = About { provider: model.provider.as_str(), model: model.model.clone(), server: model.server() };
        (name.clone(), about)
    });
    named.chain([(RUNBOOK.to_owned(), built_in)]).collect()
}

impl App {
    /// Whoever watches, with spans made of what they see where the config names a collector.
    pub(super) fn watched(&self, watcher: Arc<dyn Watcher>) -> Arc<dyn Watcher> {
        match &self.spans {
            Some(spans) => spans.watching(watcher),
            None => watcher,
        }
    }

    /// At the end: what is on its way leaves, within a few seconds.
    pub async fn close(&self) {
        if let Some(spans) = &self.spans {
            spans.close().await;
        }
    }
}
