//! An investigation as spans, made from its events as they are recorded: `invoke_agent` for a run, beneath it `chat` for each
//! turn of the model and `execute_tool` for each call.
//!
//! Names and attributes are those of OpenTelemetry's conventions for generative AI; what those do not have begins with
//! `warrant.`. The trace's id is the investigation's, so whoever has one finds the other. A run that takes an investigation
//! up again is a span of its own in the same trace, with a link to the first one. Nothing that a model, a person or a source
//! wrote is in a span, unless the config asks for content.

mod attributes;

mod content;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use opentelemetry::trace::{Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use sha2::{Digest, Sha256};
use warrant_kernel::domain::event::{Answered, Asked, Body, Event};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::redact::Redactor;

use crate::agent::model::Usage;
use crate::agent::state::{CallKind, CallState, State};
use crate::agent::trace::Watcher;

use super::export::Exporter;

/// The event with which an investigation begins.
const FIRST: u64 = 1;

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// `gen_ai.provider.name`.
    pub provider: &'static str,
    /// The provider's name of it.
    pub model: String,
    /// Host and port of its API; none for one within this program.
    pub server: Option<(String, u16)>,
}

/// What spans are made with.
pub struct Parts {
    /// Where they go.
    pub exporter: Exporter,
    /// What masks content; none where no content is sent.
    pub content: Option<Redactor>,
    /// The models, by their names in the config.
    pub models: BTreeMap<String, About>,
    /// The names of the tools: whatever else a model may have called is not named.
    pub tools: BTreeSet<String>,
    /// This program's version.
    pub version: &'static str,
}

/// Makes spans of investigations.
pub struct Spans {
    parts: Parts,
    scope: InstrumentationScope,
}

impl Spans {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let scope = InstrumentationScope::builder("warrant").with_version(parts.version).build();
        Self { parts, scope }
    }

    /// Makes spans of one run, and hands everything on.
    #[must_use]
    pub fn watching(self: &Arc<Self>, then: Arc<dyn Watcher>) -> Arc<dyn Watcher> {
        Arc::new(Watching { spans: Arc::clone(self), run: Mutex::new(None), then })
    }

    /// Sends what is left, within a few seconds.
    pub async fn close(&self) {
        self.parts.exporter.close().await;
    }

    /// Whether the collector takes spans, and where it is.
    ///
    /// # Errors
    /// Why not.
    pub async fn probe(&self) -> Result<String, String> {
        self.parts.exporter.probe().await
    }

    fn export(&self, run: &Run, span: Span) {
        self.parts.exporter.take(SpanData {
            span_context: context(run.trace, span.id),
            parent_span_id: span.parent,
            parent_span_is_remote: false,
            span_kind: span.kind,
            name: span.name.into(),
            start_time: instant(span.began),
            end_time: instant(span.ended.max(span.began)),
            attributes: span.attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: links(span.link),
            status: span.status,
            instrumentation_scope: self.scope.clone(),
        });
    }
}

/// A span, when it is over.
struct Span {
    id: SpanId,
    parent: SpanId,
    kind: SpanKind,
    name: String,
    began: Timestamp,
    ended: Timestamp,
    attributes: Vec<KeyValue>,
    link: Option<SpanContext>,
    status: Status,
}

/// One run of an investigation.
struct Run {
    id: InvestigationId,
    trace: TraceId,
    root: SpanId,
    began: Timestamp,
    /// When the last event was: all that is known where it breaks off.
    last: Timestamp,
    /// What it told of itself when it began.
    attributes: Vec<KeyValue>,
    link: Option<SpanContext>,
    /// The turn that the model has been asked for.
    chat: Option<Chat>,
    usage: Usage,
}

struct Chat {
    turn: u32,
    seq: u64,
    began: Timestamp,
    /// The model that is asked first.
    model: Option<String>,
}

/// How a run ended.
enum Over<'a> {
    Reported(&'a str),
    Interrupted,
    BrokenOff,
}

struct Watching {
    spans: Arc<Spans>,
    run: Mutex<Option<Run>>,
    then: Arc<dyn Watcher>,
}

