//! How well log messages are grouped by the statement that wrote them, against what people said.
//!
//! `LOGHUB_2K=DIR cargo bench --bench templates`. The directory holds the 2,000-line samples of loghub-2.0
//! (github.com/logpai/loghub-2.0) as `NAME.tsv`: a head, then `LineId`, `Content` and `EventTemplate`. Drain3 with one
//! configuration for all reaches a mean grouping accuracy of .785 on them.

#![expect(clippy::unwrap_used, reason = "a bench that lacks its data has nothing to measure")]

use std::collections::{BTreeMap, BTreeSet};

use warrant_toolbox::analysis::templates::Templates;

fn main() {
    let Some(folder) = std::env::var_os("LOGHUB_2K") else {
        println!("set LOGHUB_2K to a directory of loghub-2.0 samples (see the head of this bench)");
        return;
    };
    let mut sums = (0.0, 0.0, 0.0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tsv") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
        let column = |at: usize| rows.iter().map(move |row| *row.get(at).unwrap());
        let truth: Vec<&str> = column(2).collect();
        let mut templates = Templates::new(10_000);
        let found: Vec<_> = column(1).map(|message| templates.add(0, message)).collect();
        let (grouping, f1) = accuracy(&truth, &found);
        let name = path.file_stem().unwrap().display();
        println!("{name:12} GA {grouping:.3} FGA {f1:.3} templates {}", templates.len());
        sums = (sums.0 + grouping, sums.1 + f1, sums.2 + 1.0);
    }
    println!("{:12} GA {:.3} FGA {:.3}", "mean", sums.0 / sums.2, sums.1 / sums.2);
}

/// Grouping accuracy and the F1 over groups, as loghub-2.0 defines them.
fn accuracy(truth: &[&str], found: &[Option<usize>]) -> (f64, f64) {
    let mut by_truth: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut by_found: BTreeMap<Option<usize>, BTreeSet<usize>> = BTreeMap::new();
    for (line, (template, id)) in truth.iter().zip(found).enumerate() {
        by_truth.entry(template).or_default().insert(line);
        by_found.entry(*id).or_default().insert(line);
    }
    let right: Vec<usize> =
        by_truth.values().filter(|lines| by_found.values().any(|other| other == *lines)).map(BTreeSet::len).collect();
    let share =
        |count: usize, of: usize| f64::from(u32::try_from(count).unwrap()) / f64::from(u32::try_from(of).unwrap());
    let (precision, recall) = (share(right.len(), by_found.len()), share(right.len(), by_truth.len()));
    (share(right.iter().sum(), truth.len()), 2.0 * precision * recall / (precision + recall))
}
