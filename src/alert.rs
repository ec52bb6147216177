//! Alerts: what monitoring systems send becomes incidents, and incidents become investigations.
//!
//! A body passes [`front`] (who sent it, what it says, masked, into the store, answered) and is gone; [`worker`] takes what
//! arrived from the store, folds it into incidents and asks for investigations. Between the two lies only the store, so
//! a crash anywhere loses nothing. What an alert says is a stranger's word: it chooses no role and widens no right.
//!
//! | module | does |
//! |---|---|
//! | [`config`] | `[alerts.NAME]` and `[alerting]`, checked |
//! | [`authentic`] | whether a body comes from whom it says |
//! | [`sns`] | Amazon SNS's certificates and subscriptions |
//! | [`content`] | one alert, masked and cut to size |
//! | [`parse`] | the bodies of each kind of sender |
//! | [`incident`] | the fold: alerts into incidents |
//! | [`recurrence`] | what came before, and what it was said to be |
//! | [`seam`] | what the worker needs from above |
//! | [`counts`] | what is counted, for metrics and for the bound of the queue |
//! | [`worker`] | takes arrivals, folds, settles, tells |
//! | [`front`] | `POST /v1/alerts/NAME` |

pub mod config;

pub mod authentic;

pub mod sns;

pub mod content;

pub mod parse;

pub mod incident;

pub mod recurrence;

pub mod seam;

pub mod counts;

pub mod worker;

pub mod front;
