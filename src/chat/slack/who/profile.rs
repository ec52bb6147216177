//! What Slack says of users and user groups, remembered for a minute at most and only for whoever is content with that.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use warrant_kernel::people::directory::Freshness;

use crate::chat::slack::client::Api;
use crate::chat::slack::client::error::CallError;

/// How long an answer is remembered.
const KEPT: Duration = Duration::from_mins(1);
/// How many are remembered.
const MOST: usize = 1_024;
/// How many workspaces of a user are read.
const MOST_TEAMS: usize = 500;
/// How many members of a user group are read.
const MOST_MEMBERS: usize = 10_000;

/// What an account is, by what counts most against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    Member,
    Deleted,
    Stranger,
    Bot,
    Guest,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    /// The workspaces that the user is in, where Slack says more than the one they are of.
    pub(super) teams: Vec<String>,
    /// The organisation.
    pub(super) enterprise: Option<String>,
    pub(super) account: Account,
}

struct Memory<V>(Mutex<HashMap<String, (Instant, V)>>);

impl<V: Clone> Memory<V> {
    fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    fn get(&self, key: &str) -> Option<V> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memory.get(key).filter(|(at, _)| at.elapsed() < KEPT).map(|(_, value)| value.clone())
    }

    fn put(&self, key: &str, asked: Instant, value: V) {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() >= MOST {
            memory.retain(|_, (at, _)| at.elapsed() < KEPT);
        }
        if memory.len() < MOST {
            memory.insert(key.to_owned(), (asked, value));
        }
    }

    fn forget(&self, key: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// Asks Slack, and remembers.
pub(super) struct Profiles {
    api: Arc<dyn Api>,
    users: Memory<Profile>,
    groups: Memory<Arc<BTreeSet<String>>>,
}

impl Profiles {
    pub(super) fn new(api: Arc<dyn Api>) -> Self {
        Self { api, users: Memory::new(), groups: Memory::new() }
    }

    pub(super) async fn user(&self, user: &str, freshness: Freshness) -> Result<Profile, CallError> {
        if let (Freshness::Cached, Some(profile)) = (freshness, self.users.get(user)) {
            return Ok(profile);
        }
        // What was true when it was asked counts from then on, and what can't be found out is not what it was.
        let asked = Instant::now();
        self.users.forget(user);
        let answer = self.api.get("users.info", &[("user", user)]).await?;
        let profile = profile(&answer, user)?;
        self.users.put(user, asked, profile.clone());
        Ok(profile)
    }

    pub(super) async fn members(&self, group: &str, freshness: Freshness) -> Result<Arc<BTreeSet<String>>, CallError> {
        if let (Freshness::Cached, Some(members)) = (freshness, self.groups.get(group)) {
            return Ok(members);
        }
        let asked = Instant::now();
        self.groups.forget(group);
        let answer = self.api.get("usergroups.users.list", &[("usergroup", group)]).await?;
        let users = answer.get("users").and_then(Value::as_array).ok_or_else(|| lacks("users"))?;
        let members = users.iter().filter_map(Value::as_str).take(MOST_MEMBERS).map(str::to_owned).collect();
        let members: Arc<BTreeSet<String>> = Arc::new(members);
        self.groups.put(group, asked, Arc::clone(&members));
        Ok(members)
    }
}

fn lacks(key: &str) -> CallError {
    CallError::Transport(format!("its answer has no `{key}`"))
}

/// A user who is not said to be a full member is none.
fn profile(answer: &Value, asked: &str) -> Result<Profile, CallError> {
    let user = answer.get("user").ok_or_else(|| lacks("user"))?;
    if user.get("id").and_then(Value::as_str) != Some(asked) {
        return Err(CallError::Transport("its answer is of another user".to_owned()));
    }
    let team = user.get("team_id").and_then(Value::as_str).ok_or_else(|| lacks("team_id"))?;
    let flag = |key: &str| user.get(key).and_then(Value::as_bool);
    let deleted = flag("deleted").unwrap_or(false);
    // Slack leaves these out of a deleted user's profile and of nobody else's.
    let told = |key: &str| flag(key).or(deleted.then_some(false)).ok_or_else(|| lacks(key));
    let guest = told("is_restricted")? || told("is_ultra_restricted")?;
    let account = match (deleted, flag("is_stranger").unwrap_or(false), told("is_bot")? || asked == "USLACKBOT", guest)
    {
        (true, ..) => Account::Deleted,
        (_, true, ..) => Account::Stranger,
        (.., true, _) => Account::Bot,
        (.., true) => Account::Guest,
        (false, false, false, false) => Account::Member,
    };
    // In an organisation a user is of one workspace and in several.
    let several = user.pointer("/enterprise_user/teams").and_then(Value::as_array);
    let several = several.into_iter().flatten().filter_map(Value::as_str).take(MOST_TEAMS);
    let enterprise = user.pointer("/enterprise_user/enterprise_id").and_then(Value::as_str);
    Ok(Profile {
        teams: std::iter::once(team).chain(several).map(str::to_owned).collect(),
        enterprise: enterprise.map(str::to_owned),
        account,
    })
}
