//! From the question to the report, by the real binary, under a model of each shape.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{KEY, SECRET, World, serve, told};
use crate::model_server::script::{Shape, Turn};

/// A command of the real binary with this config.
pub fn warrant(world: &World, args: &[&str]) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_warrant"));
    command.args(args).env("WARRANT_CONFIG", world.path("warrant.toml")).env("KEY", KEY).env("NO_COLOR", "1");
    command.env_remove("WARRANT_LOG").stdin(Stdio::null()).kill_on_drop(true);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// All files below a directory that hold these bytes.
pub fn files_with(dir: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if std::fs::read(&path).unwrap().windows(needle.len()).any(|window| window == needle.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn a_question_becomes_a_confirmed_report_and_the_secret_stays_where_it_was() {
    for shape in [Shape::OpenAi, Shape::Anthropic] {
        let world = World::new();
        let mut script = world.script();
        // A model that writes a secret, cut in the middle: neither the terminal nor its next request shows it.
        let (head, tail) = SECRET.split_at(11);
        script[1].text = ["the token is ", head, tail, "\n"].map(str::to_owned).to_vec();
        // Thinking is signed: what holds a secret can't be masked, so it does not go back; the rest does.
        let thinking =
            |text: &str| serde_json::json!({ "type": "thinking", "thinking": text, "signature": "c2lnbmVk" });
        script[1].thinking = vec![thinking(&format!("I see token={SECRET}"))];
        script[2].thinking = vec![thinking("I am nearly there")];
        let server = serve(script).await;
        world.write_config(&world.config_of(shape, &server, ""));
        let question = format!("why does checkout fail? it says token={SECRET}");
        let since = super::at(world.since);
        let run = warrant(&world, &["ask", &question, "--since", &since, "--json"]).output().await.unwrap();
        let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
        assert_eq!(run.status.code(), Some(0), "{stdout}{stderr}");
        let printed: Value = serde_json::from_str(&stdout).expect("one JSON document");
        assert_eq!(printed["report"]["outcome"], "confirmed");
        assert_eq!(printed["report"]["written_by"], "main");
        assert_eq!(printed["report"]["volatile"], false);

        // The same investigation watched by a person.
        let id = printed["investigation"].as_str().unwrap();
        let shown = warrant(&world, &["investigations", "show", id]).output().await.unwrap();
        for text in [&stdout, &stderr, &String::from_utf8(shown.stdout).unwrap()] {
            assert!(!text.contains(SECRET) && !text.contains(KEY), "{text}");
        }
        for secret in [SECRET, KEY] {
            assert_eq!(files_with(&world.path("store"), secret), Vec::<String>::new());
        }

        let requests = server.requests();
        let first = told(&requests[0].body);
        let opening = first.last().unwrap();
        let sweep = opening.split_once("The opening sweep:").unwrap().1;
        assert!(sweep.len() <= 16_000, "{} bytes", sweep.len());
        for evidence in ["E1", "E2", "E3", "E4"] {
            assert!(sweep.contains(&format!("\"evidence\":\"{evidence}\"")), "{sweep}");
        }
        assert!(sweep.contains("[secret:"), "{sweep}");
        // In the order of the calls: logs, a file, the same logs again, what broke, what was meant.
        let second = told(&requests[1].body);
        let answers = &second[second.len() - 5..];
        let expected =
            ["\"evidence\":\"E5\"", "max_connections", "\"evidence\":\"E5\"", "INVALID_ARGUMENTS", "checkout"];
        for (answer, expected) in answers.iter().zip(expected) {
            assert!(answer.contains(expected), "{answer} lacks {expected}");
        }
        // The report that did not stand up went back with the reason.
        assert!(told(&requests[3].body).last().unwrap().contains("4711"));

        if shape == Shape::Anthropic {
            let last = requests[3].body.to_string();
            assert!(last.contains("I am nearly there") && !last.contains("I see token"), "{last}");
        }

        let replayed = warrant(&world, &["investigations", "replay", id]).output().await.unwrap();
        assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stdout));
    }
}

#[tokio::test]
async fn what_a_person_sees_holds_no_secret_either() {
    let world = World::new();
    let mut script = world.script();
    let (head, tail) = SECRET.split_at(11);
    script[0].text = ["the token is ", head, tail, "\nand that is that"].map(str::to_owned).to_vec();
    let server = serve(script).await;
    world.write_config(&world.config_of(Shape::OpenAi, &server, ""));
    let since = super::at(world.since);
    let run = warrant(&world, &["ask", "why does checkout fail?", "--since", &since]).output().await.unwrap();
    let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(stderr.contains("the token is [secret:"), "{stderr}");
    assert!(!stdout.contains(SECRET) && !stderr.contains(SECRET));
    assert!(stdout.contains("CONFIRMED"));
}

#[tokio::test]
async fn the_sweep_stays_within_its_limit_however_loud_the_sources_are() {
    let world = World::new();
    // Many different messages, of characters of three bytes each.
    let line = |n: usize| {
        let message = "数据库连接超时".repeat(20 + n % 7);
        let time = super::at(world.onset + jiff::SignedDuration::from_millis(i64::try_from(n).unwrap()));
        serde_json::json!({ "time": time, "level": "error", "msg": format!("{message} {}", "错".repeat(n % 31)) })
            .to_string()
    };
    let log: Vec<String> = (0..2_000).map(line).collect();
    std::fs::write(world.path("logs/checkout.log"), log.join("\n")).unwrap();
    let deploys: Vec<String> = (0..500)
        .map(|n| {
            let time = super::at(world.onset - jiff::SignedDuration::from_secs(n));
            serde_json::json!({ "time": time, "service": "checkout", "message": "变更".repeat(40) }).to_string()
        })
        .collect();
    std::fs::write(world.path("deploys.jsonl"), deploys.join("\n")).unwrap();
    let server =
        serve(vec![Turn::calls([("r", "report", serde_json::json!({ "summary": "?", "findings": [] }))])]).await;
    world.report(&world.app(&world.config_of(Shape::OpenAi, &server, ""))).await;
    let opening = told(&server.requests()[0].body).pop().unwrap();
    let sweep = opening.split_once("The opening sweep:").unwrap().1;
    assert!(sweep.len() <= 16_000, "{} bytes", sweep.len());
    assert!(sweep.len() > 8_000 && sweep.contains("read_evidence"), "{sweep}");
}
