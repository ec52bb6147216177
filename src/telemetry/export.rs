//! Sends spans to a collector: OTLP over HTTP in protobuf, in batches, beside everything else and never in its way.
//!
//! [`Exporter::take`] puts a span into a queue and returns. A task sends what is there; a batch that the collector may take
//! later is kept and sent again, and meanwhile the queue fills. What does not fit is lost, counted and told once.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use prost::Message;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use warrant_toolbox::catalog::reach::Reach;

use super::config::Checked;

/// Spans that may wait.
const QUEUE: usize = 2_048;

/// Spans of one request.
const BATCH: usize = 512;

/// How long a span waits for others.
const LINGER: Duration = Duration::from_secs(1);

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(10);

/// The longest pause before a batch is sent again; the collector may ask for no longer one.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// How long the end of the process waits for the last spans.
const LAST: Duration = Duration::from_secs(3);

/// Most bytes read of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// Where spans go.
#[derive(Debug)]
pub struct Exporter {
    settings: Checked,
    version: &'static str,
    lost: Arc<AtomicU64>,
    ways: OnceLock<Ways>,
}

#[derive(Debug)]
struct Ways {
    spans: mpsc::Sender<SpanData>,
    last: mpsc::Sender<oneshot::Sender<()>>,
}

impl Exporter {
    /// An exporter that has done nothing yet.
    #[must_use]
    pub fn new(settings: Checked, version: &'static str) -> Self {
        Self { settings, version, lost: Arc::default(), ways: OnceLock::new() }
    }

    /// Takes a span, if there is room. Called within a runtime; the first call begins the task that sends.
    pub fn take(&self, span: SpanData) {
        let ways = self.ways.get_or_init(|| self.begin());
        if ways.spans.try_send(span).is_err() && self.lost.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(waiting = QUEUE, "spans are lost: as many wait for the collector of `[telemetry]` as may");
        }
    }

    /// Spans that were lost since the collector last took some.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Sends what is left, once, and waits for it a short while.
    pub async fn close(&self) {
        let Some(ways) = self.ways.get() else { return };
        let (done, ended) = oneshot::channel();
        let sending = async {
            ways.last.send(done).await.ok()?;
            ended.await.ok()
        };
        if timeout(LAST, sending).await.ok().flatten().is_none() {
            tracing::warn!("the last spans did not reach the collector of `[telemetry]` in time");
        }
    }

    /// Posts a request without spans, to see whether the collector takes any. Where it is, or what is wrong.
    ///
    /// # Errors
    /// Why it takes none.
    pub async fn probe(&self) -> Result<String, String> {
        let empty = ExportTraceServiceRequest::default().encode_to_vec();
        let url = &self.settings.url;
        match posted(&client(&self.settings)?, &self.settings, empty).await {
            Sent::Taken { .. } => Ok(url.to_string()),
            Sent::Later { why, .. } | Sent::Refused { why } => {
                Err(format!("{url} takes no spans: {why}; see that a collector of OTLP over HTTP listens there"))
            }
        }
    }

    fn begin(&self) -> Ways {
        let (spans, waiting) = mpsc::channel(QUEUE);
        let (last, ends) = mpsc::channel(1);
        let resource = Resource::builder_empty().with_attributes([
            KeyValue::new("service.name", self.settings.service_name.clone()),
            KeyValue::new("service.version", self.version),
        ]);
        let task = Task {
            settings: self.settings.clone(),
            resource: (&resource.build()).into(),
            client: None,
            lost: Arc::clone(&self.lost),
            waiting,
            batch: Vec::new(),
            pause: LINGER,
            failing: Failing::No,
        };
        tokio::spawn(task.run(ends));
        Ways { spans, last }
    }
}

/// Whether the last request failed, so that an outage is told of once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failing {
    Yes,
    No,
}

/// What became of a request.
enum Sent {
    /// All of it was taken but so many.
    Taken { rejected: u64 },
    /// It may be sent again, after this pause where the collector asks for one.
    Later { why: String, pause: Option<Duration> },
    /// It will never be taken.
    Refused { why: String },
}

struct Task {
    settings: Checked,
    resource: ResourceAttributesWithSchema,
    client: Option<Client>,
    lost: Arc<AtomicU64>,
    waiting: mpsc::Receiver<SpanData>,
    /// What is sent next; kept until it was taken or refused.
    batch: Vec<SpanData>,
    pause: Duration,
    failing: Failing,
}

impl Task {
    async fn run(mut self, mut ends: mpsc::Receiver<oneshot::Sender<()>>) {
        loop {
            tokio::select! {
                biased;
                end = ends.recv() => {
                    let Some(done) = end else { return };
                    self.send_the_rest().await;
                    // Nobody waits any more: then it took too long, and that was said.
                    done.send(()).ok();
                }
                () = self.gather() => self.send().await,
            }
        }
    }

