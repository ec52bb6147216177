//! The writes that the shipped policies name.
//!
//! A policy that names a tool which isn't there does not load. Where one of these has no definition, its name, risk and kind
//! of target stand in for it while policies are loaded and tried, so that the shipped ones load all the same. Nothing can
//! call what only stands here.

use std::collections::BTreeMap;
use std::time::Duration;

use warrant_kernel::domain::decision::Risk;
use warrant_kernel::domain::target::TargetKind;
use warrant_kernel::domain::tool::{Keep, OutputPolicy, TargetSpec, ToolDefinition, ToolRun};

const WRITES: [(&str, TargetKind); 5] = [
    ("edit_temp_config", TargetKind::Path),
    ("edit_config", TargetKind::Path),
    ("restore_config", TargetKind::Path),
    ("restart_service", TargetKind::Service),
    ("create_silence", TargetKind::Service),
];

/// Those of them that are not among `defined`.
pub fn missing<'t>(defined: impl Iterator<Item = &'t ToolDefinition>) -> Vec<ToolDefinition> {
    let defined: Vec<&str> = defined.map(|tool| tool.name.as_str()).collect();
    let missing = WRITES.iter().filter(|(name, _)| !defined.contains(name));
    missing.filter_map(|(name, kind)| standing_in(name, *kind)).collect()
}

fn standing_in(name: &str, kind: TargetKind) -> Option<ToolDefinition> {
    Some(ToolDefinition {
        name: name.parse().ok()?,
        version: 1,
        description: String::new(),
        args: BTreeMap::new(),
        risk: Risk::Write,
        tier_floor: None,
        roles: Vec::new(),
        parallel_safe: false,
        timeout: Duration::ZERO,
        output: OutputPolicy { max_chars: 0, keep: Keep::Full },
        cache: Duration::ZERO,
        target: TargetSpec { kind, arg: None },
        side_effects: Vec::new(),
        run: ToolRun::Builtin,
        examples: Vec::new(),
    })
}
