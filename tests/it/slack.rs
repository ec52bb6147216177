//! Slack's transport against the Slack-shaped server: what arrives is durable before it is acknowledged and counts once,
//! whichever way it came, and what is posted stands there once.

mod world;

mod arriving;

mod posts;

mod sending;

mod clients;
