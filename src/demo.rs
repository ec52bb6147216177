//! The shop that breaks: a small real shop as child processes, with a fault put into it while customers order.
//!
//! [`shop::Shop`] starts the shop, breaks it and says when its customers notice; [`part`] is what the child processes
//! run. An investigation gets [`shop::Shop::config_toml`] and [`shop::Shop::trigger`], never [`shop::Shop::injected`]:
//! the shop has no tool, runbook or code path that an investigation of a real service lacks.
//!
//! | module | does |
//! |---|---|
//! | [`fault`] | what can be broken, and which source can be taken down |
//! | [`dice`] | everything that a seed decides comes from here |
//! | [`document`] | a configuration file of the shop: its text, and the line that each key stands on |
//! | [`scenery`] | the configuration files of the four services, by seed |
//! | [`plan`] | what a seed decides: which change, where, when, and the decoy |
//! | [`repository`] | the Git repository that the files are committed to |
//! | [`certificate`] | the certificates of the shop |
//! | [`part`] | one service of the shop, in its own process |
//! | [`shop`] | all of it: children, customers, the fault, and what the outside world sees |
//! | [`run`] | `warrant demo`: the shop and an investigation of it |

#![expect(
    clippy::disallowed_methods,
    reason = "the shop is the outside world: its services are child processes, and each has a clock of its own"
)]

pub mod fault;

pub mod dice;

pub mod document;

pub mod scenery;

pub mod plan;

pub mod repository;

pub mod certificate;

pub mod part;

pub mod shop;

pub mod run;
