//! `warrant serve` as a process: alerts, people in Slack and programs reach it, and it is killed and started again.

mod world;

mod story;

mod alerts;

mod reload;
