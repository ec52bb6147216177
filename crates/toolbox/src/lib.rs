//! What Warrant looks with: the catalog of services, log analysis, runbooks, and the tools themselves.
//!
//! | floor | module | does |
//! |---|---|---|
//! | 4 | `catalog` | services, and where their logs, metrics and files live |
//! | 4 | `analysis` | log templates, change points, timelines; pure |
//! | 5 | `runbook` | parses, checks and ranks runbooks |
//! | 6 | `tools` | the read tools and the sources behind them |

pub mod catalog;

pub mod analysis;

pub mod runbook;

pub mod tools;
