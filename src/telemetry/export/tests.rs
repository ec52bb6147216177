use std::sync::Mutex;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::future::join_all;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, Value};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;
use opentelemetry_sdk::trace::{SpanEvents, SpanLinks};
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::*;
use crate::telemetry::config::Content;

/// A collector that answers as it is told, and at the end with 200.
#[derive(Default)]
struct Collector {
    answers: Mutex<Vec<Answer>>,
    came: Mutex<Vec<(HeaderMap, ExportTraceServiceRequest)>>,
    told: Notify,
}

#[derive(Clone, Copy)]
enum Answer {
    Status(u16),
    Rejects(i64),
    Never,
}

impl Collector {
    async fn start(answers: &[Answer]) -> (Arc<Self>, Url) {
        let collector = Arc::new(Self::default());
        collector.answers.lock().unwrap().extend(answers.iter().rev());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/traces", post(taken)).with_state(Arc::clone(&collector));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (collector, url.parse().unwrap())
    }

    /// Waits for so many requests; the names of the spans of each.
    async fn requests(&self, count: usize) -> Vec<Vec<String>> {
        loop {
            let told = self.told.notified();
            let all: Vec<Vec<String>> = self.came.lock().unwrap().iter().map(|(_, request)| names(request)).collect();
            if all.len() >= count {
                return all;
            }
            told.await;
        }
    }
}

fn names(request: &ExportTraceServiceRequest) -> Vec<String> {
    let scopes = request.resource_spans.iter().flat_map(|spans| &spans.scope_spans);
    scopes.flat_map(|scope| &scope.spans).map(|span| span.name.clone()).collect()
}

async fn taken(State(collector): State<Arc<Collector>>, headers: HeaderMap, body: Bytes) -> Response {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    collector.came.lock().unwrap().push((headers, request));
    collector.told.notify_waiters();
    let answer = collector.answers.lock().unwrap().pop().unwrap_or(Answer::Status(200));
    match answer {
        Answer::Status(status) => (StatusCode::from_u16(status).unwrap(), [("retry-after", "1")]).into_response(),
        Answer::Rejects(rejected_spans) => {
            let partial_success =
                Some(ExportTracePartialSuccess { rejected_spans, error_message: "too old".to_owned() });
            ExportTraceServiceResponse { partial_success }.encode_to_vec().into_response()
        }
        Answer::Never => std::future::pending().await,
    }
}

fn exporter(url: Url) -> Exporter {
    let headers = vec![("authorization".parse().unwrap(), "Bearer of-the-test".parse().unwrap())];
    Exporter::new(Checked { url, headers, service_name: "ours".to_owned(), content: Content::Left }, "1.2.3")
}

fn span(name: &str) -> SpanData {
    let (trace, id) = (TraceId::from_bytes([7; 16]), SpanId::from_bytes([7; 8]));
    SpanData {
        span_context: SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::NONE),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: name.to_owned().into(),
        start_time: std::time::SystemTime::UNIX_EPOCH,
        end_time: std::time::SystemTime::UNIX_EPOCH,
        attributes: vec![KeyValue::new("n", Value::I64(1))],
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::default(),
    }
}

#[tokio::test]
async fn spans_leave_together_with_the_headers_and_the_names_of_the_config() {
    let (collector, url) = Collector::start(&[]).await;
    let exporter = exporter(url);
    exporter.take(span("a"));
    exporter.take(span("b"));
    exporter.close().await;
    assert_eq!(collector.requests(1).await, [["a", "b"]]);
    let came = collector.came.lock().unwrap();
    let (headers, request) = &came[0];
    assert_eq!(headers["authorization"], "Bearer of-the-test");
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let resource = request.resource_spans[0].resource.as_ref().unwrap();
    let mut told: Vec<String> = resource.attributes.iter().map(|it| format!("{}={:?}", it.key, it.value)).collect();
    told.sort();
    assert_eq!(told.len(), 2, "what the environment says of the resource is not told");
    assert!(told[0].starts_with("service.name=") && told[0].contains("\"ours\""), "{told:?}");
    assert!(told[1].starts_with("service.version=") && told[1].contains("\"1.2.3\""), "{told:?}");
}

#[tokio::test]
async fn what_may_be_sent_again_is_sent_again_and_nothing_is_lost() {
    let tried = [429, 502, 503, 504].map(|status| async move {
        let (collector, url) = Collector::start(&[Answer::Status(status)]).await;
        let exporter = exporter(url);
        exporter.take(span("a"));
        collector.requests(1).await;
        exporter.take(span("b"));
        assert_eq!(collector.requests(2).await, [vec!["a"], vec!["a", "b"]], "{status}");
        assert_eq!(exporter.lost(), 0);
    });
    join_all(tried).await;
}

#[tokio::test]
async fn what_is_refused_is_lost_and_counted_until_spans_are_taken_again() {
    let tried = [301, 400, 401, 500].map(|status| async move {
        let (collector, url) = Collector::start(&[Answer::Status(status), Answer::Status(status)]).await;
        let exporter = exporter(url);
        exporter.take(span("a"));
        exporter.close().await;
        assert_eq!(exporter.lost(), 1, "{status}");
        assert!(exporter.probe().await.unwrap_err().contains(&status.to_string()));
        exporter.take(span("b"));
        exporter.close().await;
        assert_eq!(collector.requests(3).await, [vec!["a"], vec![], vec!["b"]], "{status}");
        assert_eq!(exporter.lost(), 0, "it was told, and counts anew");
        assert!(exporter.probe().await.unwrap().ends_with("/v1/traces"));
    });
    join_all(tried).await;
}

#[tokio::test]
async fn what_a_collector_takes_only_in_part_is_not_sent_again() {
    let (collector, url) = Collector::start(&[Answer::Rejects(1)]).await;
    let exporter = exporter(url);
    exporter.take(span("a"));
    collector.requests(1).await;
    exporter.take(span("b"));
    exporter.close().await;
    assert_eq!(collector.requests(2).await, [["a"], ["b"]]);
}

#[tokio::test]
async fn a_collector_that_falls_silent_holds_up_nothing_and_costs_bounded_memory() {
    let (collector, url) = Collector::start(&[Answer::Never]).await;
    let exporter = exporter(url);
    exporter.take(span("first"));
    collector.requests(1).await;
    // Never awaits: whoever hands a span over is not held up.
    for _ in 0..QUEUE + 100 {
        exporter.take(span("more"));
    }
    assert_eq!(exporter.lost(), 100);
    let closing = timeout(LAST + Duration::from_secs(2), exporter.close());
    assert!(closing.await.is_ok(), "the end waits a bounded time");
}

#[tokio::test]
async fn nothing_is_begun_before_the_first_span() {
    let (collector, url) = Collector::start(&[]).await;
    let exporter = exporter(url);
    exporter.close().await;
    assert!(exporter.ways.get().is_none() && collector.came.lock().unwrap().is_empty());
}
