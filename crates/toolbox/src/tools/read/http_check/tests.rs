//! The tool against endpoints that are well, ill, slow, and ones with certificates of all sorts.

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use insta::assert_json_snapshot;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use warrant_kernel::call::tool::ReadTool;

use super::http_check;
use crate::tools::read::metrics_source::double::{items, nobody, problems, read, serve, setup};

fn tool(urls: &[String], ca_file: Option<&str>) -> Arc<dyn ReadTool> {
    let ca_file = ca_file.map(|path| format!("services.checkout.ca_file = {path:?}")).unwrap_or_default();
    let (catalog, clients) = setup(&format!("services.checkout.health = {urls:?}\n{ca_file}"));
    http_check(catalog, clients)
}

/// Ports and durations differ from run to run.
fn steady(row: &Value, base: &str) -> Value {
    let mut row = row.clone();
    row["duration_ms"] = json!(0);
    let port = base.rsplit(':').next().unwrap();
    serde_json::from_str(&row.to_string().replace(port, "PORT")).unwrap()
}

#[tokio::test]
async fn each_health_url_is_asked_and_no_other() {
    let router = Router::new()
        .route("/well", get(|| async { "ok\n" }))
        .route("/ill", get(|| async { (StatusCode::SERVICE_UNAVAILABLE, "db: no connection") }))
        .route("/away", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/well")]) }));
    let base = serve(router).await;
    let tool = tool(&["/well?token=hunter2", "/ill", "/away"].map(|path| format!("{base}{path}")), None);
    let output = read(tool.as_ref(), json!({"service": "checkout"})).await.unwrap();
    assert_json_snapshot!(output.summary, @r#"
    {
      "service": "checkout",
      "healthy": 1,
      "unhealthy": 2,
      "certificate_days_left": null
    }
    "#);
    let rows: Vec<String> = items(output).iter().map(|row| steady(row, &base).to_string()).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    {"url":"http://127.0.0.1:PORT/well?...","status":200,"ok":true,"duration_ms":0,"error":null,"body":"ok\n","certificate":null}
    {"url":"http://127.0.0.1:PORT/ill","status":503,"ok":false,"duration_ms":0,"error":"`health` of service `checkout`: 127.0.0.1:PORT answered 503: db: no connection","body":"db: no connection","certificate":null}
    {"url":"http://127.0.0.1:PORT/away","status":302,"ok":false,"duration_ms":0,"error":"`health` of service `checkout`: 127.0.0.1:PORT answered 302 and points elsewhere; redirects are not followed, set the final address in the config","body":"","certificate":null}
    "#);
}

#[tokio::test]
async fn nothing_listening_is_unhealthy_and_not_an_error() {
    let output = read(tool(&[nobody().await], None).as_ref(), json!({"service": "checkout"})).await.unwrap();
    assert_eq!((&output.summary["healthy"], &output.summary["unhealthy"]), (&json!(0), &json!(1)));
    assert!(items(output)[0]["error"].as_str().unwrap().contains("can't connect to"));
    let none = tool(&[], None);
    assert_eq!(
        problems(none.as_ref(), json!({"service": "checkout"})),
        ["/service: service `checkout` has no `health` URL in the config"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_hangs_is_unhealthy_after_five_seconds() {
    let base = serve(Router::new().route("/", get(std::future::pending::<StatusCode>))).await;
    let output = read(tool(&[base], None).as_ref(), json!({"service": "checkout"})).await.unwrap();
    assert_eq!(items(output)[0]["error"], "no answer within 5 s");
}

/// A CA, and a server with a certificate of it that ends at the given date.
struct Tls {
    ca_pem: String,
    base: String,
}

async fn tls(not_after: (i32, u8, u8)) -> Tls {
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_key = KeyPair::generate().unwrap();
    let ca_pem = ca.self_signed(&ca_key).unwrap().pem();
    let issuer = Issuer::new(ca, ca_key);

    let mut leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    leaf.not_before = date_time_ymd(2020, 1, 1);
    let (year, month, day) = not_after;
    leaf.not_after = date_time_ymd(year, month, day);
    let key = KeyPair::generate().unwrap();
    let chain = vec![leaf.signed_by(&key, &issuer).unwrap().der().clone()];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();

    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not take the certificate breaks off; the next one is served.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = [0; 2048];
            if stream.read(&mut request).await.is_ok() {
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
                stream.write_all(answer).await.ok();
                stream.shutdown().await.ok();
            }
        }
    });
    Tls { ca_pem, base }
}

#[tokio::test]
async fn a_good_certificate_tells_its_days() {
    let tls = tls((2099, 3, 11)).await;
    let dir = tempfile::tempdir().unwrap();
    let ca_file = dir.path().join("ca.pem");
    std::fs::write(&ca_file, &tls.ca_pem).unwrap();
    let tool = tool(std::slice::from_ref(&tls.base), ca_file.to_str());
    let output = read(tool.as_ref(), json!({"service": "checkout"})).await.unwrap();
    assert_eq!((&output.summary["healthy"], &output.summary["certificate_days_left"]), (&json!(1), &json!(26_672)));
    let row = steady(&items(output)[0], &tls.base);
    assert_json_snapshot!(row["certificate"], @r#"
    {
      "subject": "CN=rcgen self signed cert",
      "not_after": "2099-03-11T00:00:00.000Z",
      "days_left": 26672,
      "expired": false
    }
    "#);
}

#[tokio::test]
async fn an_expired_certificate_is_unhealthy_and_its_dates_are_told() {
    let tls = tls((2026, 2, 20)).await;
    let dir = tempfile::tempdir().unwrap();
    let ca_file = dir.path().join("ca.pem");
    std::fs::write(&ca_file, &tls.ca_pem).unwrap();
    let tool = tool(std::slice::from_ref(&tls.base), ca_file.to_str());
    let output = read(tool.as_ref(), json!({"service": "checkout"})).await.unwrap();
    assert_eq!((&output.summary["healthy"], &output.summary["certificate_days_left"]), (&json!(0), &json!(-10)));
    let row = steady(&items(output)[0], &tls.base);
    assert_eq!((&row["certificate"]["expired"], &row["status"]), (&json!(true), &Value::Null));
    let error = row["error"].as_str().unwrap();
    assert!(error.contains("failed (invalid peer certificate: certificate expired"), "{error}");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_ca_never_counts_as_healthy() {
    let tls = tls((2099, 1, 1)).await;
    let output = read(tool(&[tls.base], None).as_ref(), json!({"service": "checkout"})).await.unwrap();
    assert_eq!(output.summary["healthy"], 0);
    let row = items(output).remove(0);
    assert_eq!((&row["ok"], &row["certificate"]["expired"]), (&json!(false), &json!(false)));
    assert!(row["error"].as_str().unwrap().contains("set `ca_file`"), "{row}");
}
