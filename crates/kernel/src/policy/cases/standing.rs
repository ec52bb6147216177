//! A case of a person: what policy must say when somebody wants to approve a write, take it back, or stop them all.

use serde::Deserialize;

use crate::domain::decision::{Action, Tier};
use crate::domain::name::{PersonId, ToolName};
use crate::domain::run::Channel;
use crate::policy::Policy;
use crate::policy::standing::{About, Contributor, StandingQuestion, Verb};

use super::{Resource, judge, now};

/// `[[standing]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Standing {
    pub(super) name: String,
    verb: Verb,
    person: PersonId,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    channel: Option<Channel>,
    #[serde(default)]
    tool: Option<ToolName>,
    #[serde(default)]
    target: Option<Resource>,
    #[serde(default)]
    tier: Option<Tier>,
    #[serde(default)]
    contributor: bool,
    #[serde(default)]
    requester: Option<PersonId>,
    expect: Expect,
    #[serde(default)]
    by: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Expect {
    Allow,
    Deny,
}

impl Expect {
    fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

impl Standing {
    /// Asks, and tells what came out otherwise.
    pub(super) fn ask(&self, policy: &Policy) -> Result<(), String> {
        let target = self.target.as_ref().map(Resource::resolved).transpose()?;
        let someone: PersonId = "someone".parse().map_err(|error| format!("{error}"))?;
        let about = match (&self.tool, &target, self.tier) {
            (Some(tool), Some(target), Some(tier)) => Some(About {
                tool,
                target,
                tier,
                requester: self.requester.as_ref().unwrap_or(&someone),
                contributor: if self.contributor { Contributor::Yes } else { Contributor::No },
            }),
            (None, None, None) => None,
            _ => return Err("`tool`, `target` and `tier` say together which write it is about".to_owned()),
        };
        let channel = self.channel.unwrap_or(Channel::Terminal);
        let (verb, person, groups) = (self.verb, &self.person, &self.groups);
        let ruling = policy.may(&StandingQuestion { verb, person, groups, about, channel, now: now() });
        let came = match ruling.action {
            Action::Allow => Expect::Allow,
            Action::Ask(_) | Action::Deny => Expect::Deny,
        };
        judge(self.expect.as_str(), came.as_str(), self.by.as_deref(), &ruling)
    }
}
