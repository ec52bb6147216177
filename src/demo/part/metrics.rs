//! The `/metrics` page of a service: the Prometheus text format, with the names of `OpenTelemetry`'s semantic conventions
//! as Prometheus writes them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::demo::part::pool::Census;

/// The bounds that the conventions advise for durations of HTTP requests, in seconds.
const BOUNDS: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

#[derive(Debug, Clone, Default)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn record(&mut self, seconds: f64) {
        for (bucket, bound) in self.buckets.iter_mut().zip(BOUNDS) {
            if seconds <= bound {
                *bucket += 1;
            }
        }
        self.count += 1;
        self.sum += seconds;
    }
}

/// Histograms by their labels, as they stand between the braces.
type Family = Mutex<BTreeMap<String, Histogram>>;

/// What a service counts.
#[derive(Debug)]
pub struct Metrics {
    started: f64,
    server: Family,
    client: Family,
}

/// A filesystem that fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filesystem {
    /// Where it is mounted.
    pub mountpoint: String,
    /// How many bytes it holds.
    pub size: u64,
    /// How many are left.
    pub avail: u64,
}

/// What is read when the page is asked for.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    /// The pool, where there is one.
    pub pool: Option<Census>,
    /// The filesystem, where data is kept.
    pub filesystem: Option<Filesystem>,
    /// When the certificate expires, in seconds since 1970, where HTTPS is served.
    pub certificate_expiry: Option<i64>,
}

impl Metrics {
    /// Nothing counted yet.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are exact in 53 bits for 285,000 years")]
    pub fn new() -> Self {
        let started = Timestamp::now().as_millisecond() as f64 / 1000.0;
        Self { started, server: Family::default(), client: Family::default() }
    }

    /// A request that was answered.
    pub fn served(&self, method: &str, route: &str, status: u16, took: Duration) {
        let labels =
            format!("http_request_method=\"{method}\",http_route=\"{route}\",http_response_status_code=\"{status}\"");
        record(&self.server, labels, took);
    }

    /// A request that was sent; `outcome` is a status code, or a kind of error where no answer came.
    pub fn called(&self, server: &str, outcome: Result<u16, &str>, took: Duration) {
        let labels = match outcome {
            Ok(status) => format!("server_address=\"{server}\",http_response_status_code=\"{status}\""),
            Err(kind) => format!("server_address=\"{server}\",error_type=\"{kind}\""),
        };
        record(&self.client, labels, took);
    }

