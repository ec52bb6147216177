//! The values of a label of a metrics server, each as a service whose series bear it.

use std::collections::{BTreeMap, BTreeSet};

use warrant_kernel::domain::name::{ServiceName, SourceName};

use super::{Imported, MOST, unfit};
use crate::catalog::service::{Series, Service};

/// Takes over the values of labels, in the order of the labels: what two of them name belongs to the first.
#[must_use]
pub fn services(source: &SourceName, labels: &[(String, Vec<String>)], known: &BTreeSet<ServiceName>) -> Imported {
    let mut imported = Imported::default();
    for (label, values) in labels {
        for value in values {
            let what = format!("{label}=\"{value}\"");
            let name: ServiceName = match value.parse() {
                Ok(name) => name,
                Err(error) => {
                    imported.leave_out(what, unfit(&error));
                    continue;
                }
            };
            if known.contains(&name) {
                imported.leave_out(what, "the config has this service already; its own words stay");
            } else if imported.services.contains_key(&name) {
                imported.leave_out(what, "another label names it too, and that one counts");
            } else if imported.services.len() >= MOST {
                imported.leave_out(
                    what,
                    format!("{MOST} services are taken over at a time; import the rest of them by another label"),
                );
            } else {
                let labels = BTreeMap::from([(label.clone(), value.clone())]);
                let metrics = Some(Series { source: source.clone(), labels, signals: BTreeMap::new() });
                imported.services.insert(name, Service { metrics, ..Service::default() });
            }
        }
    }
    imported
}
