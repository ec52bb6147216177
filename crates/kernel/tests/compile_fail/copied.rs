//! What a stage made is there once: no copy, no default, nothing read from JSON.

use serde::de::DeserializeOwned;
use warrant_kernel::call::execute::Raw;
use warrant_kernel::call::gate::Cleared;
use warrant_kernel::call::plan::Planned;
use warrant_kernel::call::ruling::Ruling;
use warrant_kernel::call::schema::Checked;

fn clones<T: Clone>() {}

fn defaults<T: Default>() {}

fn reads<T: DeserializeOwned>() {}

fn main() {
    clones::<Planned<'static>>();
    clones::<Checked<'static>>();
    clones::<Ruling<'static>>();
    clones::<Cleared<'static>>();
    clones::<Raw>();
    defaults::<Cleared<'static>>();
    reads::<Cleared<'static>>();
}
