//! The registry gives out what a tool is, never the code that carries it out.

use warrant_kernel::call::gate::Cleared;
use warrant_kernel::call::registry::{Registry, Tool};

fn code(registry: &Registry, tool: Tool<'_>, cleared: Cleared<'_>) {
    let _ = tool.code;
    let _ = &registry.code;
    let _ = cleared.0;
}

fn main() {}
