//! The read tools, one file a tool. Each is made by a function that takes its sources and gives an `Arc<dyn ReadTool>`.

pub mod metrics_source;

pub mod query_metrics;

pub mod list_metrics;

pub mod scrape_metrics;

pub mod active_alerts;

pub mod http_check;

pub mod http_tool;
