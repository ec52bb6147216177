//! The configuration files of the four services, as a seed has them: path, format, key names, order and comments all
//! move, so that nothing can know beforehand where a setting stands.

use serde_json::Value;

use crate::demo::dice::Dice;
use crate::demo::document::{Document, Entry, Format, Layout, Section, path_of};
use crate::demo::part::spec::{Keys, Role};

/// Where logging is set, in every service.
pub const LOG_LEVEL: &str = "logging.log_level";
/// How long a service waits for another one, in every service that calls one.
pub const REQUEST_TIMEOUT: &str = "upstreams.request_timeout_ms";

/// Names that the size of a pool goes by: section (empty: at the top) and key.
const POOL_NAMES: [(&str, &str); 6] = [
    ("pool", "max_connections"),
    ("database", "pool_size"),
    ("db", "max_open_conns"),
    ("pool", "max"),
    ("", "pool_size"),
    ("store_client", "max_pool_size"),
];
const POOL_SIZES: [u64; 5] = [20, 24, 30, 32, 40];
const ACQUIRE_NAMES: [&str; 3] = ["acquire_timeout_ms", "checkout_timeout_ms", "wait_timeout_ms"];
/// How long a request waits for a connection: six times what the store takes, so that a busy machine is no fault.
const ACQUIRE_TIMEOUT_MS: u64 = 800;

const DIRECTORIES: [&str; 4] = ["etc/{}", "services/{}", "{}/conf", "config/{}"];
const FILE_NAMES: [&str; 4] = ["service", "settings", "application", "runtime"];

const HEADINGS: [&str; 5] = [
    "Read at start and whenever the file changes.",
    "Owned by the shop team; ask in #shop before a release freeze.",
    "Durations are in the unit that the key names.",
    "See the wiki page \"Shop configuration\" for what each section means.",
    "Values were last reviewed for the winter sale.",
];
const REMARKS: [&str; 6] = [
    "measured under twice the usual load",
    "same in staging",
    "per process",
    "do not go below the value of last year",
    "agreed with operations",
    "see the runbook before changing",
];

/// The configuration file of one service.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// Whose it is.
    pub role: Role,
    /// Its path in the repository.
    pub path: String,
    /// What stands in it.
    pub document: Document,
    /// Which of its keys the service obeys.
    pub keys: Keys,
    /// Settings that may change without harm, and what they may change to.
    pub harmless: Vec<(String, Vec<Value>)>,
}

/// The files of all services.
#[must_use]
pub fn files(seed: u64) -> Vec<ConfigFile> {
    let directory = Dice::new(seed, "directory").pick(&DIRECTORIES).copied().unwrap_or("etc/{}");
    Role::ALL.into_iter().map(|role| file(seed, role, directory)).collect()
}

fn file(seed: u64, role: Role, directory: &str) -> ConfigFile {
    let mut dice = Dice::new(seed, role.as_str());
    let format = dice.pick(&[Format::Toml, Format::Yaml, Format::Json]).copied().unwrap_or(Format::Toml);
    let layout = if dice.chance(35) { Layout::Flat } else { Layout::Nested };
    let name = if dice.chance(25) { role.as_str() } else { dice.pick(&FILE_NAMES).copied().unwrap_or("service") };
    let path = format!("{}/{name}.{}", directory.replace("{}", role.as_str()), format.extension());

    let mut sections =
        vec![server(&mut dice), section("logging", &[("log_level", "info".into()), ("log_format", "json".into())])];
    let mut harmless = vec![
        (LOG_LEVEL.to_owned(), vec!["debug".into()]),
        ("server.keepalive_timeout_ms".to_owned(), vec![90_000.into(), 120_000.into(), 180_000.into()]),
    ];
    let (own, own_harmless) = own(role);
    sections.push(own);
    harmless.extend(own_harmless);
    if let Some(timeout) = request_timeout_ms(role) {
        sections.push(section("upstreams", &[("request_timeout_ms", timeout.into()), ("retries", 0.into())]));
    }
    let mut keys = Keys {
        log_level: LOG_LEVEL.to_owned(),
        request_timeout_ms: request_timeout_ms(role).map(|_| REQUEST_TIMEOUT.to_owned()),
        pool_size: None,
        acquire_timeout_ms: None,
    };
    let mut top = section("", &[("service", role.as_str().into()), ("environment", "demo".into())]);
    if role.has_pool() {
        pool(&mut dice, &mut sections, &mut top, &mut keys);
    }
    dice.shuffle(&mut sections);
    sections.insert(0, top);
    decorate(&mut dice, &mut sections);

    let mut headings = HEADINGS;
    dice.shuffle(&mut headings);
    let count = usize::try_from(dice.between(0, 3)).unwrap_or(0);
    let mut heading = vec![format!("Settings of {role}.")];
    heading.extend(headings.iter().take(count).map(|&text| text.to_owned()));
    ConfigFile { role, path, document: Document { format, layout, heading, sections }, keys, harmless }
}

