//! What must lie ready before a service starts: its configuration file with a history, and what it is told.

use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::demo::part::spec::{DataDir, Role, Spec, Upstreams};
use crate::demo::plan::{Author, Plan};
use crate::demo::repository::{Repository, RepositoryError};
use crate::demo::shop::catalog::{Places, overrides, pid_file, scheme};
use crate::demo::shop::files::{make_dir, replace, set_age, write};
use crate::demo::shop::{QUOTA_BYTES, ShopError};

/// The base URL of a service that listens already.
pub(super) fn base(places: &Places, role: Role) -> Option<String> {
    places.ports.get(&role).map(|port| format!("{}://127.0.0.1:{port}", scheme(role)))
}

/// What the service of this role is told.
pub(super) fn spec(
    role: Role,
    plan: &Plan,
    places: &Places,
    processor: &str,
    data: &Path,
    certificate: &Path,
) -> Option<Spec> {
    let file = plan.files.iter().find(|file| file.role == role)?;
    let call = |other: Role| role.depends_on().contains(&other).then(|| base(places, other)).flatten();
    Some(Spec {
        role,
        config: places.config.join(&file.path),
        keys: file.keys.clone(),
        overrides: places.overrides.join(overrides(role)),
        pid_file: pid_file(&places.run, role),
        port: None,
        log: places.logs.join(role.as_str()).join("app.log"),
        upstreams: Upstreams {
            checkout: call(Role::Checkout),
            payments: call(Role::Payments),
            store: call(Role::Store),
            processor: (role == Role::Payments).then(|| processor.to_owned()),
        },
        ca_file: places.ca_file.clone(),
        certificate: (scheme(role) == "https").then(|| certificate.to_owned()),
        data: (role == Role::Store).then(|| DataDir { dir: data.to_owned(), quota_bytes: QUOTA_BYTES }),
    })
}

/// Writes the configuration files with a history: a first commit long ago, and a later one for each file.
pub(super) async fn furnish(
    config: &Path,
    private: &Path,
    plan: &Plan,
    notes: &mut Vec<String>,
) -> Result<Option<Repository>, ShopError> {
    const OLD: Author = Author { name: "Ada Okafor", email: "ada@shop.example" };
    const LATER: Author = Author { name: "Jonas Weber", email: "jonas@shop.example" };
    let ago = |time: Duration| SystemTime::now().checked_sub(time).unwrap_or_else(SystemTime::now);
    let (first, second) = (ago(plan.history.0), ago(plan.history.1));
    let stamp = |time: SystemTime| Timestamp::try_from(time).unwrap_or_else(|_| Timestamp::now());
    let repository = match Repository::create(config).await {
        Ok(repository) => Some(repository),
        Err(RepositoryError::NoGit) => {
            notes.push(RepositoryError::NoGit.to_string());
            None
        }
        Err(other) => return Err(other.into()),
    };
    write(
        &config.join("README.md"),
        b"# Configuration of the shop\n\nOne directory a service. A service reads its file when it starts, and again when a deploy tells it to.\n",
    )?;
    set_age(&config.join("README.md"), first)?;
    let mut paths = vec!["README.md"];
    for file in &plan.files {
        let path = config.join(&file.path);
        if let Some(dir) = path.parent() {
            make_dir(dir)?;
        }
        let earlier = file.document.with("server.keepalive_timeout_ms", &30_000.into());
        write(&path, earlier.text().as_bytes())?;
        paths.push(&file.path);
    }
    if let Some(repository) = &repository {
        repository.commit(&paths, OLD, "Configuration of all services", stamp(first)).await?;
    }
    for file in &plan.files {
        let path = config.join(&file.path);
        replace(private, &path, file.document.text().as_bytes())?;
        set_age(&path, second)?;
    }
    if let Some(repository) = &repository {
        let message = "Keep idle connections for a minute everywhere";
        paths.retain(|path| *path != "README.md");
        repository.commit(&paths, LATER, message, stamp(second)).await?;
    }
    Ok(repository)
}
