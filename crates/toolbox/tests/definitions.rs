//! The definitions in `tools/` and `examples/tools/` are what the loader takes.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside #[test]")]

use std::fs;
use std::path::PathBuf;

use warrant_kernel::call::definition::{DefinitionFile, Definitions, LoadContext, Standing};

fn files(dir: &str) -> Vec<(String, String)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir);
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn shipped_and_example_definitions_load() {
    let (shipped, examples) = (files("tools"), files("examples/tools"));
    assert!(!examples.is_empty());
    let of =
        |standing: Standing| move |(name, text): &'static (String, String)| DefinitionFile { name, text, standing };
    let (shipped, examples): (&'static [_], &'static [_]) = (shipped.leak(), examples.leak());
    let all = shipped.iter().map(of(Standing::BuiltIn)).chain(examples.iter().map(of(Standing::Operator)));
    let context = LoadContext {
        http_sources: &["grafana", "flags"].map(|name| name.parse().unwrap()).into(),
        roles: &["explore", "general-purpose"].map(|name| name.parse().unwrap()).into(),
    };
    let loaded = Definitions::load(all, &context).unwrap();
    assert_eq!(loaded.iter().count(), shipped.len() + examples.len());
    // What the model is shown of a tool: its share of the prompt's 24 kB.
    for definition in loaded.iter() {
        let tool = definition.tool();
        let shown = tool.description.len() + definition.schema().to_string().len();
        assert!(shown <= 1_400, "{} takes {shown} bytes of the prompt", tool.name);
        println!("{} {shown}", tool.name);
    }
}
