//! The client against servers that misbehave, and against settings that must not be.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use insta::assert_snapshot;
use reqwest::dns::Resolve;
use serde_json::Value;
use warrant_kernel::call::tool::ReadError;

use super::address::CheckedResolver;
use super::answer::Extent;
use super::clients::HttpClients;
use super::{BODY_CAP, HttpClient};
use crate::catalog::Catalog;
use crate::catalog::reach::{Reach, allowed};
use crate::catalog::source::{HttpSource, Sources};
use crate::tools::read::metrics_source::double::{nobody, serve, setup};

fn client(base: &str) -> Arc<HttpClient> {
    let (_, clients) = setup(&format!("sources.http.api.url = \"{base}\""));
    Arc::clone(clients.http().values().next().unwrap())
}

async fn told(client: &HttpClient, path: &str) -> String {
    let error = match client.get(&[path], &[]).await.and_then(super::answer::Answer::good) {
        Ok(answer) => answer.json::<Value>().unwrap_err(),
        Err(error) => error,
    };
    let ReadError::Backend { reason, message, retryable } = error else { panic!("{error:?}") };
    let host = super::failure::server(&client.base);
    format!("{reason} (again: {retryable}) {}", message.replace(&host, "HOST"))
}

#[tokio::test]
async fn statuses_say_what_to_do() {
    let router = Router::new()
        .route("/who", get(|| async { StatusCode::UNAUTHORIZED }))
        .route("/broken", get(|| async { (StatusCode::BAD_GATEWAY, "upstream gone\n") }))
        .route("/html", get(|| async { "<html>login</html>" }));
    let client = client(&serve(router).await);
    assert_snapshot!(told(&client, "who").await, @"UNAUTHORIZED (again: false) `[http.api]`: HOST answered 401; check the credentials in the config (`bearer_token_env`, `bearer_token_file` or `basic_user`)");
    assert_snapshot!(told(&client, "none").await, @"NOT_FOUND (again: false) `[http.api]`: HOST answered 404; check the path in the config");
    assert_snapshot!(told(&client, "broken").await, @"SERVER_ERROR (again: true) `[http.api]`: HOST answered 502: upstream gone");
    assert_snapshot!(told(&client, "html").await, @"MALFORMED (again: false) `[http.api]`: HOST did not answer with the JSON expected (expected value at line 1 column 1); it said: <html>login</html>");
}

#[tokio::test]
async fn ss_04_a_redirect_is_not_followed() {
    let away = || async { (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.1:1/secret")]).into_response() };
    let client = client(&serve(Router::new().route("/away", get(away))).await);
    assert_snapshot!(told(&client, "away").await, @"REDIRECT (again: false) `[http.api]`: HOST answered 302 and points elsewhere; redirects are not followed, set the final address in the config");
}

#[tokio::test]
async fn an_absent_server_is_an_error_and_no_more() {
    let said = told(&client(&nobody().await), "x").await;
    assert_snapshot!(said, @"UNREACHABLE (again: true) `[http.api]`: can't connect to HOST (Connection refused (os error 111)); is the server up, and `url` right?");
    let said = told(&client("http://no-such-host.invalid"), "x").await;
    assert!(said.starts_with("UNREACHABLE (again: true) `[http.api]`: the name in HOST can't be resolved"), "{said}");
}

#[tokio::test]
async fn rs_a_huge_body_is_left_unread_beyond_the_cap() {
    // A stream without end: only a reader that stops can pass.
    let endless = || async {
        let chunks = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'['; 64 * 1024]));
        Body::from_stream(chunks)
    };
    let client = client(&serve(Router::new().route("/endless", get(endless))).await);
    let answer = client.get(&["endless"], &[]).await.unwrap();
    assert_eq!((answer.extent(), answer.text().len()), (Extent::Cut, BODY_CAP));
    assert!(told(&client, "endless").await.contains("is longer than 16 MiB; ask for less"));
}

#[tokio::test]
async fn rs_04_deep_json_is_refused() {
    let deep = || async { "[".repeat(100_000) };
    let client = client(&serve(Router::new().route("/deep", get(deep))).await);
    assert!(told(&client, "deep").await.contains("recursion limit exceeded"));
}

