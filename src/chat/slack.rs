//! Slack: what arrives from it, what is posted to it, and what both look like.
//!
//! Whatever arrives is durable before Slack hears that it was received, and whatever is posted is durable before it is sent;
//! between the two nothing is done here. Who decides what happens reads the one and writes the other.

pub mod id;

pub mod config;

pub mod client;

pub mod health;

pub mod keep;

pub mod incoming;

pub mod inbox;

pub mod socket;

pub mod http;

pub mod who;

pub mod outbox;

pub mod escape;

pub mod blocks;

pub mod action;

pub mod card;

pub mod modal;

pub mod report;

pub mod status;

pub mod incident;

pub mod chart;
