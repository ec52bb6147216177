//! What fifty seeds have in common, and that they differ.

use std::collections::BTreeSet;

use crate::demo::document::Format;
use crate::demo::fault::Fault;
use crate::demo::part::settings::flatten;

use super::{Change, Plan};

fn format_of(file: &str) -> Format {
    [Format::Toml, Format::Yaml, Format::Json].into_iter().find(|format| file.ends_with(format.extension())).unwrap()
}

fn stands_where_it_says(plan: &Plan, change: &Change) {
    let file = plan.files.iter().find(|file| file.path == change.file).unwrap();
    assert_eq!(file.role, change.role);
    let before = file.document.text();
    let line = change.text.lines().nth(change.line - 1).unwrap();
    assert!(line.contains(&change.key) && line.contains(&change.to.to_string()), "`{line}` against {change:?}");
    let differing = before.lines().zip(change.text.lines()).filter(|(old, new)| old != new).count();
    assert_eq!((differing, before.lines().count()), (1, change.text.lines().count()));
}

#[test]
fn fifty_seeds_of_pool_change_one_line_and_the_service_reads_it() {
    let mut places = BTreeSet::new();
    let mut lines = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for seed in 0..50 {
        let plan = Plan::new(seed, Fault::Pool).unwrap();
        let change = plan.change.as_ref().unwrap();
        stands_where_it_says(&plan, change);
        stands_where_it_says(&plan, &plan.decoy);
        assert_ne!(change.file, plan.decoy.file);
        assert_ne!(change.role, plan.decoy.role);
        assert_ne!(change.key, plan.decoy.key);
        assert!(!plan.decoy.key.contains("pool") && !plan.decoy.key.contains("conn"));
        let file = plan.files.iter().find(|file| file.path == change.file).unwrap();
        let read = flatten(&change.text, format_of(&change.file)).unwrap();
        let size = read.get(file.keys.pool_size.as_deref().unwrap()).unwrap().as_u64().unwrap();
        assert!(size <= 2 && change.from.as_u64().unwrap() >= 20);
        places.insert(change.file.clone());
        lines.insert(change.line);
        keys.insert(change.key.clone());
    }
    assert!(places.len() > 15 && lines.len() > 10 && keys.len() > 5, "{places:?} {lines:?} {keys:?}");
}

#[test]
fn every_file_of_every_seed_reads_back_as_it_was_meant() {
    for seed in 0..50 {
        for file in Plan::new(seed, Fault::None).unwrap().files {
            let text = file.document.text();
            let read =
                flatten(&text, file.document.format).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            for section in &file.document.sections {
                for entry in &section.entries {
                    let path = crate::demo::document::path_of(&section.name, &entry.key);
                    assert_eq!(read.get(&path), Some(&entry.value), "seed {seed}: {path}\n{text}");
                }
            }
        }
    }
}

#[test]
fn only_pool_changes_a_setting_and_all_have_a_decoy_elsewhere() {
    for fault in Fault::ALL {
        for seed in 0..20 {
            let plan = Plan::new(seed, fault).unwrap();
            assert_eq!(plan.change.is_some(), fault == Fault::Pool);
            assert_ne!(Some(plan.decoy.role), plan.broken());
            stands_where_it_says(&plan, &plan.decoy);
        }
    }
}

#[test]
fn a_seed_is_the_same_shop_again() {
    let texts =
        |seed| Plan::new(seed, Fault::Pool).unwrap().files.into_iter().map(|f| f.document.text()).collect::<Vec<_>>();
    assert_eq!(texts(3), texts(3));
    assert_ne!(texts(3), texts(4));
}
