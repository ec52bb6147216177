//! A warrant is good for one write: it goes by move, and without one there is no write.

use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::write::{Looking, WriteTool};

async fn twice(tool: &dyn WriteTool, warrant: Warrant, first: Looking<'_>, second: Looking<'_>) {
    let _first = tool.write(warrant, first).await;
    let _second = tool.write(warrant, second).await;
}

fn spent_and_used(warrant: Warrant) {
    let _plan = warrant.spend();
    let _again = warrant.plan();
}

fn main() {}
