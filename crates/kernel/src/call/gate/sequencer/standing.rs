//! Who may do what about an approval, asked of the directory and of policy each time.

use jiff::Timestamp;

use crate::call::gate::approval::Approval;
use crate::call::gate::objection::Objection;
use crate::call::gate::vote::{Claimant, Proof};
use crate::domain::decision::{Action, Tier};
use crate::domain::run::Channel;
use crate::people::directory::{DirectoryError, Freshness};
use crate::policy::standing::{About, Contributor, StandingQuestion, Verb};

use super::Sequencer;

/// A person who may do what they want to.
pub(super) struct Eligible {
    pub(super) groups: Vec<String>,
}

impl Sequencer {
    /// Whether a person may do this; about one write, or about all of them.
    pub(super) async fn eligible(
        &self,
        by: &Claimant,
        verb: Verb,
        about: Option<&Approval>,
        freshness: Freshness,
        now: Timestamp,
    ) -> Result<Eligible, Objection> {
        let person = &by.person;
        let standing = self.directory.standing(person, freshness).await.map_err(|error| match error {
            DirectoryError::Nobody(person) => Objection::NoSuchPerson(person),
            DirectoryError::Unavailable(why) => Objection::DirectoryFailed(why),
        })?;
        if !standing.human {
            return Err(Objection::NotHuman(person.clone()));
        }
        if !standing.active {
            return Err(Objection::NotActive(person.clone()));
        }
        let had_part = about.is_some_and(|approval| approval.has_part(person));
        if verb == Verb::Approve && had_part && about.is_some_and(|approval| approval.plan.tier == Tier::High) {
            return Err(Objection::SelfApproval(person.clone()));
        }
        let ruling = self.rules().policy.may(&StandingQuestion {
            verb,
            person,
            groups: &standing.groups,
            about: about.map(|approval| About {
                tool: &approval.plan.tool,
                target: &approval.plan.target,
                tier: approval.plan.tier,
                requester: &approval.plan.run.requester.person,
                contributor: if had_part { Contributor::Yes } else { Contributor::No },
            }),
            channel: channel_of(&by.proof),
            now,
        });
        match ruling.action {
            Action::Allow => Ok(Eligible { groups: standing.groups }),
            Action::Deny | Action::Ask(_) => {
                let why = format!("{} (decided by {})", ruling.reason, ruling.policy_ids.join(", "));
                Err(Objection::NotEligible { person: person.clone(), why })
            }
        }
    }
}

/// Where a person who proved themselves like this says it.
fn channel_of(proof: &Proof) -> Channel {
    match proof {
        Proof::Uid(_) => Channel::Terminal,
        Proof::Token(_) => Channel::Command,
        Proof::Slack { .. } => Channel::Slack,
        Proof::Demo => Channel::Demo,
    }
}
