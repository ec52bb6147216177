//! What is taken over from other catalogs, and what hostile files can't do.

use std::collections::BTreeSet;
use std::fmt::Write;

use warrant_kernel::domain::name::ServiceName;

use super::backstage::{File, NotRead, services};
use super::tree::{Node, Unread, documents};
use super::{Imported, labels};
use crate::catalog::link::Link;

const SHOP: &str = r#"
apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: checkout
  description: >
    Takes
    orders.
  annotations:
    backstage.io/source-location: url:https://git.example.com/shop/checkout/
    github.com/project-slug: shop/checkout
  links:
    - url: https://grafana.example.com/d/checkout
      title: Dashboard
      icon: dashboard
    - url: javascript:alert(1)
      title: Click me
spec:
  type: service
  lifecycle: experimental
  owner: payments-team
  system: shop
  dependsOn: [component:payments, "resource:default/orders-db", component:gone, component:checkout]
  providesApis: [orders]
---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: { name: payments }
spec: { type: service, lifecycle: production, owner: "user:default/ann" }
---
apiVersion: backstage.io/v1alpha1
kind: Resource
metadata: { name: orders-db, description: "Orders." }
spec: { type: database, owner: group:default/dba }
---
apiVersion: backstage.io/v1alpha1
kind: System
metadata: { name: shop }
spec: { owner: payments-team }
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: { name: payments-team }
spec: { type: team, children: [] }
"#;

fn read(text: &str) -> Result<Imported, Vec<NotRead>> {
    services(&[File { name: "catalog-info.yaml", text }], &BTreeSet::new(), None)
}

fn shown(imported: &Imported) -> String {
    let mut text = String::new();
    for (name, service) in &imported.services {
        let links: Vec<&str> = service.links.iter().map(Link::title).collect();
        let depends: Vec<&str> = service.depends_on.iter().map(ServiceName::as_str).collect();
        let owner = service.owner.as_ref().map(ToString::to_string).or(service.team.clone());
        writeln!(text, "{name}: {} | {owner:?} | {depends:?} | {links:?}", service.description).unwrap();
    }
    for left_out in &imported.left_out {
        writeln!(text, "- {}: {}", left_out.what, left_out.why).unwrap();
    }
    text
}

