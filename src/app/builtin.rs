//! The tools, policies and runbooks that are compiled in.

/// A file: its name and its text.
pub type File = (&'static str, &'static str);

macro_rules! files {
    ($directory:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../", $directory, "/", $name)))),*]
    };
}

/// `tools/*.toml`.
pub const TOOLS: &[File] = files!("tools":
    "active_alerts.toml",
    "compare_logs.toml",
    "create_silence.toml",
    "describe_service.toml",
    "edit_config.toml",
    "edit_temp_config.toml",
    "http_check.toml",
    "list_files.toml",
    "list_metrics.toml",
    "list_services.toml",
    "query_metrics.toml",
    "read_evidence.toml",
    "read_file.toml",
    "read_runbook.toml",
    "recent_changes.toml",
    "restart_service.toml",
    "restore_config.toml",
    "run_command.toml",
    "scrape_metrics.toml",
    "search_files.toml",
    "search_logs.toml",
    "search_runbooks.toml",
);

/// `grammars/*.toml`: what each program may be told that `run_command` runs.
pub const GRAMMARS: &[File] = files!("grammars":
    "cat.toml",
    "cut.toml",
    "date.toml",
    "df.toml",
    "diff.toml",
    "du.toml",
    "file.toml",
    "find.toml",
    "forbidden.toml",
    "free.toml",
    "grep.toml",
    "head.toml",
    "hostname.toml",
    "id.toml",
    "ip.toml",
    "ls.toml",
    "ps.toml",
    "pwd.toml",
    "rg.toml",
    "sed.toml",
    "sha256sum.toml",
    "sort.toml",
    "ss.toml",
    "stat.toml",
    "tail.toml",
    "uname.toml",
    "uniq.toml",
    "uptime.toml",
    "wc.toml",
);

/// `policies/*.cedar`.
pub const POLICIES: &[File] = files!("policies": "approvals.cedar", "reads.cedar", "writes.cedar");

/// `policies/tests.toml`: what the shipped policies must allow and deny.
pub const POLICY_CASES: File = ("tests.toml", include_str!("../../policies/tests.toml"));

/// `runbooks/*.md`.
pub const RUNBOOKS: &[File] = files!("runbooks":
    "bad-change.md",
    "certificate-expiry.md",
    "connection-pool.md",
    "cpu-saturation.md",
    "crash-loop.md",
    "dependency-down.md",
    "disk-full.md",
    "error-rate.md",
    "file-descriptors.md",
    "latency.md",
    "memory-growth.md",
    "queue-backlog.md",
    "slow-dependency.md",
);