fn entry(key: &str, value: Value) -> Entry {
    Entry { key: key.to_owned(), value, remark: None }
}

fn section(name: &str, entries: &[(&str, Value)]) -> Section {
    let entries = entries.iter().map(|(key, value)| entry(key, value.clone())).collect();
    Section { name: name.to_owned(), remark: None, entries }
}

fn server(dice: &mut Dice) -> Section {
    let mut server = section("server", &[("keepalive_timeout_ms", 60_000.into()), ("max_body_kib", 256.into())]);
    if dice.chance(50) {
        server.entries.insert(0, entry("listen", "127.0.0.1:0".into()));
    }
    if dice.chance(50) {
        server.entries.push(entry("graceful_shutdown_seconds", 10.into()));
    }
    server
}

/// A key, its value, and the values it may change to.
type Own = (&'static str, Value, Vec<Value>);

/// What only this service has, and which of it may change without harm.
fn own(role: Role) -> (Section, Vec<(String, Vec<Value>)>) {
    let (name, entries): (&str, Vec<Own>) = match role {
        Role::Gateway => (
            "storefront",
            vec![
                ("banner_text", "Free delivery this week".into(), vec!["Spring sale starts on Monday".into()]),
                ("static_cache_ttl_seconds", 300.into(), vec![120.into(), 600.into()]),
            ],
        ),
        Role::Checkout => (
            "carts",
            vec![
                ("cart_ttl_minutes", 45.into(), vec![30.into(), 60.into(), 90.into()]),
                ("free_delivery_from_cents", 4_900.into(), vec![3_900.into(), 5_900.into()]),
            ],
        ),
        Role::Payments => (
            "receipts",
            vec![
                ("receipt_footer", "Thank you".into(), vec!["Thank you for your order".into()]),
                ("fraud_rules_refresh_minutes", 15.into(), vec![10.into(), 30.into()]),
            ],
        ),
        Role::Store => (
            "snapshots",
            vec![
                ("snapshots_kept", 3.into(), vec![5.into(), 7.into()]),
                ("snapshot_interval_minutes", 60.into(), vec![45.into(), 90.into()]),
            ],
        ),
    };
    let harmless = entries.iter().map(|(key, _, others)| (path_of(name, key), others.clone())).collect();
    let plain: Vec<(&str, Value)> = entries.into_iter().map(|(key, value, _)| (key, value)).collect();
    (section(name, &plain), harmless)
}

fn request_timeout_ms(role: Role) -> Option<u64> {
    match role {
        Role::Gateway | Role::Payments => Some(10_000),
        Role::Checkout => Some(2_500),
        Role::Store => None,
    }
}

fn pool(dice: &mut Dice, sections: &mut Vec<Section>, top: &mut Section, keys: &mut Keys) {
    let (name, key) = dice.pick(&POOL_NAMES).copied().unwrap_or(("pool", "max"));
    let size = dice.pick(&POOL_SIZES).copied().unwrap_or(20);
    let acquire = dice.pick(&ACQUIRE_NAMES).copied().unwrap_or("acquire_timeout_ms");
    let mut entries = vec![
        entry(key, size.into()),
        entry(acquire, ACQUIRE_TIMEOUT_MS.into()),
        entry("max_lifetime_seconds", 1_800.into()),
    ];
    if dice.chance(50) {
        entries.push(entry("validate_on_borrow_ms", 0.into()));
    }
    dice.shuffle(&mut entries);
    keys.pool_size = Some(path_of(name, key));
    keys.acquire_timeout_ms = Some(path_of(name, acquire));
    if name.is_empty() {
        top.entries.extend(entries);
    } else {
        sections.push(Section { name: name.to_owned(), remark: Some("Connections to the store.".to_owned()), entries });
    }
}

/// Comments here and there, so that the same key stands on another line in another shop.
fn decorate(dice: &mut Dice, sections: &mut [Section]) {
    for section in sections {
        for entry in &mut section.entries {
            if dice.chance(25) {
                entry.remark = dice.pick(&REMARKS).map(|&text| text.to_owned());
            }
        }
    }
}
