//! Nobody but a stage makes what the next stage takes.

use warrant_kernel::call::execute::Raw;
use warrant_kernel::call::gate::Cleared;
use warrant_kernel::call::plan::Planned;
use warrant_kernel::call::refusal::Refusal;
use warrant_kernel::call::ruling::Ruling;
use warrant_kernel::call::schema::Checked;
use warrant_kernel::domain::decision::Decision;
use warrant_kernel::policy::Basis;

fn planned<'a>(earlier: Planned<'a>) -> Planned<'a> {
    Planned { ..earlier }
}

fn checked<'a>(earlier: Checked<'a>) -> Checked<'a> {
    Checked { ..earlier }
}

fn ruling<'a>(checked: Checked<'a>, decision: Decision, basis: Basis) -> Ruling<'a> {
    Ruling { checked, decision, basis }
}

fn cleared<'a>(earlier: Cleared<'a>) -> Cleared<'a> {
    Cleared { ..earlier }
}

fn raw(earlier: Raw) -> Raw {
    Raw { ..earlier }
}

fn refusal(earlier: Refusal) -> Refusal {
    Refusal { ..earlier }
}

fn main() {}
