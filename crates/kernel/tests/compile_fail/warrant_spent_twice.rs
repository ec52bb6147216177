//! A warrant is good for one write.

use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::write::{Effect, Looking, WriteError, WriteTool};

async fn twice(tool: &dyn WriteTool, warrant: Warrant, looking: Looking<'_>) -> Result<Effect, WriteError> {
    let _ = tool.write(warrant, looking).await;
    tool.write(warrant, looking).await
}

fn spent(warrant: Warrant) {
    let _ = warrant.spend();
    let _ = warrant.plan();
}

fn main() {}