impl Watcher for Watching {
    fn event(&self, event: &Event, state: &State) {
        self.seen(event, state);
        self.then.event(event, state);
    }

    fn delta(&self, text: &str) {
        self.then.delta(text);
    }
}

impl Watching {
    fn seen(&self, event: &Event, state: &State) {
        let mut slot = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(event.body, Body::Opened { .. } | Body::Resumed) {
            *slot = Some(self.begun(event, state));
        }
        let Some(run) = slot.as_mut() else { return };
        run.last = event.at;
        match &event.body {
            Body::Asked(Asked::Model { turn, .. }) => {
                self.chat_over(run, event.at, Err("cancelled"));
                let model = state.models.first().cloned();
                run.chat = Some(Chat { turn: *turn, seq: event.seq, began: event.at, model });
            }
            Body::Answered(Answered::Model { turn, .. }) => {
                let answered = state.turns.last().filter(|last| last.number == *turn);
                self.chat_over(run, event.at, answered.map(|turn| &turn.answer).ok_or("unreadable"));
            }
            Body::Answered(Answered::ModelFailed { .. }) => self.chat_over(run, event.at, Err("model_failed")),
            Body::Budget { spent: true, .. } => self.chat_over(run, event.at, Err("budget_spent")),
            Body::Answered(Answered::Read { result } | Answered::Write { result, .. }) => {
                if let Some(known) = state.calls.iter().find(|known| known.call.id == result.call_id) {
                    self.tool_over(run, event, known);
                }
            }
            Body::Reported { report } => {
                self.over(
                    run,
                    event.at,
                    &Over::Reported(report.outcome.as_str()),
                    content::report(&self.spans, report),
                );
                *slot = None;
            }
            Body::Interrupted => {
                self.over(run, event.at, &Over::Interrupted, Vec::new());
                *slot = None;
            }
            // What people bring was not called for.
            Body::Brought { .. }
            | Body::Opened { .. }
            | Body::Resumed
            | Body::Framed { .. }
            | Body::Asked(Asked::Read { .. } | Asked::Write { .. })
            | Body::Answered(Answered::Report { .. })
            | Body::Decided { .. }
            | Body::Settled { .. }
            | Body::Steered { .. }
            | Body::News { .. }
            | Body::Budget { spent: false, .. } => {}
        }
    }

    fn begun(&self, event: &Event, state: &State) -> Run {
        let id = state.run.investigation.clone();
        let trace = trace_id(&id);
        let mut attributes = attributes::run(&state.run, self.spans.parts.version);
        attributes.extend(content::question(&self.spans, &state.run));
        // The first run's span has an id that follows from the investigation's, so it can be named without having been seen.
        let link = (event.seq != FIRST).then(|| context(trace, span_id(&id, FIRST)));
        attributes.push(KeyValue::new("warrant.resumed", link.is_some()));
        Run {
            root: span_id(&id, event.seq),
            id,
            trace,
            began: event.at,
            last: event.at,
            attributes,
            link,
            chat: None,
            usage: Usage::default(),
        }
    }

    fn chat_over(&self, run: &mut Run, at: Timestamp, answer: Result<&crate::agent::model::Answer, &'static str>) {
        let Some(chat) = run.chat.take() else { return };
        let name = answer.map_or(chat.model.as_deref(), |answer| Some(&answer.model));
        let about = name.and_then(|name| self.spans.parts.models.get(name));
        let mut attributes = attributes::chat(&run.id, chat.turn, name, about);
        let failed = match answer {
            Ok(answer) => {
                run.usage.input += answer.usage.input;
                run.usage.cached += answer.usage.cached;
                run.usage.output += answer.usage.output;
                attributes.extend(attributes::answer(answer));
                attributes.extend(content::answer(&self.spans, answer));
                attributes::failed(answer.stop)
            }
            Err(why) => Some(why),
        };
        attributes.extend(failed.map(|why| KeyValue::new("error.type", why)));
        let span = Span {
            id: span_id(&run.id, chat.seq),
            parent: run.root,
            kind: if about.is_some_and(|about| about.server.is_some()) { SpanKind::Client } else { SpanKind::Internal },
            name: about.map_or_else(|| "chat".to_owned(), |about| format!("chat {}", about.model)),
            began: chat.began,
            ended: at,
            attributes,
            link: None,
            status: status(failed.is_some()),
        };
        self.spans.export(run, span);
    }