#[tokio::test]
async fn rs_04_an_answer_of_countless_values_is_refused_before_they_are_made() {
    let many = || async { format!("[{}0]", "0,".repeat(1_000_000)) };
    let text = || async { format!("[\"{}\"]", "a,[{\\\\\\\"".repeat(400_000)) };
    let router = Router::new().route("/many", get(many)).route("/text", get(text));
    let client = client(&serve(router).await);
    assert_snapshot!(told(&client, "many").await, @"TOO_LARGE (again: false) `[http.api]`: the answer of HOST holds more than 1000000 values; ask for less");
    let whole: Vec<String> = client.get(&["text"], &[]).await.unwrap().json().unwrap();
    assert_eq!(whole[0].len(), 400_000 * 6);
}

#[tokio::test]
async fn credentials_are_sent_and_known_to_the_redactor() {
    let echo = |headers: HeaderMap, body: String| async move {
        axum::Json(serde_json::json!([headers[header::AUTHORIZATION].to_str().unwrap(), body]))
    };
    let base = serve(Router::new().route("/base/a%20b/q", post(echo))).await;
    let source = HttpSource {
        url: format!("{base}/base/"),
        bearer_token_env: Some("TOKEN".to_owned()),
        bearer_token_file: None,
        basic_user: None,
        basic_password_env: None,
        ca_file: None,
        addresses: Vec::new(),
        concurrency: 4,
    };
    let sources = Sources { http: [("api".parse().unwrap(), source)].into(), ..Sources::default() };
    let catalog = Catalog::new(std::collections::BTreeMap::default(), sources).unwrap();
    let unset = HttpClients::new(&catalog, &|_| None).err().unwrap();
    assert_snapshot!(unset[0], @"`[http.api]`: `bearer_token_env`: the environment variable `TOKEN` is not set");

    let clients = HttpClients::new(&catalog, &|name| Some(format!("value-of-{name}\n"))).unwrap();
    assert_eq!(clients.secrets(), ["value-of-TOKEN"]);
    let client = clients.http().values().next().unwrap();
    let answer = client.post(&["a b", "q"], &[("expr", "a=1&b\n")]).await.unwrap();
    let echoed: Vec<String> = answer.json().unwrap();
    assert_eq!(echoed, ["Bearer value-of-TOKEN", "expr=a%3D1%26b%0A"]);
}

#[test]
fn ss_01_ss_02_metadata_addresses_are_refused_in_every_form() {
    for host in [
        "169.254.169.254",
        "2852039166",
        "0xA9FEA9FE",
        "0251.0376.0251.0376",
        "[::ffff:169.254.169.254]",
        "[::169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "[fe80::1]",
        "[fec0::1]",
        "[64:ff9b:1::a9fe:a9fe]",
        "[2001:0:1234::5601:5601]",
        "[2001:db8::5efe:a9fe:a9fe]",
        "[::ffff:0:a9fe:a9fe]",
        "100.100.100.200",
        "168.63.129.16",
        "0",
        "0.0.0.0",
        "[::]",
        "224.0.0.1",
        "255.255.255.255",
        "169.254.169.254.",
    ] {
        let sources = format!("sources.metrics.prom.url = \"http://{host}/latest\"");
        assert!(refusal(&sources).contains("is a link-local or metadata address"), "{host}");
    }
    for fine in ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "8.8.8.8", "2001:db8::1"] {
        allowed(fine.parse::<IpAddr>().unwrap()).unwrap();
    }
}

#[test]
fn ss_01_names_of_metadata_services_are_refused() {
    for host in ["metadata.google.internal", "METADATA.google.internal.", "metadata.goog"] {
        assert!(
            refusal(&format!("sources.metrics.prom.url = \"http://{host}/\"")).contains("metadata service"),
            "{host}"
        );
    }
}

