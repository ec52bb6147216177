//! Services as other catalogs know them, in the words of this one.
//!
//! | module | does |
//! |---|---|
//! | [`tree`] | YAML as a tree, within bounds |
//! | [`backstage`] | `catalog-info.yaml` of Backstage |
//! | [`labels`] | values of a label of a metrics server |
//!
//! What can't be taken over is left out and named. What can't be read at all is an error, and then nothing is taken over.

pub mod tree;

pub mod backstage;

pub mod labels;

use std::collections::BTreeMap;

use warrant_kernel::domain::name::ServiceName;

use super::service::Service;

/// Most services of one import.
pub const MOST: usize = 2_000;

/// What was taken over, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The services.
    pub services: BTreeMap<ServiceName, Service>,
    /// The rest.
    pub left_out: Vec<LeftOut>,
}

/// Something that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    /// What; somebody else's words.
    pub what: String,
    /// Why, and what to do.
    pub why: String,
}

impl Imported {
    fn leave_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.left_out.push(LeftOut { what: what.into(), why: why.into() });
    }
}

/// Why a name is none of a service, and what to do about it.
fn unfit(error: &impl std::fmt::Display) -> String {
    format!("{error}; rename it there, or write its `[services.NAME]` by hand")
}

#[cfg(test)]
mod tests;
