//! A tool's definition and its code agree: what fits the one is understood by the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;
use warrant_kernel::call::arguments::check;
use warrant_kernel::call::definition::{DefinitionFile, Definitions, LoadContext, Standing};

use super::*;
use crate::catalog::Catalog;
use crate::catalog::source::{DirSource, Sources};
use crate::tools::read::{
    describe_service::describe_service, list_files::list_files, list_services::list_services,
    read_evidence::read_evidence, read_file::read_file, recent_changes::recent_changes, search_files::search_files,
    sight::AllBut,
};
use crate::tools::sources::changes::Changes;
use crate::tools::workspace::{OwnFiles, Workspaces};

macro_rules! definitions {
    ($($name:literal),*) => { [$(($name, include_str!(concat!("../../../../../../tools/", $name, ".toml")))),*] };
}

#[test]
fn the_examples_of_a_definition_are_understood_by_its_tool() {
    let texts = definitions!(
        "list_services",
        "describe_service",
        "list_files",
        "read_file",
        "search_files",
        "recent_changes",
        "read_evidence"
    );
    let roles = BTreeSet::from(["explore".parse().unwrap(), "general-purpose".parse().unwrap()]);
    let context = LoadContext { http_sources: &BTreeSet::new(), roles: &roles };
    let files = texts.iter().map(|(name, text)| DefinitionFile { name, text, standing: Standing::BuiltIn });
    let definitions = Definitions::load(files, &context).unwrap();

    let dir = tempfile::tempdir().unwrap();
    let roots = BTreeMap::from([("etc".parse().unwrap(), DirSource { dir: dir.path().to_owned() })]);
    let workspaces = Arc::new(Workspaces::open(&roots, OwnFiles::default()).unwrap());
    let services = serde_json::from_value(json!({ "orders": {} })).unwrap();
    let catalog = Arc::new(Catalog::new(services, Sources::default()).unwrap());
    let changes = Changes::new(Arc::clone(&catalog), Arc::clone(&workspaces), None);
    let tools: [Arc<dyn ReadTool>; 7] = [
        list_services(Arc::clone(&catalog), Arc::new(AllBut(&[]))),
        describe_service(Arc::clone(&catalog)),
        list_files(Arc::clone(&workspaces)),
        read_file(Arc::clone(&workspaces)),
        search_files(workspaces),
        recent_changes(Arc::clone(&catalog), changes, Arc::new(AllBut(&[]))),
        read_evidence(),
    ];
    let mut understood = 0;
    for ((name, _), tool) in texts.iter().zip(&tools) {
        let definition = definitions.get(name).unwrap();
        for example in definition.tool().examples.iter().filter(|example| example.fits) {
            let now = NOW.parse().unwrap();
            let arguments = check(definition, &example.args.to_string(), now, &*catalog).unwrap().arguments;
            let target = tool.resolve(&arguments, now).unwrap();
            let kinds = [definition.tool().target.kind, warrant_kernel::domain::target::TargetKind::Catalog];
            assert!(kinds.contains(&target.kind), "{name}: {target:?}");
            understood += 1;
        }
    }
    assert!(understood >= texts.len());
}
