//! Lines: one around a phrase, one that looks as if it held a secret, an ordinary one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::planted::Dice;

/// A log line around a phrase.
pub fn line(dice: &mut Dice, phrase: &str) -> String {
    let (id, took) = (dice.letters("x", 16), dice.below(900));
    match dice.below(8) {
        0 => format!("2026-05-04T10:{:02}:11.123Z ERROR checkout request {id} failed: {phrase}", dice.below(60)),
        1 => format!("level=warn service=payments took={took}ms trace={id} msg={phrase} retry=3"),
        2 => format!("May  4 10:11:12 node-7 app[{took}]: {phrase} rejected by upstream"),
        3 => {
            format!("10.2.3.4 - - [04/May/2026:10:11:12 +0000] \"GET /v1/orders/{took} HTTP/1.1\" 502 {took} {phrase}")
        }
        4 => format!("config loaded ({phrase}) in {took} ms"),
        5 => format!("+ env {phrase} ./run --port {took}"),
        6 => phrase.to_owned(),
        _ => format!("DEBUG [{id}] sending {phrase}; attempt 2 of 5"),
    }
}

/// A line that holds no secret and looks as if.
pub fn decoy(dice: &mut Dice) -> String {
    let hex = |dice: &mut Dice, count| dice.letters("x", count);
    match dice.below(16) {
        0 => format!(
            "request_id={}-{}-4{}-a{}-{} done",
            hex(dice, 8),
            hex(dice, 4),
            hex(dice, 3),
            hex(dice, 3),
            hex(dice, 12)
        ),
        1 => format!("pulled image registry.local/checkout@sha256:{}", hex(dice, 64)),
        2 => format!("deployed commit {} to production", hex(dice, 40)),
        3 => format!("trace_id={} span_id={} sampled=true", hex(dice, 32), hex(dice, 16)),
        4 => format!("ETag: \"{}==\" cache hit", dice.letters("uld+/", 22)),
        5 => format!(
            "password={} user=root",
            dice.pick(&[
                "****",
                "********",
                "<redacted>",
                "[FILTERED]",
                "${DB_PASSWORD}",
                "$DB_PASSWORD",
                "[REDACTED]",
                "xxxxxxxx",
                "null"
            ])
        ),
        6 => format!("invalid password for root from 10.0.{}.{} port 22", dice.below(255), dice.below(255)),
        7 => "secret mounted at /var/run/secrets/kubernetes.io/serviceaccount".to_owned(),
        8 => format!("integrity sha512-{}==", dice.letters("uld+/", 86)),
        9 => format!(
            "pod checkout-{}-{} started on node-{}",
            dice.letters("bcdfghjklmnpqrstvwxz2456789", 10),
            dice.letters("bcdfghjklmnpqrstvwxz2456789", 5),
            dice.below(9)
        ),
        10 => format!("GET /v1/objects/{}/versions/{} 200", hex(dice, 24), dice.letters("uld_-", 22)),
        11 => format!(
            "resourceVersion: \"{}\" uid: {}-{}-4{}-8{}-{}",
            dice.letters("d", 9),
            hex(dice, 8),
            hex(dice, 4),
            hex(dice, 3),
            hex(dice, 3),
            hex(dice, 12)
        ),
        12 => dice
            .pick(&[
                "password expired for user alice",
                "token expired, asking for a new one",
                "invalid token: unexpected end of input",
                "secret \"checkout-tls\" not found in namespace shop",
                "no password: required",
                "password: must be at least 12 characters long",
            ])
            .to_owned(),
        13 => format!(
            "max_tokens={} tokens=512 next_token={} token_type=bearer",
            dice.below(9000),
            dice.letters("uld", 24)
        ),
        14 => format!(
            "payload {} bytes protobuf {}",
            dice.below(900),
            STANDARD.encode(dice.letters("\u{1}\u{8}\u{12}\u{1a}\u{20}ld", 48))
        ),
        _ => format!(
            "https://grafana.local:3000/d/{}?orgId=1&from=now-1h@utc key={}",
            dice.letters("uld", 9),
            hex(dice, 40)
        ),
    }
}

/// An ordinary log line.
pub fn benign(dice: &mut Dice) -> String {
    let (id, took, code) = (dice.letters("x", 32), dice.below(900), dice.pick(&[200, 201, 404, 502]));
    let service = dice.pick(&["checkout", "payments", "gateway", "orders", "inventory", "search"]);
    match dice.below(10) {
        0 => format!(
            "{{\"ts\":\"2026-05-04T10:11:{:02}.{took:03}Z\",\"level\":\"info\",\"service\":\"{service}\",\"trace_id\":\"{id}\",\"msg\":\"handled request\",\"status\":{code},\"duration_ms\":{took}}}",
            dice.below(60)
        ),
        1 => format!(
            "2026-05-04T10:{:02}:12.{took:03}Z INFO {service} GET /api/v1/orders/{took} status={code} took={took}ms",
            dice.below(60)
        ),
        2 => format!(
            "10.1.{}.{} - - [04/May/2026:10:11:12 +0000] \"POST /v1/cart/{took}/items HTTP/1.1\" {code} {took} \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"",
            dice.below(255),
            dice.below(255)
        ),
        3 => format!("level=debug service={service} msg=\"pool stats\" size=20 idle={} waiting={took}", dice.below(20)),
        4 => format!(
            "May  4 10:11:{:02} node-{} kubelet[812]: I0504 10:11:12.{took:06} 812 kubelet.go:1234] SyncLoop UPDATE source=\"api\" pods=[\"shop/{service}-7d9f8b6c5-x2x4z\"]",
            dice.below(60),
            dice.below(9)
        ),
        5 => format!(
            "WARN {service} retrying call to http://{service}.svc.cluster.local:8080/internal/quote?item={took} attempt={}",
            dice.below(5)
        ),
        6 => format!(
            "2026-05-04 10:11:12,{took:03} [http-nio-8080-exec-{}] DEBUG o.s.web.servlet.DispatcherServlet - Completed {code} OK in {took} ms",
            dice.below(20)
        ),
        7 => format!(
            "ts=2026-05-04T10:11:12Z caller=compact.go:519 level=info component=tsdb msg=\"write block\" mint={took}000 maxt={took}999 ulid=01HX{} duration={took}ms",
            dice.letters("ud", 22)
        ),
        8 => format!(
            "{service}: cache miss for key cart:{took}:{} falling back to store, {} rows",
            dice.letters("d", 6),
            dice.below(50)
        ),
        _ => format!(
            "INFO authentication of user u{took} succeeded, session refreshed, {} tokens left in bucket",
            dice.below(100)
        ),
    }
}
