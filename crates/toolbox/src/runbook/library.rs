//! All runbooks there are. Loading never fails as a whole: what does not load is a [`Problem`], the rest is there.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::runbook::document::{Problem, Runbook};
use crate::runbook::index::Index;
use crate::runbook::lexicon::Lexicon;
use crate::runbook::{files, parse};

/// The runbooks, sorted by id, and what did not load.
#[derive(Default)]
pub struct Library {
    runbooks: Vec<Runbook>,
    problems: Vec<Problem>,
    search: OnceLock<(Index, Lexicon)>,
}

impl Library {
    /// Loads the built-in runbooks (file name, text) and those of the directories. A file of a directory takes the place of
    /// the built-in one with the same id; of two directories' files with one id the first stays and the other is a problem.
    #[must_use]
    pub fn load(builtin: &[(&str, &str)], dirs: &[PathBuf]) -> Self {
        let mut library = Self::default();
        let mut found: Vec<files::Found> = Vec::new();
        for dir in dirs {
            for one in files::read_dir(dir, &mut library.problems) {
                match found.iter().find(|other| other.id == one.id) {
                    None => found.push(one),
                    Some(other) => library.problems.push(Problem {
                        message: format!("`{}` is loaded from {} already; rename one", one.id, other.file.display()),
                        file: one.file,
                        line: None,
                    }),
                }
            }
        }
        for (name, text) in builtin {
            let id = name.strip_suffix(".md").unwrap_or(name);
            if !found.iter().any(|other| other.id == id) {
                library.add(id, &Path::new("runbooks").join(format!("{id}.md")), text);
            }
        }
        for one in &found {
            library.add(&one.id, &one.file, &one.text);
        }
        library.runbooks.sort_by(|a, b| a.id.cmp(&b.id));
        library.problems.sort();
        library
    }

    fn add(&mut self, id: &str, file: &Path, text: &str) {
        match parse::parse(id, file, text) {
            Ok(runbook) => self.runbooks.push(runbook),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// All of them, by id.
    #[must_use]
    pub fn runbooks(&self) -> &[Runbook] {
        &self.runbooks
    }

    /// What did not load, and why.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// One runbook.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Runbook> {
        let at = self.runbooks.binary_search_by(|runbook| runbook.id.as_str().cmp(id)).ok()?;
        self.runbooks.get(at)
    }

    /// The ids nearest to one that isn't there, best first, at most three.
    #[must_use]
    pub fn nearest(&self, id: &str) -> Vec<&str> {
        let wanted: String = id.to_lowercase().chars().take(200).collect();
        let mut near: Vec<(f64, &str)> = self
            .runbooks
            .iter()
            .map(|runbook| (strsim::jaro_winkler(&wanted, &runbook.id.to_lowercase()), runbook.id.as_str()))
            .filter(|(likeness, _)| *likeness > 0.75)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        near.into_iter().take(3).map(|(_, id)| id).collect()
    }

    /// The index and the lexicon, made on first use: most runs look for a runbook once, `--version` never.
    pub(super) fn search_parts(&self) -> &(Index, Lexicon) {
        self.search.get_or_init(|| (Index::new(&self.runbooks), Lexicon::new()))
    }
}

#[cfg(test)]
mod tests;