#[test]
fn components_and_resources_become_services_and_the_rest_is_named() {
    insta::assert_snapshot!(shown(&read(SHOP).unwrap()), @r#"
    checkout: Takes orders. (lifecycle: experimental) | Some("payments-team") | ["orders-db", "payments"] | ["source", "repository", "Dashboard"]
    orders-db: Orders. | Some("dba") | [] | []
    payments:  | Some("ann") | [] | []
    - system:default/shop: only components and resources become services
    - group:default/payments-team: only components and resources become services
    - component:default/checkout: links: `Click me`: the `url` of a link must begin with `http://` or `https://`, name a host and no user, have no blanks and no quotes, and at most 2000 bytes
    - component:default/checkout: dependsOn: `component:gone` is no service that is taken over
    "#);
}

#[test]
fn what_the_config_has_stays_and_may_be_depended_on() {
    let known = BTreeSet::from(["payments".parse().unwrap()]);
    let file = File { name: "a.yaml", text: SHOP };
    let imported = services(&[file], &known, Some(&"staging".parse().unwrap())).unwrap();
    let names: Vec<&str> = imported.services.keys().map(ServiceName::as_str).collect();
    assert_eq!(names, ["checkout", "orders-db"]);
    let checkout = &imported.services[&"checkout".parse::<ServiceName>().unwrap()];
    assert!(checkout.depends_on.contains(&"payments".parse().unwrap()));
    assert_eq!(checkout.environment.as_ref().unwrap().as_str(), "staging");
    assert!(imported.left_out.iter().any(|it| it.what == "component:default/payments"));
}

fn component(name: &str) -> String {
    format!("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: {name}\n")
}

#[test]
fn names_that_no_service_can_have_are_left_out_with_a_hint() {
    for name in ["\"-x\"", "\"a b\"", "\"../../etc\"", "\"che\\u200bckout\"", "\"\\e[31mred\"", "\"x\\ny\""] {
        let imported = read(&component(name)).unwrap();
        assert!(imported.services.is_empty(), "{name}");
        let why = &imported.left_out[0].why;
        assert!(why.contains("by hand"), "{name}: {why}");
    }
}

#[test]
fn two_of_one_name_are_told_apart_or_refused() {
    let resource = component("checkout").replace("Component", "Resource");
    let both = format!("{}---\n{resource}", component("checkout"));
    let imported = read(&both).unwrap();
    assert_eq!((imported.services.len(), imported.left_out[0].what.as_str()), (1, "resource:default/checkout"));
    let twice = format!("{}---\n{}", component("checkout"), component("Checkout"));
    assert!(matches!(read(&twice).unwrap_err()[0], NotRead::Twice { number: 2, .. }));
}

#[test]
fn one_document_that_is_no_entity_stops_all_of_it() {
    for (text, word) in [
        ("apiVersion: v1\nkind: Pod\nmetadata: { name: x }\n", "backstage.io"),
        ("just words\n", "backstage.io"),
        ("apiVersion: backstage.io/v1alpha1\nmetadata: { name: x }\n", "kind"),
        ("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: [x] }\n", "metadata.name"),
        ("{ unclosed", "YAML"),
    ] {
        let problems = read(&format!("{}---\n{text}", component("checkout"))).unwrap_err();
        assert!(problems[0].to_string().contains(word), "{text}: {problems:?}");
    }
}

#[test]
fn a_small_file_does_not_grow_and_a_deep_one_does_not_sink() {
    let bomb = "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b]\n";
    assert_eq!(documents(bomb), Err(Unread::Alias(2)));
    assert!(matches!(documents("base: &b { x: y }\nmore:\n  <<: *b\n"), Err(Unread::Alias(_))));
    let deep = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
    assert!(matches!(documents(&deep), Err(Unread::Large { most: 32, .. })));
    let many = "---\na: b\n".repeat(2_001);
    assert!(matches!(documents(&many), Err(Unread::Large { what: "documents", .. })));
    let wide = format!("a: [{}]", "x,".repeat(100_001));
    assert!(matches!(documents(&wide), Err(Unread::Large { what: "values", .. })));
    assert_eq!(documents("a: 1\nb: 2\na: 3\n"), Err(Unread::Twice(3)));
    assert!(matches!(documents("? [a, b]\n: c\n"), Err(Unread::Key(_))));
    assert_eq!(documents("---\n---\n# nothing\n").unwrap(), []);
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "[a-c:\\-\\[\\]{},&*!|>'\"#? \n\t]{0,200}") {
        if let Ok(nodes) = documents(&text) {
            // Nothing empty stands for a document.
            assert!(!nodes.contains(&Node::Nothing));
        }
        drop(read(&text));
    }
}

#[test]
fn values_of_labels_become_services_with_their_series() {
    let source = "main".parse().unwrap();
    let labels = [
        ("service".to_owned(), vec!["checkout".to_owned(), "payments".to_owned(), "a b".to_owned()]),
        ("job".to_owned(), vec!["checkout".to_owned(), "node".to_owned()]),
    ];
    let known = BTreeSet::from(["payments".parse().unwrap()]);
    let imported = labels::services(&source, &labels, &known);
    let series: Vec<String> = imported
        .services
        .iter()
        .map(|(name, service)| format!("{name} {:?}", service.metrics.as_ref().unwrap().labels))
        .collect();
    assert_eq!(series, [r#"checkout {"service": "checkout"}"#, r#"node {"job": "node"}"#]);
    let left: Vec<&str> = imported.left_out.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(left, [r#"service="payments""#, r#"service="a b""#, r#"job="checkout""#]);
}