    /// Until there is a batch and it is time for it. Nothing is lost where this is dropped halfway.
    async fn gather(&mut self) {
        if self.batch.is_empty() {
            let Some(first) = self.waiting.recv().await else { return std::future::pending().await };
            self.batch.push(first);
        }
        let full = self.failing == Failing::No && self.waiting.len() >= BATCH;
        if !full {
            sleep(self.pause).await;
        }
        self.fill();
    }

    fn fill(&mut self) {
        while self.batch.len() < BATCH
            && let Ok(span) = self.waiting.try_recv()
        {
            self.batch.push(span);
        }
    }

    /// Sends everything, ending at the first failure: nobody waits for a second try.
    async fn send_the_rest(&mut self) {
        self.fill();
        while !self.batch.is_empty() {
            self.send().await;
            if self.failing == Failing::Yes {
                let left = self.batch.len() + self.waiting.len();
                tracing::warn!(left, "the collector of `[telemetry]` did not take the last spans");
                return;
            }
            self.fill();
        }
    }

    async fn send(&mut self) {
        match self.post().await {
            Sent::Taken { rejected } => {
                self.batch.clear();
                self.pause = LINGER;
                let lost = self.lost.swap(0, Ordering::Relaxed) + rejected;
                if self.failing == Failing::Yes || lost > 0 {
                    tracing::warn!(lost, rejected, "the collector of `[telemetry]` takes spans");
                }
                self.failing = Failing::No;
            }
            Sent::Later { why, pause } => {
                self.failed(&why, "they are kept and sent again");
                self.pause = pause.unwrap_or(self.pause * 2).clamp(LINGER, LONGEST_PAUSE);
            }
            Sent::Refused { why } => {
                self.failed(&why, "they are lost");
                self.lost.fetch_add(u64::try_from(self.batch.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
                self.batch.clear();
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    fn failed(&mut self, why: &str, then: &str) {
        if self.failing == Failing::No {
            let (url, spans) = (self.settings.url.as_str(), self.batch.len());
            tracing::warn!(url, spans, why, "the collector of `[telemetry]` does not take spans; {then}");
        }
        self.failing = Failing::Yes;
    }

    async fn post(&mut self) -> Sent {
        let resource_spans = group_spans_by_resource_and_scope(self.batch.clone(), &self.resource);
        let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        let client = match &self.client {
            Some(client) => client,
            None => match client(&self.settings) {
                Ok(client) => self.client.insert(client),
                Err(why) => return Sent::Refused { why },
            },
        };
        posted(client, &self.settings, body).await
    }
}

async fn posted(client: &Client, settings: &Checked, body: Vec<u8>) -> Sent {
    let request = client
        .post(settings.url.clone())
        .headers(settings.headers.iter().cloned().collect::<HeaderMap>())
        .header(CONTENT_TYPE, "application/x-protobuf")
        .body(body);
    match timeout(REQUEST, answered(request)).await {
        Ok(sent) => sent,
        Err(_elapsed) => Sent::Later { why: format!("no answer within {} s", REQUEST.as_secs()), pause: None },
    }
}

async fn answered(request: reqwest::RequestBuilder) -> Sent {
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => return Sent::Later { why: chain(&error.without_url()), pause: None },
    };
    let status = response.status();
    let why = || format!("it answered with {status}");
    match status {
        status if status.is_success() => Sent::Taken { rejected: rejected(response).await },
        // Those that the specification of OTLP calls retryable.
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => {
            let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            Sent::Later { why: why(), pause: asked.map(Duration::from_secs) }
        }
        _ => Sent::Refused { why: why() },
    }
}

/// How many spans of a batch that was taken were not.
async fn rejected(mut response: Response) -> u64 {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER {
            return 0;
        }
    }
    // A collector may answer in a form of its own; its status has said that it took them.
    let answer = ExportTraceServiceResponse::decode(body.as_slice()).unwrap_or_default();
    answer.partial_success.and_then(|partly| u64::try_from(partly.rejected_spans).ok()).unwrap_or(0)
}

fn client(settings: &Checked) -> Result<Client, String> {
    let host = settings.url.host_str().unwrap_or_default();
    let reach = Reach::anywhere(host).map_err(|refused| refused.to_string())?;
    // A redirect would send spans, and the headers with their secrets, to a host that the config does not name.
    let mut builder = Client::builder().redirect(Policy::none()).timeout(REQUEST).dns_resolver(Checking(reach));
    if settings.url.scheme() == "http" {
        // No certificate is ever looked at; reading the system's costs milliseconds.
        builder = builder.tls_certs_only([]);
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| chain(&error))
}

/// Resolves names as the system does; what was judged is what is connected to.
struct Checking(Reach);

impl Resolve for Checking {
    fn resolve(&self, name: Name) -> Resolving {
        let (host, reach) = (name.as_str().to_owned(), self.0.clone());
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            found.iter().try_for_each(|address| reach.permits(address.ip()))?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// What went wrong, with what lies beneath.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}

#[cfg(test)]
mod tests;
