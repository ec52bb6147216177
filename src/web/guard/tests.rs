//! Requests for other names and from other pages, as a browser on this machine would be made to send them.

use axum::Router;
use axum::routing::post;
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::web::server::Limits;
use crate::web::tests::{ANN, Double, World, served, why, world};

/// The status of a request that is sent as it stands.
async fn raw(world: &World, request: &str) -> String {
    let mut stream = TcpStream::connect(world.at).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap_or("nothing").to_owned()
}

#[tokio::test]
async fn wh_14_a_request_for_another_name_gets_403_whatever_the_path() {
    let world = world(Double::without_tokens()).await;
    let port = world.at.port();
    let foreign = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        "localhost@evil.example".to_owned(),
        "evil.example@localhost".to_owned(),
        "hooks.example.com".to_owned(),
        "203.0.113.9".to_owned(),
        "[2001:db8::1]:80".to_owned(),
        "localhost:notaport".to_owned(),
        "127.0.0.1 evil.example".to_owned(),
    ];
    for host in &foreign {
        for path in ["/v1/investigations", "/v1/approvals", "/metrics", "/readyz", "/healthz", "/openapi.json", "/none"]
        {
            let asked = raw(&world, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await;
            assert_eq!(asked, "403", "{host} {path}");
        }
    }
    assert_eq!(world.refused("host"), u64::try_from(foreign.len()).unwrap() * 7);
    for host in ["", "Host: localhost\r\nHost: evil.example\r\n", "Host:\r\n"] {
        let asked = raw(&world, &format!("GET /healthz HTTP/1.1\r\n{host}Connection: close\r\n\r\n")).await;
        assert!(asked == "403" || asked == "400", "{host:?}: {asked}");
    }
    let target =
        raw(&world, "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert_eq!(target, "403", "the name in the target counts too");
    for host in
        ["localhost", "LOCALHOST:1", "localhost.", "127.0.0.1", "127.8.9.1:80", "[::1]:80", "Warrant.Internal:443"]
    {
        let asked = raw(&world, &format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await;
        assert_eq!(asked, "200", "{host}");
    }
}

#[tokio::test]
async fn wh_14_the_public_name_leads_to_webhooks_and_to_nothing_else() {
    let hooks = Router::new()
        .route("/v1/alerts/generic", post(async || "taken"))
        .route("/slack/events", post(async || "taken"));
    let world = served(Double::new(), Limits::standard(), hooks).await;
    let status = async |path: &str, host: &str, method: Method| {
        let asked = world.asked(method, path, Some(ANN)).header("host", host);
        asked.send().await.unwrap().status().as_u16()
    };
    for path in ["/v1/alerts/generic", "/slack/events"] {
        assert_eq!(status(path, "hooks.example.com", Method::POST).await, 200);
        assert_eq!(status(path, "warrant.internal", Method::POST).await, 200);
        assert_eq!(status(path, "evil.example", Method::POST).await, 403);
    }
    for path in
        ["/v1/approvals", "/v1/alerts", "/slackx", "/v1/investigations", "/metrics", "/slack%2f..%2fv1/approvals"]
    {
        assert_eq!(status(path, "hooks.example.com", Method::GET).await, 403, "{path}");
    }
    // Whatever it says after a webhook's path, it is routed as it stands.
    assert_eq!(
        raw(&world, "GET /slack/../v1/approvals HTTP/1.1\r\nHost: hooks.example.com\r\nConnection: close\r\n\r\n")
            .await,
        "404"
    );
}

#[tokio::test]
async fn wh_15_another_origin_gets_no_answer_and_none_is_ever_allowed_to_read() {
    let sharing =
        Router::new().route("/slack/shared", post(async || ([("access-control-allow-origin", "*")], "taken")));
    let world = served(Double::without_tokens(), Limits::standard(), sharing).await;
    let own = format!("http://{}", world.at);
    let foreign = [
        "null",
        "https://evil.example",
        "http://localhost:3000",
        "http://127.0.0.1",
        "file://",
        "",
        "chrome-extension://abc",
    ];
    for origin in foreign {
        for (method, path) in [
            (Method::GET, "/v1/investigations"),
            (Method::POST, "/v1/investigations"),
            (Method::OPTIONS, "/v1/approvals"),
            (Method::GET, "/healthz"),
        ] {
            let asked =
                world.asked(method.clone(), path, None).header("origin", origin).body("{}").send().await.unwrap();
            assert_eq!(asked.status(), 403, "{origin} {method} {path}");
            assert!(!asked.headers().keys().any(|name| name.as_str().starts_with("access-control-")));
        }
    }
    assert_eq!(world.refused("origin"), u64::try_from(foreign.len()).unwrap() * 4);
    let two = world.asked(Method::GET, "/healthz", None).header("origin", &own).header("origin", "null");
    assert_eq!(two.send().await.unwrap().status(), 403);
    let crossing = world.asked(Method::GET, "/healthz", None).header("sec-fetch-site", "cross-site");
    assert_eq!(crossing.send().await.unwrap().status(), 403);
    let same = world.asked(Method::GET, "/v1/investigations", None).header("origin", &own).send().await.unwrap();
    assert_eq!(same.status(), 200);
    // Not even where a route says so.
    let shared = world.asked(Method::POST, "/slack/shared", None).send().await.unwrap();
    assert_eq!((shared.status().as_u16(), shared.headers().get("access-control-allow-origin")), (200, None));
}

#[tokio::test]
async fn every_answer_says_that_it_is_data_and_for_nobody_else() {
    let world = world(Double::new()).await;
    for (path, token, status) in
        [("/healthz", None, 200), ("/v1/approvals", Some(ANN), 200), ("/v1/approvals", None, 401), ("/none", None, 404)]
    {
        let answer = world.asked(Method::GET, path, token).send().await.unwrap();
        assert_eq!(answer.status(), status);
        let said = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(said("x-content-type-options"), "nosniff");
        assert_eq!(said("cache-control"), "no-store");
        assert!(said("content-security-policy").starts_with("default-src 'none'"));
    }
    let put = world.asked(Method::DELETE, "/v1/approvals", Some(ANN)).send().await.unwrap();
    assert_eq!((put.status().as_u16(), put.headers()["cache-control"].to_str().unwrap()), (405, "no-store"));
    let (status, body) = world.get("/none", None).await;
    assert_eq!(why(&(status, body)), (404, "NOT_FOUND"));
}