#[test]
fn ss_02_a_host_is_written_as_it_is_read() {
    let said: Vec<String> = [
        "http://127.1/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://2130706433",
        "HTTP://%31.1.1.1/",
        "http://good\\u3002com/",
        "http://b\\u00fccher.test/",
        "http:good.com",
        "http:\\\\\\\\good.com\\\\x",
        "http://good.com./",
    ]
    .iter()
    .map(|url| {
        refusal(&format!("sources.metrics.prom.url = \"{url}\""))
            .replace("`[metrics.prom]`: the URL names its host ", "")
    })
    .collect();
    assert_snapshot!(said.join("\n"), @r"
    in an unusual form; it is read as `127.0.0.1`, write that
    in an unusual form; it is read as `127.0.0.1`, write that
    in an unusual form; it is read as `127.0.0.1`, write that
    in an unusual form; it is read as `127.0.0.1`, write that
    in an unusual form; it is read as `1.1.1.1`, write that
    in an unusual form; it is read as `good.com`, write that
    in an unusual form; it is read as `xn--bcher-kva.test`, write that
    in an unusual form; it is read as `good.com`, write that
    in an unusual form; it is read as `good.com`, write that
    with a dot at the end; remove it
    ");
    for fine in
        ["http://LOCALHOST:9090", "HTTPS://[::1]:9090/x", "http://prometheus.example.com/a:b@c", "http://127.0.0.1"]
    {
        setup(&format!("sources.metrics.prom.url = \"{fine}\""));
    }
}

#[tokio::test]
async fn ss_01_a_name_that_resolves_to_a_metadata_address_is_refused() {
    // The system's resolver reads a literal as the name of itself.
    let anywhere = || CheckedResolver(Reach::of("metrics.example.com", &["0.0.0.0/0".parse().unwrap()]).unwrap());
    let refused = anywhere().resolve("169.254.169.254".parse().unwrap()).await.err().unwrap();
    assert_snapshot!(refused, @"169.254.169.254 is a link-local or metadata address; no source may be there");
    let fine = CheckedResolver(Reach::of("localhost", &[]).unwrap());
    assert!(fine.resolve("localhost".parse().unwrap()).await.is_ok());
}

#[tokio::test]
async fn ss_01_a_name_that_anybody_may_answer_leads_to_no_host_inside() {
    // As after a change of its name server's mind: the name is a stranger's, the address ours.
    let rebound = CheckedResolver(Reach::of("metrics.example.com", &[]).unwrap());
    let refused = rebound.resolve("127.0.0.1".parse().unwrap()).await.err().unwrap();
    assert_snapshot!(refused, @"127.0.0.1 is a loopback or private address, and `metrics.example.com` is a name that a stranger may answer for; if it is meant, name the network beside `url`: `addresses = [\"127.0.0.1\"]`");
    let inside = [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.3.4",
        "192.168.1.1",
        "100.64.0.1",
        "::1",
        "fd00::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
    ];
    let permits = |host: &str, networks: &[&str], address: &str| {
        let networks: Vec<_> = networks.iter().map(|network| network.parse().unwrap()).collect();
        Reach::of(host, &networks).unwrap().permits(address.parse().unwrap()).is_ok()
    };
    for address in inside {
        for stranger in ["metrics.example.com", "localhost.example.com", "xinternal.com", "internal.com", "mylocal.io"]
        {
            assert!(!permits(stranger, &[], address), "{stranger} {address}");
        }
        for named in
            ["localhost", "prometheus", "prometheus.internal", "a.svc.cluster.local", "p.service.consul", address]
        {
            assert!(permits(named, &[], address), "{named} {address}");
        }
    }
    assert!(permits("metrics.example.com", &["10.0.0.0/8"], "10.1.2.3"));
    assert!(!permits("metrics.example.com", &["10.0.0.0/8"], "127.0.0.1"));
    assert!(permits("metrics.example.com", &[], "8.8.8.8") && permits("metrics.example.com", &[], "2606:4700::1"));
}

#[test]
fn ss_05_urls_that_hide_something_are_refused() {
    let said: Vec<String> = [
        "http://good.com@evil.test/",
        "http://user:hunter2@good.com/",
        "file:///etc/passwd",
        "http://good.com/#x",
        "http://good.com/?token=x",
        "http://good.com\\u0000.evil.test",
        "nonsense",
    ]
    .iter()
    .map(|url| refusal(&format!("sources.metrics.prom.url = \"{url}\"")))
    .collect();
    assert!(!said.iter().any(|text| text.contains("hunter2")));
    assert_snapshot!(said.join("\n"), @r"
    `[metrics.prom]`: the URL holds a user or a password; use `basic_user` and `basic_password_env`
    `[metrics.prom]`: the URL holds a user or a password; use `basic_user` and `basic_password_env`
    `[metrics.prom]`: the URL is neither `http://` nor `https://`; only these are read
    `[metrics.prom]`: the URL has a fragment; remove all from the `#` on
    `[metrics.prom]`: the URL has a query; remove all from the `?` on
    `[metrics.prom]`: the URL holds a space or a control character; remove it
    `[metrics.prom]`: the URL can't be read (relative URL without a base); write `http://host:port` or `https://host`
    ");
}

fn refusal(toml: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Config {
        sources: Sources,
    }
    let config: Config = toml::from_str(toml).unwrap();
    let catalog = Catalog::new(std::collections::BTreeMap::default(), config.sources).unwrap();
    HttpClients::new(&catalog, &|_| None).err().unwrap()[0].to_string()
}
