//! Who asks about what, as Cedar sees it: the run or the person, the requester, the target with its parents.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use cedar_policy::{Entities, Entity, EntityId, EntityTypeName, EntityUid, RestrictedExpression};

use crate::domain::run::{Run, Trigger};
use crate::domain::target::{Target, TargetKind};

use super::standing::StandingQuestion;
use super::{Question, schema};

/// Deeper paths than these have no parents beyond; a policy on a parent then says nothing, and nothing is permitted.
const MAX_DEPTH: usize = 64;

/// Who asks about what. The entities are made here and nowhere else, each with the attributes that the schema gives it, so
/// having Cedar check them, with the actions of all tools beside them, would only cost: twice what deciding does.
pub(super) struct Scene {
    pub(super) principal: EntityUid,
    pub(super) resource: EntityUid,
    pub(super) entities: Entities,
}

/// The scene of a call; what does not fit is told, and then the answer is "no".
pub(super) fn of_call(question: &Question<'_>) -> Result<Scene, String> {
    let principal = uid("Run", question.run.investigation.as_str())?;
    let action = uid("Action", question.tool.name.as_str())?;
    let resource = uid(schema::resource_type(question.target.kind), &resource_id(question.target)?)?;
    let mut known = Known::default();
    known.add(&action, Attributes::new(), HashSet::from([uid("Action", question.tool.risk.as_str())?]))?;
    run(question.run, &principal, &mut known)?;
    target(question.target, &resource, &mut known)?;
    known.scene(principal, resource)
}

/// The scene of a person.
pub(super) fn of_person(question: &StandingQuestion<'_>) -> Result<Scene, String> {
    let principal = uid("Person", question.person.as_str())?;
    let mut known = Known::default();
    known.add(&principal, Attributes::new(), groups(question.groups)?)?;
    let resource = match &question.about {
        Some(about) => {
            let resource = uid(schema::resource_type(about.target.kind), &resource_id(about.target)?)?;
            target(about.target, &resource, &mut known)?;
            resource
        }
        None => uid("System", schema::SYSTEM)?,
    };
    known.scene(principal, resource)
}

pub(super) fn told(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    // Cedar quotes what it can't take. Whoever shows it masks it, and only then cuts it.
    text
}

/// The entity types, parsed once: parsing the names of one question takes longer than deciding it.
static TYPES: LazyLock<HashMap<&'static str, EntityTypeName>> = LazyLock::new(|| {
    let names = schema::ENTITY_TYPES.into_iter().chain(schema::KINDS.map(schema::resource_type));
    names.filter_map(|name| Some((name, name.parse().ok()?))).collect()
});

pub(super) fn uid(kind: &'static str, id: &str) -> Result<EntityUid, String> {
    let kind = TYPES.get(kind).ok_or_else(|| format!("`{kind}` is no entity type"))?;
    Ok(EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id)))
}

type Attributes = HashMap<String, RestrictedExpression>;

#[derive(Default)]
struct Known(HashMap<EntityUid, Entity>);

impl Known {
    fn add(&mut self, uid: &EntityUid, attributes: Attributes, parents: HashSet<EntityUid>) -> Result<(), String> {
        let entity = Entity::new(uid.clone(), attributes, parents).map_err(told)?;
        self.0.insert(uid.clone(), entity);
        Ok(())
    }

    fn scene(self, principal: EntityUid, resource: EntityUid) -> Result<Scene, String> {
        let entities = Entities::from_entities(self.0.into_values(), None).map_err(told)?;
        Ok(Scene { principal, resource, entities })
    }
}

fn groups(groups: &[String]) -> Result<HashSet<EntityUid>, String> {
    groups.iter().map(|group| uid("Group", group)).collect()
}

fn run(run: &Run, principal: &EntityUid, known: &mut Known) -> Result<(), String> {
    let person = uid("Person", run.requester.person.as_str())?;
    known.add(&person, Attributes::new(), groups(&run.requester.groups)?)?;
    let [asked, alerted] = schema::TRIGGERS;
    let trigger = match run.trigger {
        Trigger::Question { .. } => asked,
        Trigger::Alert { .. } => alerted,
    };
    let mut attributes = Attributes::from([
        ("requester".to_owned(), RestrictedExpression::new_entity_uid(person)),
        ("trigger".to_owned(), RestrictedExpression::new_entity_uid(uid("Trigger", trigger)?)),
    ]);
    if let Some(service) = &run.service {
        let service = uid("Service", service.as_str())?;
        attributes.insert("service".to_owned(), RestrictedExpression::new_entity_uid(service));
    }
    known.add(principal, attributes, HashSet::from([uid("Role", run.role.as_str())?]))
}

/// A path is named by its source and itself, since two roots may hold the same path.
fn resource_id(target: &Target) -> Result<String, String> {
    if target.kind != TargetKind::Path {
        return Ok(target.name.clone());
    }
    let mut id = target.source.to_string();
    for part in path_parts(target) {
        if part == ".." {
            return Err("a path that goes up is no target".to_owned());
        }
        id.push('/');
        id.push_str(part);
    }
    Ok(id)
}

/// The parts of a path below its source; the name may bear the source before a colon, `shop:config/pool.toml`.
fn path_parts(target: &Target) -> impl Iterator<Item = &str> {
    let bare = target.name.strip_prefix(target.source.as_str()).and_then(|rest| rest.strip_prefix(':'));
    bare.unwrap_or(&target.name).split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn target(target: &Target, resource: &EntityUid, known: &mut Known) -> Result<(), String> {
    let source = uid("Source", target.source.as_str())?;
    let mut parents = HashSet::from([source]);
    let environment = target.environment.as_ref().map(|it| uid("Environment", it.as_str())).transpose()?;
    parents.extend(environment.clone());
    if let Some(service) = &target.service {
        parents.insert(uid("Service", service.as_str())?);
    }
    if target.kind == TargetKind::Path {
        let mut id = target.source.to_string();
        parents.insert(uid("Path", &id)?);
        for part in path_parts(target).take(MAX_DEPTH) {
            id = format!("{id}/{part}");
            parents.insert(uid("Path", &id)?);
        }
    }
    parents.remove(resource);
    let mut attributes = Attributes::from([("name".to_owned(), RestrictedExpression::new_string(target.name.clone()))]);
    if let Some(environment) = environment {
        attributes.insert("environment".to_owned(), RestrictedExpression::new_entity_uid(environment));
    }
    if let Some(owner) = &target.owner {
        attributes.insert("owner".to_owned(), RestrictedExpression::new_entity_uid(uid("Person", owner.as_str())?));
    }
    known.add(resource, attributes, parents)
}