    fn tool_over(&self, run: &Run, event: &Event, known: &CallState) {
        let Some(result) = &known.result else { return };
        let name = self.spans.parts.tools.get(&result.tool).map_or(attributes::OTHER, String::as_str);
        let mut attributes = attributes::tool(&run.id, name, &known.call, result);
        attributes.extend(content::call(&self.spans, &known.call, result));
        let asked = known.asked_at.max(run.began);
        // Calls of one turn are asked at once and carried out one after the other, or together. People's time to decide
        // belongs to a write.
        let began = match known.kind {
            CallKind::Read => {
                let took = SignedDuration::from_millis(i64::try_from(result.meta.duration_ms).unwrap_or(i64::MAX));
                event.at.checked_sub(took).unwrap_or(asked).max(asked)
            }
            CallKind::Write => asked,
        };
        let span = Span {
            id: span_id(&run.id, event.seq),
            parent: run.root,
            kind: SpanKind::Internal,
            name: format!("execute_tool {name}"),
            began,
            ended: event.at,
            attributes,
            link: None,
            status: status(!result.ok),
        };
        self.spans.export(run, span);
    }

    fn over(&self, run: &mut Run, at: Timestamp, over: &Over<'_>, more: Vec<KeyValue>) {
        self.chat_over(run, at, Err("cancelled"));
        let mut attributes = std::mem::take(&mut run.attributes);
        attributes.extend(attributes::usage(run.usage));
        attributes.extend(more);
        let (outcome, failed) = match over {
            Over::Reported(outcome) => (*outcome, None),
            Over::Interrupted => ("interrupted", None),
            Over::BrokenOff => ("broken_off", Some("broken_off")),
        };
        attributes.push(KeyValue::new("warrant.outcome", outcome.to_owned()));
        attributes.extend(failed.map(|why| KeyValue::new("error.type", why)));
        let span = Span {
            id: run.root,
            parent: SpanId::INVALID,
            kind: SpanKind::Internal,
            name: format!("invoke_agent {}", attributes::AGENT),
            began: run.began,
            ended: at,
            attributes,
            link: run.link.take(),
            status: status(failed.is_some()),
        };
        self.spans.export(run, span);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let left = self.run.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut run) = left {
            let last = run.last;
            self.over(&mut run, last, &Over::BrokenOff, Vec::new());
        }
    }
}

/// What was before 1970 is told as 1970.
fn instant(time: Timestamp) -> SystemTime {
    let since = time.duration_since(Timestamp::UNIX_EPOCH);
    SystemTime::UNIX_EPOCH + Duration::try_from(since).unwrap_or_default()
}

/// What went wrong stands in `error.type`; a description might repeat what somebody wrote.
fn status(failed: bool) -> Status {
    if failed { Status::error("") } else { Status::Unset }
}

fn context(trace: TraceId, span: SpanId) -> SpanContext {
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
}

fn links(link: Option<SpanContext>) -> SpanLinks {
    let mut links = SpanLinks::default();
    links.links.extend(link.map(Link::with_context));
    links
}

/// The investigation's id, which is a UUID, as the id of a trace.
fn trace_id(id: &InvestigationId) -> TraceId {
    let digest =
        || Sha256::digest(id.as_str()).iter().take(16).fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    TraceId::from_bytes(
        id.as_str().parse::<uuid::Uuid>().map_or_else(|_| digest().to_be_bytes(), uuid::Uuid::into_bytes),
    )
}

/// The id of the span that an event of an investigation begins or ends.
fn span_id(id: &InvestigationId, seq: u64) -> SpanId {
    let digest = Sha256::new().chain_update(id.as_str()).chain_update(b"/").chain_update(seq.to_be_bytes()).finalize();
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    // None is zero: that means there is no span.
    SpanId::from_bytes(number.max(1).to_be_bytes())
}
