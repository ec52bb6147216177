//! What a seed decides before anything runs: which setting changes, where it stands, when, and which harmless change is
//! made beside it. A plan touches nothing; [`crate::demo::shop`] carries it out.

use std::time::Duration;

use serde_json::Value;

use crate::demo::dice::Dice;
use crate::demo::fault::Fault;
use crate::demo::part::spec::Role;
use crate::demo::scenery::{ConfigFile, files};

/// Who commits to the repository of the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Author {
    /// The full name.
    pub name: &'static str,
    /// The address.
    pub email: &'static str,
}

const AUTHORS: [Author; 6] = [
    Author { name: "Mira Castell", email: "mira@shop.example" },
    Author { name: "Jonas Weber", email: "jonas@shop.example" },
    Author { name: "Priya Nair", email: "priya@shop.example" },
    Author { name: "Tomas Ibarra", email: "tomas@shop.example" },
    Author { name: "Wen Li", email: "wen@shop.example" },
    Author { name: "Ada Okafor", email: "ada@shop.example" },
];

/// What people write above such a change; none of it says what the change does.
const MESSAGES: [&str; 5] = [
    "{}: align settings with the other services",
    "{}: settings for the new instance size",
    "Review settings of {}",
    "{}: tidy up settings",
    "{}: apply results of the capacity review",
];
const DECOY_MESSAGES: [&str; 4] = [
    "{}: small settings change",
    "Update settings of {}",
    "{}: as agreed in the weekly",
    "{}: settings for the spring sale",
];

/// Whether a change is committed after the file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// It is.
    Made,
    /// Somebody edited the file in place and left it so.
    LeftOut,
}

/// A change of one value in one file.
#[derive(Debug, Clone)]
pub struct Change {
    /// Whose file it is.
    pub role: Role,
    /// The file, as a path in the repository.
    pub file: String,
    /// The key as it stands on its line.
    pub key: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The value that stood there.
    pub from: Value,
    /// The value that stands there afterwards.
    pub to: Value,
    /// The whole file afterwards.
    pub text: String,
    /// Who makes it.
    pub author: Author,
    /// What the commit says.
    pub message: String,
    /// Whether there is a commit.
    pub commit: Commit,
}

/// When the decoy change is made, seen from the onset of the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecoyTime {
    /// So long before it.
    Before(Duration),
    /// So long after it.
    After(Duration),
}

/// Everything that a seed decides.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What breaks.
    pub fault: Fault,
    /// The configuration files.
    pub files: Vec<ConfigFile>,
    /// The change that breaks the shop, where a change does.
    pub change: Option<Change>,
    /// A change that breaks nothing.
    pub decoy: Change,
    /// When the decoy is made.
    pub decoy_time: DecoyTime,
    /// How long orders go well before the fault.
    pub onset: Duration,
    /// What the card processor takes once it is slow, in milliseconds: from, to.
    pub slow_processor_ms: (u64, u64),
    /// How long the replaced certificate is valid.
    pub certificate_left: Duration,
    /// How long ago the files were first committed, and last changed.
    pub history: (Duration, Duration),
}

impl Plan {
    /// The plan of a seed. `None` only if there were no files at all.
    #[must_use]
    pub fn new(seed: u64, fault: Fault) -> Option<Self> {
        let mut dice = Dice::new(seed, fault.as_str());
        let files = files(seed);
        let with_pool: Vec<&ConfigFile> = files.iter().filter(|file| file.keys.pool_size.is_some()).collect();
        let (change, broken) = match fault {
            Fault::Pool => {
                let change = dice.pick(&with_pool).and_then(|file| cut(&mut dice, file));
                let role = change.as_ref().map(|change| change.role);
                (change, role)
            }
            Fault::Upstream | Fault::Certificate => (None, Some(Role::Payments)),
            Fault::Disk => (None, Some(Role::Store)),
            Fault::None => (None, None),
        };
        let elsewhere: Vec<&ConfigFile> = files.iter().filter(|file| Some(file.role) != broken).collect();
        let decoy = dice.pick(&elsewhere).and_then(|file| harmless(&mut dice, file))?;
        let decoy_time = if dice.chance(50) {
            DecoyTime::Before(Duration::from_millis(dice.between(400, 1_800)))
        } else {
            DecoyTime::After(Duration::from_millis(dice.between(300, 1_500)))
        };
        let low = dice.between(1_600, 1_900);
        Some(Self {
            fault,
            change,
            decoy,
            decoy_time,
            onset: Duration::from_millis(dice.between(4_000, 4_900)),
            slow_processor_ms: (low, low + dice.between(1_000, 1_300)),
            certificate_left: Duration::from_secs(dice.between(5 * 3_600, 20 * 3_600)),
            history: (days(dice.between(40, 90)), days(dice.between(3, 20))),
            files,
        })
    }

    /// The service that the fault is in.
    #[must_use]
    pub fn broken(&self) -> Option<Role> {
        match self.fault {
            Fault::Pool => self.change.as_ref().map(|change| change.role),
            Fault::Upstream | Fault::Certificate => Some(Role::Payments),
            Fault::Disk => Some(Role::Store),
            Fault::None => None,
        }
    }
}

fn days(count: u64) -> Duration {
    Duration::from_hours(count * 24)
}

/// Cuts the pool of a service to one or two connections.
fn cut(dice: &mut Dice, file: &ConfigFile) -> Option<Change> {
    let path = file.keys.pool_size.as_deref()?;
    let size = dice.between(1, 2);
    change(dice, file, path, &size.into(), &MESSAGES)
}

fn harmless(dice: &mut Dice, file: &ConfigFile) -> Option<Change> {
    let (path, values) = dice.pick(&file.harmless)?.clone();
    let value = dice.pick(&values)?.clone();
    change(dice, file, &path, &value, &DECOY_MESSAGES)
}

fn change(dice: &mut Dice, file: &ConfigFile, path: &str, to: &Value, messages: &[&str]) -> Option<Change> {
    let after = file.document.with(path, to);
    Some(Change {
        role: file.role,
        file: file.path.clone(),
        key: after.written_key(path)?,
        line: after.line_of(path)?,
        from: file.document.value(path)?.clone(),
        to: to.clone(),
        text: after.text(),
        author: dice.pick(&AUTHORS).copied()?,
        message: dice.pick(messages)?.replace("{}", file.role.as_str()),
        commit: if dice.chance(20) { Commit::LeftOut } else { Commit::Made },
    })
}

#[cfg(test)]
mod tests;
