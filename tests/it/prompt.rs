//! What stands in every request before the conversation: its size is bounded, and it is the same bytes whoever asks.

#![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

use std::path::Path;

use warrant::agent::prompt;
use warrant::app::App;
use warrant::config::Config;
use warrant_kernel::domain::run::Writes;

/// System prompt and tool definitions of a role, in bytes; the tools as JSON, as both API shapes send them.
fn bytes(role: &str, writes: Writes) -> (usize, usize) {
    let config = Config::parse(Path::new("prompt"), "store.path = \"/nowhere/warrant.db\"").unwrap();
    let app = App::open(config, &|_| None, None).unwrap();
    let tools = prompt::tools(&app.bench.registry, &role.parse().unwrap(), writes);
    (prompt::system(writes).len(), serde_json::to_string(&tools).unwrap().len())
}

#[test]
fn system_prompt_and_tools_fit_into_24_kb() {
    let closed = ["explore", "general-purpose"].map(|role| (role, Writes::Off));
    for (role, writes) in closed.into_iter().chain([("general-purpose", Writes::Allowed)]) {
        let (system, tools) = bytes(role, writes);
        println!(
            "{role}, writes {writes:?}: system prompt {system} bytes, tools {tools} bytes, together {}",
            system + tools
        );
        assert!(system + tools <= 24_000, "{role}: {system} + {tools}");
    }
}

#[test]
fn they_are_the_same_bytes_in_every_program_run() {
    for writes in [Writes::Off, Writes::Allowed] {
        assert_eq!(bytes("general-purpose", writes), bytes("general-purpose", writes));
    }
}
