//! `catalog-info.yaml` of Backstage (its descriptor format: kind, metadata, spec).
//!
//! Components and resources become services. Groups and users say who owns them. All other kinds are left out.

use std::collections::{BTreeMap, BTreeSet};

use warrant_kernel::domain::name::{Environment, PersonId, ServiceName};
use warrant_kernel::domain::visible::is_plain;

use super::tree::{Node, Unread, documents};
use super::{Imported, MOST, unfit};
use crate::catalog::link::Link;
use crate::catalog::service::Service;

/// Longest description that is taken over, in characters.
const MOST_WORDS: usize = 500;

/// Longest name of a group, in characters.
const MOST_NAME: usize = 128;

/// Most links of one service.
const MOST_LINKS: usize = 20;

/// A file, with the name under which people know it.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// Why nothing was taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRead {
    /// A file can't be read.
    #[error("`{file}`: {why}")]
    File {
        /// The file.
        file: String,
        /// Why.
        why: Unread,
    },
    /// A document is no entity.
    #[error("`{file}`, document {number}: {why}")]
    NoEntity {
        /// The file.
        file: String,
        /// Which document of it.
        number: usize,
        /// Why.
        why: &'static str,
    },
    /// An entity stands twice.
    #[error("`{file}`, document {number}: `{entity}` stands elsewhere too; take one of the two out")]
    Twice {
        /// The file.
        file: String,
        /// Which document of it.
        number: usize,
        /// The entity.
        entity: Key,
    },
}

/// What an entity is called: `component:default/checkout`. Letters of either case are the same there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    kind: String,
    namespace: String,
    name: String,
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}/{}", self.kind, self.namespace, self.name)
    }
}

impl Key {
    fn of(kind: &str, namespace: &str, name: &str) -> Self {
        let lower = str::to_lowercase;
        Self { kind: lower(kind), namespace: lower(namespace), name: lower(name) }
    }

    /// A reference, `[kind:][namespace/]name`, with what stands in for what it leaves out.
    fn refer(text: &str, kind: &str, namespace: &str) -> Self {
        let (kind, rest) = text.split_once(':').unwrap_or((kind, text));
        let (namespace, name) = rest.split_once('/').unwrap_or((namespace, rest));
        Self::of(kind, namespace, name)
    }
}

struct Entity {
    key: Key,
    /// As it is written, beneath its namespace unless that is the default one.
    name: String,
    node: Node,
}

