//! What is written loads, says what was said, and replaces nothing.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use warrant_kernel::domain::name::ServiceName;

use super::ask::{Asking, fill};
use super::{Existing, Logs, Look, Wanted, model, text, write};
use crate::app::fault::Fault;
use crate::chat::terminal::keyboard::Script;
use crate::config::Config;

/// Nobody listens on the discard port.
const NOBODY: &str = "http://127.0.0.1:9";

fn service(name: &str) -> ServiceName {
    name.parse().unwrap()
}

fn silent() -> Wanted {
    Wanted { prometheus: Some(NOBODY.to_owned()), alertmanager: Some(NOBODY.to_owned()), ..Wanted::default() }
}

/// A machine with a runit service and a systemd unit, and logs of one of them.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    };
    put("etc/service/checkout/run");
    put("etc/systemd/system/payments.service");
    put("var/log/checkout/app.log");
    root
}

/// Answers, and what was asked.
async fn answered(wanted: &mut Wanted, answers: &[&str], root: &Path) -> (Result<Look, Fault>, String) {
    let mut asked = String::new();
    let mut keyboard = Script::Lines(answers.iter().map(|it| (*it).to_owned()).collect::<VecDeque<_>>());
    let mut say = |question: &str| asked.extend([question, "\n"]);
    let looked = fill(wanted, Some(Asking { keyboard: &mut keyboard, say: &mut say }), root).await;
    (looked, asked)
}

#[tokio::test]
async fn a_few_answers_make_a_config_that_loads() {
    let (root, mut wanted) = (machine(), silent());
    let answers = ["", "-", "checkout, payments", "", "/srv/payments/out.log", "anthropic:some-model"];
    let (look, asked) = answered(&mut wanted, &answers, root.path()).await;
    let look = look.unwrap();
    insta::assert_snapshot!(asked, @"
    Prometheus [http://127.0.0.1:9]: 
    Alertmanager [http://127.0.0.1:9]: 
    Services, with commas between [none]: 
    Log files of checkout, as in /var/log/app/*.log [/var/log/checkout/*.log]: 
    Log files of payments, as in /var/log/app/*.log [none]: 
    A model, as anthropic:MODEL or openai:MODEL [none]: 
    ");
    assert!(look.notes[0].starts_with(NOBODY), "{:?}", look.notes);
    let text = text(&wanted, &look).unwrap();
    insta::assert_snapshot!(text, @r#"
    # Every key: docs/CONFIG.md. `warrant check` tries all of it.

    [metrics.main]
    url = "http://127.0.0.1:9"

    [logs.files]
    dir = "/srv/payments"

    [logs.files-2]
    dir = "/var/log/checkout"

    [models.main]
    provider = "anthropic"
    model = "some-model"

    [[services.checkout.logs]]
    source = "files-2"
    file = "*.log"

    [services.checkout.restart]
    manager = "runit"
    dir = "/etc/service/checkout"

    [[services.payments.logs]]
    source = "files"
    file = "out.log"

    [services.payments.restart]
    manager = "systemd"
    unit = "payments.service"
    "#);
    let config = Config::parse(Path::new("warrant.toml"), &text).unwrap();
    assert_eq!(config.catalog.services().len(), 2);
}

#[tokio::test]
async fn answers_that_make_no_sense_or_are_missing_end_it() {
    for (answers, word) in [
        (&["", ""][..], "not answered"),
        (&["", "", "", ""], "--service"),
        (&["", "", "a/../b c!"], "service name"),
        (&["", "", "checkout", "var/log/x.log"], "absolute"),
        (&["", "", "checkout", "-", "gemini:x"], "anthropic:MODEL"),
        (&["not a url", "", "checkout"], "the URL holds a space"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let (looked, _) = answered(&mut silent(), answers, root.path()).await;
        let why = looked.unwrap_err().to_string();
        assert!(why.contains(word), "{answers:?}: {why}");
    }
}

#[tokio::test]
async fn where_nobody_is_asked_what_was_found_and_said_is_taken() {
    let root = machine();
    let mut wanted = Wanted { services: vec![service("checkout")], ..silent() };
    let look = fill(&mut wanted, None, root.path()).await.unwrap();
    assert_eq!(wanted.logs, [Logs { service: service("checkout"), file: "/var/log/checkout/*.log".into() }]);
    assert!(Config::parse(Path::new("w.toml"), &text(&wanted, &look).unwrap()).is_ok());
    let none = fill(&mut silent(), None, root.path()).await.unwrap_err();
    assert!(none.to_string().contains("--service"), "{none}");
}

#[test]
fn a_file_that_is_there_stays_and_a_config_that_does_not_load_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/warrant.toml");
    let good = format!("[store]\npath = \"{}\"\n[services.checkout]\n", dir.path().join("w.db").display());
    assert!(write(&path, "[services.checkout]\nlogs = 1\n", Existing::Stays).is_err());
    assert!(!path.exists());
    write(&path, &good, Existing::Stays).unwrap();
    let again = write(&path, "", Existing::Stays).unwrap_err();
    assert!(again.to_string().contains("--force"), "{again}");
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
    assert!(write(&path, "[services.checkout]\nlogs = 1\n", Existing::Replaced).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
    write(&path, &good.replace("checkout", "payments"), Existing::Replaced).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("payments"));
}

#[test]
fn what_is_said_of_logs_and_models_is_read() {
    let one = [service("checkout")];
    let both = [service("checkout"), service("payments")];
    assert_eq!(Logs::of("/var/log/a.log", &one).unwrap().service, one[0]);
    assert_eq!(Logs::of("payments=/var/log/p.log", &both).unwrap().service, both[1]);
    assert!(Logs::of("/var/log/a.log", &both).unwrap_err().to_string().contains("whose"));
    for odd in ["var/log/a.log", "/", "checkout=a.log", "a b=/var/log/x"] {
        assert!(Logs::of(odd, &one).is_err(), "{odd}");
    }
    assert_eq!(model("openai:m").unwrap().1, "m");
    for odd in ["", "openai", "openai:", "other:m"] {
        assert!(model(odd).is_err(), "{odd}");
    }
}
