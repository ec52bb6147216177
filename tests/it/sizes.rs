//! What is read may be large; what is held of it is not. The peak of the real binary's memory is measured.
//!
//! The bounds are generous, for they are of sizes and hold on any machine; what they guard against is ten times as much.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// What one call came to, and the most memory that the process had, in bytes.
struct Ran {
    result: Value,
    peak: u64,
}

/// Runs one tool in a process of its own.
fn call(dir: &Path, tool: &str, args: &Value) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warrant"))
        .args(["tools", "call", tool, "--json", "--args", &args.to_string()])
        .env("WARRANT_CONFIG", dir.join("warrant.toml"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // The high-water mark only grows, so the last look is the one that counts; a result of a few kB never fills the pipe.
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = mark.and_then(|kib| kib.trim().parse::<u64>().ok()).map_or(peak, |kib| kib * 1024);
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().unwrap();
    Ran { result: serde_json::from_slice(&output.stdout).unwrap(), peak }
}

fn config(dir: &Path, more: &str) {
    let text = format!(
        "[logs.files]\ndir = \"{0}\"\n[store]\npath = \"{0}/warrant.db\"\n\
         [services.shop]\nlogs = [{{ source = \"files\", file = \"app.log\" }}]\n{more}",
        dir.display()
    );
    std::fs::write(dir.join("warrant.toml"), text).unwrap();
}

/// How much more memory than a call that reads nothing.
fn growth(dir: &Path, ran: &Ran) -> u64 {
    let idle = call(dir, "list_services", &json!({}));
    assert!(idle.peak > MIB && ran.peak > MIB, "{} {}", idle.peak, ran.peak);
    ran.peak.saturating_sub(idle.peak)
}

#[test]
fn rs_01_a_gzip_of_100_kib_that_becomes_100_mib_is_searched_in_flat_memory() {
    let dir = tempfile::tempdir().unwrap();
    config(dir.path(), "");
    let line = "2026-03-01T12:00:00Z error a line that repeats\n";
    let text = line.repeat(usize::try_from(MIB).unwrap() / line.len());
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(text.as_bytes()).unwrap();
    let member = packer.finish().unwrap();
    let mut rotated = File::create(dir.path().join("app.log.1.gz")).unwrap();
    for _ in 0..100 {
        rotated.write_all(&member).unwrap();
    }
    assert!(member.len() * 100 < 512 << 10, "{}", member.len());
    std::fs::write(dir.path().join("app.log"), "").unwrap();
    let args = json!({ "service": "shop", "pattern": "never there", "since": "2026-03-01T00:00:00Z", "until": "2026-03-02T00:00:00Z" });
    let ran = call(dir.path(), "search_logs", &args);
    assert_eq!(ran.result["ok"], true, "{}", ran.result);
    let grown = growth(dir.path(), &ran);
    assert!(grown < 24 * MIB, "{} MiB", grown / MIB);
}

#[test]
fn rs_03_a_log_of_one_line_of_a_gibibyte_is_searched_in_flat_memory() {
    let dir = tempfile::tempdir().unwrap();
    config(dir.path(), "");
    // Zeros without a line's end, and no UTF-8 at their end; the file takes no space.
    let mut log = File::create(dir.path().join("app.log")).unwrap();
    log.set_len(1 << 30).unwrap();
    std::io::Seek::seek(&mut log, std::io::SeekFrom::End(0)).unwrap();
    log.write_all(b"\xff\xfe no line ends here").unwrap();
    let args = json!({ "service": "shop", "pattern": "line ends", "since": "1h ago" });
    let ran = call(dir.path(), "search_logs", &args);
    assert_eq!(ran.result["ok"], true, "{}", ran.result);
    assert!(ran.result.to_string().len() < 100_000);
    let grown = growth(dir.path(), &ran);
    assert!(grown < 48 * MIB, "{} MiB", grown / MIB);
}

#[tokio::test]
async fn rs_04_json_of_a_million_keys_and_of_a_hundred_thousand_levels_is_bounded() {
    let keyed = |count: usize| {
        let keys: Vec<String> = (0..count).map(|n| format!("\"k{n}\":\"\"")).collect();
        format!(r#"{{"status":"success","data":{{"result":[{{"metric":{{{}}},"values":[]}}]}}}}"#, keys.join(","))
    };
    let (wide, half) = (keyed(1_000_000), keyed(500_000));
    assert!(wide.len() < 16 << 20);
    let deep = format!(r#"{{"status":"success","data":{}"#, "[".repeat(100_000));
    let many = format!(r#"{{"status":"success","data":{{"result":[],"x":[{}0]}}}}"#, "0,".repeat(4_000_000));
    let answer = |body: String| get(move || async move { ([("content-type", "application/json")], body) });
    let mut router = Router::new();
    for (name, body) in [("wide", wide), ("half", half), ("deep", deep), ("many", many)] {
        router = router.route(&format!("/{name}/api/v1/query_range"), answer(body));
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let dir = tempfile::tempdir().unwrap();
    let sources = ["wide", "half", "deep", "many"].map(|name| format!("[metrics.{name}]\nurl = \"{url}/{name}\"\n"));
    config(dir.path(), &sources.concat());
    let path = dir.path().to_owned();
    let grown = tokio::task::spawn_blocking(move || {
        ["wide", "half", "deep", "many"].map(|source| {
            let ran = call(&path, "query_metrics", &json!({ "query": "up", "source": source, "since": "1h ago" }));
            (ran.result["error"]["reason"].clone(), growth(&path, &ran) / MIB)
        })
    });
    let grown = grown.await.unwrap();
    serving.abort();
    let reasons = grown.each_ref().map(|(reason, _)| reason.as_str());
    // Of half a million labels a few are kept.
    assert_eq!(reasons, [Some("TOO_LARGE"), None, Some("MALFORMED"), Some("TOO_LARGE")]);
    assert!(grown.iter().all(|(_, mib)| *mib < 64), "{grown:?}");
}