/// Takes over the entities of files. `known` are services that there are already; what is taken over runs in `environment`.
///
/// # Errors
/// All that is wrong; then nothing is taken over.
pub fn services(
    files: &[File<'_>],
    known: &BTreeSet<ServiceName>,
    environment: Option<&Environment>,
) -> Result<Imported, Vec<NotRead>> {
    let entities = entities(files)?;
    let mut imported = Imported::default();
    let mut names: BTreeMap<&Key, ServiceName> = BTreeMap::new();
    for entity in &entities {
        match named(entity, known, &names) {
            Ok(name) => drop(names.insert(&entity.key, name)),
            Err(why) => imported.leave_out(entity.key.to_string(), why),
        }
    }
    for entity in &entities {
        let Some(name) = names.get(&entity.key) else { continue };
        let mut taking = Taking { entity, names: &names, known, imported: &mut imported };
        let mut service = taking.service();
        service.environment = environment.cloned();
        imported.services.insert(name.clone(), service);
    }
    Ok(imported)
}

fn entities(files: &[File<'_>]) -> Result<Vec<Entity>, Vec<NotRead>> {
    let (mut entities, mut problems, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for File { name, text } in files {
        let file = || (*name).to_owned();
        let nodes = match documents(text) {
            Ok(nodes) => nodes,
            Err(why) => {
                problems.push(NotRead::File { file: file(), why });
                continue;
            }
        };
        for (index, node) in nodes.into_iter().enumerate() {
            let number = index + 1;
            match entity(node) {
                Err(why) => problems.push(NotRead::NoEntity { file: file(), number, why }),
                Ok(entity) if !seen.insert(entity.key.clone()) => {
                    problems.push(NotRead::Twice { file: file(), number, entity: entity.key });
                }
                Ok(entity) => entities.push(entity),
            }
        }
    }
    if problems.is_empty() { Ok(entities) } else { Err(problems) }
}

fn entity(node: Node) -> Result<Entity, &'static str> {
    let is_backstage = node.text("apiVersion").is_some_and(|version| version.starts_with("backstage.io/"));
    if !is_backstage {
        return Err("no entity of Backstage: `apiVersion` must begin with `backstage.io/`");
    }
    let kind = node.text("kind").ok_or("it has no `kind`")?;
    let metadata = node.get("metadata").ok_or("it has no `metadata`")?;
    let name = metadata.text("name").ok_or("it has no `metadata.name`")?;
    let namespace = metadata.text("namespace").unwrap_or("default");
    let key = Key::of(kind, namespace, name);
    let name = if key.namespace == "default" { name.to_owned() } else { format!("{namespace}/{name}") };
    Ok(Entity { key, name, node })
}

/// The name of the service that an entity becomes, or why it becomes none.
fn named(
    entity: &Entity,
    known: &BTreeSet<ServiceName>,
    names: &BTreeMap<&Key, ServiceName>,
) -> Result<ServiceName, String> {
    if !matches!(entity.key.kind.as_str(), "component" | "resource") {
        return Err("only components and resources become services".to_owned());
    }
    let name: ServiceName = entity.name.parse().map_err(|error| unfit(&error))?;
    if known.contains(&name) {
        return Err("the config has this service already; its own words stay".to_owned());
    }
    if let Some((other, _)) = names.iter().find(|(_, taken)| **taken == name) {
        return Err(format!("`{other}` is called the same, and that one counts; rename one of the two"));
    }
    if names.len() >= MOST {
        return Err(format!("{MOST} services are taken over at a time; import fewer files at once"));
    }
    Ok(name)
}

/// One entity that becomes a service.
struct Taking<'a> {
    entity: &'a Entity,
    names: &'a BTreeMap<&'a Key, ServiceName>,
    known: &'a BTreeSet<ServiceName>,
    imported: &'a mut Imported,
}

impl Taking<'_> {
    fn leave_out(&mut self, field: &str, why: impl Into<String>) {
        self.imported.leave_out(format!("{}: {field}", self.entity.key), why);
    }

    fn service(&mut self) -> Service {
        let mut service = Service { description: self.description(), links: self.links(), ..Service::default() };
        self.owner(&mut service);
        service.depends_on = self.depends_on();
        service
    }

    fn spec(&self, field: &str) -> Option<&str> {
        self.entity.node.get("spec")?.text(field)
    }

    fn description(&mut self) -> String {
        let metadata = self.entity.node.get("metadata");
        let written = metadata.and_then(|it| it.text("description").or_else(|| it.text("title"))).unwrap_or_default();
        let mut words = written.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(lifecycle) = self.spec("lifecycle").filter(|it| *it != "production") {
            let space = if words.is_empty() { "" } else { " " };
            words = format!("{words}{space}(lifecycle: {})", lifecycle.trim());
        }
        if words.chars().count() > MOST_WORDS || !is_plain(&words) {
            let why = format!("more than {MOST_WORDS} characters, or hidden ones; write a sentence by hand");
            self.leave_out("description", why);
            return String::new();
        }
        words
    }

    fn owner(&mut self, service: &mut Service) {
        let Some(owner) = self.spec("owner") else { return };
        let key = Key::refer(owner, "group", &self.entity.key.namespace);
        match key.kind.as_str() {
            "user" => match key.name.parse::<PersonId>() {
                Ok(person) => service.owner = Some(person),
                Err(error) => self.leave_out("owner", error.to_string()),
            },
            "group" if is_plain(&key.name) && !key.name.is_empty() && key.name.chars().count() <= MOST_NAME => {
                service.team = Some(key.name);
            }
            _ => self.leave_out("owner", format!("`{owner}` is neither a group nor a user")),
        }
    }

    fn depends_on(&mut self) -> Vec<ServiceName> {
        let spec = self.entity.node.get("spec");
        let mut found = BTreeSet::new();
        for item in spec.map(|spec| spec.list("dependsOn")).unwrap_or_default() {
            let Node::Text(text) = item else {
                self.leave_out("dependsOn", "a reference must be a text");
                continue;
            };
            let key = Key::refer(text, "component", &self.entity.key.namespace);
            let there = self.known.iter().find(|name| key.namespace == "default" && name.as_str() == key.name);
            match self.names.get(&key).or(there) {
                Some(name) => drop(found.insert(name.clone())),
                None => self.leave_out("dependsOn", format!("`{text}` is no service that is taken over")),
            }
        }
        if let Some(own) = self.names.get(&self.entity.key) {
            found.remove(own);
        }
        found.into_iter().collect()
    }

    fn links(&mut self) -> Vec<Link> {
        let mut pages: Vec<(String, String)> = Vec::new();
        let metadata = self.entity.node.get("metadata");
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        let annotated = |name: &str| annotations.and_then(|it| it.text(name));
        if let Some(source) = annotated("backstage.io/source-location") {
            // A place on a disk is of no use to people elsewhere.
            pages.extend(source.strip_prefix("url:").map(|url| ("source".to_owned(), url.to_owned())));
        }
        if let Some(slug) = annotated("github.com/project-slug") {
            pages.push(("repository".to_owned(), format!("https://github.com/{slug}")));
        }
        if let Some(url) = annotated("backstage.io/view-url") {
            pages.push(("catalog".to_owned(), url.to_owned()));
        }
        for link in metadata.map(|metadata| metadata.list("links")).unwrap_or_default() {
            let url = link.text("url").unwrap_or_default();
            pages.push((link.text("title").unwrap_or("link").to_owned(), url.to_owned()));
        }
        let mut links = Vec::new();
        for (title, url) in pages {
            match Link::new(&title, url.trim()) {
                Ok(link) if links.contains(&link) => {}
                Ok(link) if links.len() < MOST_LINKS => links.push(link),
                Ok(_) => self.leave_out("links", format!("more than {MOST_LINKS}; `{title}` is one too many")),
                Err(error) => self.leave_out("links", format!("`{title}`: {error}")),
            }
        }
        links
    }
}