    /// The whole page.
    #[must_use]
    pub fn page(&self, gauges: &Gauges) -> String {
        let mut page = String::new();
        let name = "http_server_request_duration_seconds";
        histogram(&mut page, name, "Duration of HTTP server requests.", &self.server);
        let name = "http_client_request_duration_seconds";
        histogram(&mut page, name, "Duration of HTTP client requests.", &self.client);
        if let Some(census) = &gauges.pool {
            pool(&mut page, census);
        }
        if let Some(filesystem) = &gauges.filesystem {
            let labels = format!("mountpoint=\"{}\"", filesystem.mountpoint);
            let help = "Bytes that the file system holds.";
            value(&mut page, "filesystem_size_bytes", "gauge", help, &[(labels.clone(), filesystem.size.to_string())]);
            let help = "Bytes that are left on the file system.";
            value(&mut page, "filesystem_avail_bytes", "gauge", help, &[(labels, filesystem.avail.to_string())]);
        }
        if let Some(expiry) = gauges.certificate_expiry {
            let help = "When the certificate that is served expires, in seconds since 1970.";
            let samples = [(String::new(), expiry.to_string())];
            value(&mut page, "tls_certificate_expiry_timestamp_seconds", "gauge", help, &samples);
        }
        let help = "When the process started, in seconds since 1970.";
        let samples = [(String::new(), format!("{:.3}", self.started))];
        value(&mut page, "process_start_time_seconds", "gauge", help, &samples);
        page
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

fn record(family: &Family, labels: String, took: Duration) {
    family.lock().unwrap_or_else(PoisonError::into_inner).entry(labels).or_default().record(took.as_secs_f64());
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

fn histogram(page: &mut String, name: &str, help: &str, family: &Family) {
    let family = family.lock().unwrap_or_else(PoisonError::into_inner).clone();
    line(page, &format!("# HELP {name} {help}\n# TYPE {name} histogram"));
    for (labels, histogram) in family {
        for (bound, count) in BOUNDS.iter().zip(histogram.buckets) {
            line(page, &format!("{name}_bucket{{{labels},le=\"{bound}\"}} {count}"));
        }
        line(page, &format!("{name}_bucket{{{labels},le=\"+Inf\"}} {}", histogram.count));
        line(page, &format!("{name}_sum{{{labels}}} {:.6}", histogram.sum));
        line(page, &format!("{name}_count{{{labels}}} {}", histogram.count));
    }
}

fn value(page: &mut String, name: &str, kind: &str, help: &str, samples: &[(String, String)]) {
    line(page, &format!("# HELP {name} {help}\n# TYPE {name} {kind}"));
    for (labels, value) in samples {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        line(page, &format!("{name}{labels} {value}"));
    }
}

fn pool(page: &mut String, census: &Census) {
    let pool = "pool_name=\"store\"";
    let idle = census.size.saturating_sub(census.used);
    let counts = [("used", census.used), ("idle", idle)];
    let states = counts.map(|(state, count)| (format!("{pool},state=\"{state}\""), count.to_string()));
    value(page, "db_client_connection_count", "gauge", "Connections of the pool by state.", &states);
    let one = |number: String| [(pool.to_owned(), number)];
    let help = "Connections that the pool may have.";
    value(page, "db_client_connection_max", "gauge", help, &one(census.size.to_string()));
    let help = "Requests that wait for a connection.";
    value(page, "db_client_connection_pending_requests", "gauge", help, &one(census.waiting.to_string()));
    let help = "Requests that waited too long for a connection.";
    value(page, "db_client_connection_timeouts_total", "counter", help, &one(census.timeouts.to_string()));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::demo::part::pool::Census;

    use super::{Filesystem, Gauges, Metrics};

    #[test]
    fn the_page_has_types_labels_and_cumulative_buckets() {
        let metrics = Metrics::new();
        metrics.served("POST", "/orders", 201, Duration::from_millis(30));
        metrics.served("POST", "/orders", 201, Duration::from_millis(300));
        metrics.called("payments", Err("timeout"), Duration::from_secs(2));
        let filesystem = Some(Filesystem { mountpoint: "/data".to_owned(), size: 10, avail: 4 });
        let pool = Some(Census { size: 20, used: 3, waiting: 1, timeouts: 7 });
        let page = metrics.page(&Gauges { pool, filesystem, certificate_expiry: Some(5) });
        let kept: Vec<&str> = page
            .lines()
            .filter(|line| {
                !line.starts_with("# HELP") && !line.contains("_bucket") && !line.starts_with("process_start")
            })
            .collect();
        insta::assert_snapshot!(kept.join("\n"), @r#"
        # TYPE http_server_request_duration_seconds histogram
        http_server_request_duration_seconds_sum{http_request_method="POST",http_route="/orders",http_response_status_code="201"} 0.330000
        http_server_request_duration_seconds_count{http_request_method="POST",http_route="/orders",http_response_status_code="201"} 2
        # TYPE http_client_request_duration_seconds histogram
        http_client_request_duration_seconds_sum{server_address="payments",error_type="timeout"} 2.000000
        http_client_request_duration_seconds_count{server_address="payments",error_type="timeout"} 1
        # TYPE db_client_connection_count gauge
        db_client_connection_count{pool_name="store",state="used"} 3
        db_client_connection_count{pool_name="store",state="idle"} 17
        # TYPE db_client_connection_max gauge
        db_client_connection_max{pool_name="store"} 20
        # TYPE db_client_connection_pending_requests gauge
        db_client_connection_pending_requests{pool_name="store"} 1
        # TYPE db_client_connection_timeouts_total counter
        db_client_connection_timeouts_total{pool_name="store"} 7
        # TYPE filesystem_size_bytes gauge
        filesystem_size_bytes{mountpoint="/data"} 10
        # TYPE filesystem_avail_bytes gauge
        filesystem_avail_bytes{mountpoint="/data"} 4
        # TYPE tls_certificate_expiry_timestamp_seconds gauge
        tls_certificate_expiry_timestamp_seconds 5
        # TYPE process_start_time_seconds gauge
        "#);
        let labels = "http_request_method=\"POST\",http_route=\"/orders\",http_response_status_code=\"201\"";
        assert!(page.contains(&format!("bucket{{{labels},le=\"0.05\"}} 1\n")), "{page}");
        assert!(page.contains(&format!("bucket{{{labels},le=\"0.5\"}} 2\n")), "{page}");
        assert!(page.contains(&format!("bucket{{{labels},le=\"+Inf\"}} 2\n")), "{page}");
    }
}
