//! What is imported is a config that loads, and whatever is wrong changes nothing.

use std::path::PathBuf;

use tempfile::TempDir;

use super::backstage;
use crate::config::Config;

const CHECKOUT: &str = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: shop.checkout\n  \
    description: 'Takes \"orders\".'\n  links: [{ url: 'https://wiki.example.com/', title: Wiki }]\nspec:\n  \
    owner: payments-team\n  dependsOn: [payments]\n";

const CONFIG: &str = "# Ours.\n[store]\npath = \"/tmp/w.db\" # here\n\n[services.payments]\ndescription = \"Charges.\"";

struct Shelf(TempDir);

impl Shelf {
    fn new() -> Self {
        let shelf = Self(tempfile::tempdir().unwrap());
        shelf.put("warrant.toml", CONFIG);
        shelf.put("catalog-info.yaml", CHECKOUT);
        shelf
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.path("warrant.toml")).unwrap()
    }

    fn import(&self) -> Result<super::Brought, String> {
        let into = self.path("warrant.toml");
        backstage(None, &[self.path("")], Some("staging"), Some(&into)).map_err(|fault| fault.to_string())
    }
}

#[test]
fn new_services_are_added_and_all_else_stays_to_the_letter() {
    let shelf = Shelf::new();
    let brought = shelf.import().unwrap();
    insta::assert_snapshot!(brought.toml, @r#"
    [services."shop.checkout"]
    depends_on = ["payments"]
    description = 'Takes "orders".'
    environment = "staging"
    team = "payments-team"

    [[services."shop.checkout".links]]
    title = "Wiki"
    url = "https://wiki.example.com/"
    "#);
    assert_eq!(shelf.config(), format!("{CONFIG}\n\n{}", brought.toml));
    let config = Config::parse(&shelf.path("warrant.toml"), &shelf.config()).unwrap();
    let service = &config.catalog.services()[&"shop.checkout".parse().unwrap()];
    assert_eq!((service.team.as_deref(), service.links[0].title()), (Some("payments-team"), "Wiki"));
    // The same again finds it there.
    let again = shelf.import().unwrap_err();
    assert!(again.contains("has this service already"), "{again}");
}

#[test]
fn whatever_is_wrong_changes_nothing() {
    let wrong = [
        ("catalog-info.yaml", "apiVersion: v1\nkind: Pod\nmetadata: { name: x }\n", "backstage.io"),
        ("catalog-info.yaml", "a: &a [x]\nb: *a\n", "aliases"),
        ("catalog-info.yaml", "", "no service"),
        ("warrant.toml", "[services\n", "warrant.toml"),
        ("warrant.toml", "services = { payments = {} }\n[store]\npath = \"/tmp/w.db\"\n", "warrant.toml"),
    ];
    for (name, text, word) in wrong {
        let shelf = Shelf::new();
        shelf.put(name, text);
        let before = shelf.config();
        let why = shelf.import().unwrap_err();
        assert!(why.contains(word), "{name}: {why}");
        assert_eq!(shelf.config(), before);
    }
    let shelf = Shelf::new();
    shelf.put("catalog-info.yaml", &format!("# {}\n{CHECKOUT}", "x".repeat(1 << 20)));
    let why = shelf.import().unwrap_err();
    assert!(why.contains("bytes"), "{why}");
    assert_eq!(shelf.config(), CONFIG);
}

#[test]
fn a_link_out_of_the_directory_is_not_followed() {
    let (shelf, other) = (Shelf::new(), Shelf::new());
    std::fs::remove_file(shelf.path("catalog-info.yaml")).unwrap();
    std::os::unix::fs::symlink(other.path("catalog-info.yaml"), shelf.path("catalog-info.yaml")).unwrap();
    std::os::unix::fs::symlink(other.path(""), shelf.path("more")).unwrap();
    let why = shelf.import().unwrap_err();
    assert!(why.contains("no `catalog-info.yaml`"), "{why}");
}
