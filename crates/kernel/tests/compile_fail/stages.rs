//! No stage can be called by itself; `carry_out` is the only way through.

use warrant_kernel::call::Desk;
use warrant_kernel::call::execute::{self, Raw};
use warrant_kernel::call::gate::{self, Cleared};
use warrant_kernel::call::normalise;
use warrant_kernel::call::plan::{self, Planned};
use warrant_kernel::call::record;
use warrant_kernel::call::ruling::{self, Ruling};
use warrant_kernel::call::schema::{self, Checked};
use warrant_kernel::domain::event::Call;

async fn skip(desk: Desk<'_>, call: &Call, planned: Planned<'_>, checked: Checked<'_>, ruled: Ruling<'_>, raw: Raw) {
    let _ = plan::plan(desk, call);
    let _ = schema::check(desk, planned);
    let _ = ruling::rule(desk, checked).await;
    let _ = gate::clear(desk, ruled).await;
    let _ = normalise::result(desk, call, Ok(raw));
    let _ = record::result;
}

async fn execute(desk: Desk<'_>, cleared: Cleared<'_>) {
    let _ = execute::run(desk, cleared).await;
}

fn main() {}
