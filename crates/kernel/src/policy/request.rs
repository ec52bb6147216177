//! What is asked, as Cedar sees it: the action and its context. Cedar checks each against the schema.

use cedar_policy::{Context, EntityUid, Request, RestrictedExpression};
use serde_json::Value;

use crate::domain::run::{Channel, Writes};
use crate::domain::time;
use crate::domain::tool::ArgType;

use super::entities::{Scene, told, uid};
use super::schema::Suffices;
use super::standing::{About, Contributor, StandingQuestion};
use super::{Policy, Question};

type Pairs = Vec<(String, RestrictedExpression)>;

/// May the tool be called?
pub(super) fn permitted(policy: &Policy, question: &Question<'_>, scene: &Scene) -> Result<Request, String> {
    let action = uid("Action", question.tool.name.as_str())?;
    let mut pairs = place_and_time(question.run.channel, question.now)?;
    let allow_writes = match question.run.writes {
        Writes::Allowed => true,
        Writes::Off => false,
    };
    pairs.push(("allow_writes".to_owned(), RestrictedExpression::new_bool(allow_writes)));
    pairs.push(("args".to_owned(), arguments(question)?));
    request(policy, scene, action, pairs)
}

/// Does this suffice?
pub(super) fn suffices(
    policy: &Policy,
    question: &Question<'_>,
    suffices: Suffices,
    scene: &Scene,
) -> Result<Request, String> {
    let action = uid("Action", suffices.as_str())?;
    let tool = question.tool;
    let mut pairs = place_and_time(question.run.channel, question.now)?;
    pairs.push(("tool".to_owned(), entity("Tool", tool.name.as_str())?));
    pairs.push(("risk".to_owned(), entity("Risk", tool.risk.as_str())?));
    let args = RestrictedExpression::new_record([(tool.name.to_string(), arguments(question)?)]);
    pairs.push(("args".to_owned(), args.map_err(told)?));
    if let Suffices::One(tier) = suffices {
        pairs.push(("tier".to_owned(), entity("Tier", tier.as_str())?));
    }
    request(policy, scene, action, pairs)
}

/// May a person do this?
pub(super) fn standing(policy: &Policy, question: &StandingQuestion<'_>, scene: &Scene) -> Result<Request, String> {
    let action = uid("Action", question.verb.as_str())?;
    let mut pairs = place_and_time(question.channel, question.now)?;
    if let Some(About { tool, target: _, tier, requester, contributor }) = question.about {
        let contributor = match contributor {
            Contributor::Yes => true,
            Contributor::No => false,
        };
        pairs.push(("tool".to_owned(), entity("Tool", tool.as_str())?));
        pairs.push(("tier".to_owned(), entity("Tier", tier.as_str())?));
        pairs.push(("contributor".to_owned(), RestrictedExpression::new_bool(contributor)));
        pairs.push(("is_requester".to_owned(), RestrictedExpression::new_bool(requester == question.person)));
    }
    request(policy, scene, action, pairs)
}

fn place_and_time(channel: Channel, now: jiff::Timestamp) -> Result<Pairs, String> {
    let now = RestrictedExpression::new_long(now.as_second());
    Ok(vec![("channel".to_owned(), entity("Channel", channel.as_str())?), ("now".to_owned(), now)])
}

fn request(policy: &Policy, scene: &Scene, action: EntityUid, pairs: Pairs) -> Result<Request, String> {
    let context = Context::from_pairs(pairs).map_err(told)?;
    let (principal, resource) = (scene.principal.clone(), scene.resource.clone());
    Request::new(principal, action, resource, context, Some(&policy.schema)).map_err(told)
}

fn entity(kind: &'static str, id: &str) -> Result<RestrictedExpression, String> {
    Ok(RestrictedExpression::new_entity_uid(uid(kind, id)?))
}

fn arguments(question: &Question<'_>) -> Result<RestrictedExpression, String> {
    let mut args = Vec::new();
    for (name, spec) in &question.tool.args {
        let Some(value) = question.args.get(name) else { continue };
        let value = argument(spec.kind, value).ok_or_else(|| format!("the argument `{name}` has a wrong form"))?;
        args.push((name.clone(), value));
    }
    RestrictedExpression::new_record(args).map_err(told)
}

fn argument(kind: ArgType, value: &Value) -> Option<RestrictedExpression> {
    Some(match kind {
        ArgType::Int => RestrictedExpression::new_long(value.as_i64()?),
        ArgType::Bool => RestrictedExpression::new_bool(value.as_bool()?),
        ArgType::Time => {
            let time: jiff::Timestamp = value.as_str()?.parse().ok()?;
            RestrictedExpression::new_long(time.as_second())
        }
        ArgType::Duration => RestrictedExpression::new_long(time::parse_duration(value.as_str()?).ok()?.as_secs()),
        ArgType::Service
        | ArgType::Path
        | ArgType::Label
        | ArgType::Regex
        | ArgType::Enum
        | ArgType::Text
        | ArgType::Query
        | ArgType::Evidence => RestrictedExpression::new_string(value.as_str()?.to_owned()),
        ArgType::Words => {
            let words = value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
            let words: Option<Vec<String>> = words.collect();
            RestrictedExpression::new_set(words?.into_iter().map(RestrictedExpression::new_string))
        }
    })
}
