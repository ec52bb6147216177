//! What is shipped beside the code: tools, policies and runbooks are those of the directories, speak of no shop in
//! particular, and are documented as they are.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;
use warrant::app::{App, builtin, tools};
use warrant::config::Config;
use warrant::demo::part::spec::Role;
use warrant::demo::scenery;
use warrant_kernel::domain::result::ErrorCode;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The names of the files of a directory of the project, without `.EXTENSION`, sorted.
pub fn names(directory: &str, extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(directory)).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|found| found == extension));
    let mut names: Vec<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn what_is_compiled_in_is_what_the_directories_hold() {
    for (files, directory, extension) in [
        (builtin::TOOLS, "tools", "toml"),
        (builtin::POLICIES, "policies", "cedar"),
        (builtin::RUNBOOKS, "runbooks", "md"),
        (builtin::GRAMMARS, "grammars", "toml"),
    ] {
        let compiled: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        let found: Vec<String> = names(directory, extension).iter().map(|name| format!("{name}.{extension}")).collect();
        assert_eq!(compiled, found, "src/app/builtin.rs against {directory}/");
    }
}

/// The words of a text: what letters, digits and underscores make up.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// Tools and runbooks know no shop: the demo is found by what any shop would show. `gateway` and `store` are words of the
/// trade, so they count only where a service is named.
#[test]
fn tools_and_runbooks_do_not_know_the_shop_of_the_demo() {
    let keys: BTreeSet<String> = (0..200)
        .flat_map(scenery::files)
        .flat_map(|file| [file.keys.pool_size, file.keys.acquire_timeout_ms, Some(file.path)])
        .flatten()
        .collect();
    assert!(keys.len() > 20, "{keys:?}");
    for (name, text) in builtin::RUNBOOKS.iter().chain(builtin::TOOLS) {
        let words = words(text);
        for service in [Role::Checkout, Role::Payments] {
            assert!(!words.contains(service.as_str()), "{name} names the service `{service}`");
        }
        for key in &keys {
            assert!(!text.contains(key.as_str()), "{name} names `{key}`, which is of the demo");
        }
        for line in text.lines().filter(|line| line.contains("service")) {
            for service in Role::ALL {
                assert!(!line.contains(&format!("\"{service}\"")), "{name} names the service `{service}`: {line}");
            }
        }
    }
}

#[test]
fn the_documented_table_of_tools_is_the_one_the_program_makes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("warrant.toml");
    std::fs::write(&path, "").unwrap();
    let app = App::open(Config::load(&path).unwrap(), &|_| None, None).unwrap();
    let documented = std::fs::read_to_string(root().join("docs/TOOLS.md")).unwrap();
    let table = tools::table(&app);
    assert!(documented.contains(&table), "docs/TOOLS.md lacks this table:\n\n{table}\n");
}

/// Sources are named; where they are stands in the config alone. No argument of any tool is an address, and one that is
/// given is a name that is not there.
#[tokio::test]
async fn ss_06_no_tool_takes_an_address() {
    let world = crate::investigation::World::new();
    let config = world.config(&["runbook"], "", "", "");
    let app = world.app(&config);
    for definition in app.bench.registry.iter().map(|tool| tool.about()) {
        for (name, spec) in &definition.args {
            let words = format!("{name} {}", spec.description).to_lowercase();
            for word in ["url", "http:", "https:", "hostname", "ip address", "endpoint", "domain name"] {
                assert!(!words.contains(word), "{}: `{name}`: {}", definition.name, spec.description);
            }
        }
    }
    for address in
        ["http://169.254.169.254/latest/meta-data/", "169.254.169.254", "metadata.google.internal", "127.0.0.1:1"]
    {
        for (tool, args) in [
            ("query_metrics", serde_json::json!({ "query": "up", "source": address })),
            ("list_metrics", serde_json::json!({ "source": address })),
            ("active_alerts", serde_json::json!({ "source": address })),
            ("http_check", serde_json::json!({ "service": address })),
            ("scrape_metrics", serde_json::json!({ "service": address })),
            ("search_logs", serde_json::json!({ "service": address })),
        ] {
            let cancel = CancellationToken::new();
            let result = tools::call(&app, tool, &args.to_string(), "general-purpose", &cancel).await.unwrap();
            assert_eq!(result.error.unwrap().code, ErrorCode::InvalidArguments, "{tool} {address}");
        }
    }
}
