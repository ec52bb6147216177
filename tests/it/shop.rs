//! The shop of the demo, as child processes: it runs well, breaks as it is told, and says nothing of how.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test; Clippy's leave for tests ends at the test functions"
)]

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Semaphore, SemaphorePermit};
use warrant::demo::fault::{Fault, Source};
use warrant::demo::shop::{Observed, Shop, ShopOptions};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::catalog::service::Service;

fn catalog(text: &str) -> Catalog {
    let mut table: toml::Table = text.parse().unwrap();
    let services = table.remove("services").unwrap().try_into().unwrap();
    Catalog::new(services, table.try_into().unwrap()).unwrap()
}

struct Run {
    /// Keeps other shops from starting: more than two at once are too many for two processors.
    _turn: SemaphorePermit<'static>,
    /// Holds the shop's directory until the test is over.
    dir: TempDir,
    shop: Shop,
    observed: Observed,
    catalog: Catalog,
}

static TURNS: Semaphore = Semaphore::const_new(2);

async fn run(fault: Fault, seed: u64) -> Run {
    let turn = TURNS.acquire().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options =
        ShopOptions { seed, fault, dir: dir.path().to_path_buf(), exe: PathBuf::from(env!("CARGO_BIN_EXE_warrant")) };
    let mut shop = Shop::start(&options).await.unwrap();
    let observed = shop.run_until_symptom().await.unwrap();
    let catalog = catalog(&shop.config_toml().unwrap());
    Run { _turn: turn, dir, shop, observed, catalog }
}

impl Run {
    fn service(&self, name: &str) -> &Service {
        self.catalog.service(&name.parse().unwrap()).unwrap()
    }

    fn log(&self, name: &str) -> Vec<Value> {
        let logs = self.service(name).logs.first().unwrap();
        let file = self.catalog.sources().logs[&logs.source].dir.join(&logs.file);
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Lines at warn and error since the shop had settled, but for the one that always comes and what a machine that is
    /// busy with other tests brings about.
    fn complaints(&self) -> Vec<Value> {
        let all = ["gateway", "checkout", "payments", "store"].into_iter().flat_map(|name| self.log(name));
        let usual = ["address lookup fell back to the default region", "request to"];
        let began = warrant_kernel::domain::time::rfc3339(self.observed.load_began);
        all.filter(|line| line["time"].as_str().unwrap() > began.as_str())
            .filter(|line| line["level"] == "error" || line["level"] == "warn")
            .filter(|line| !usual.iter().any(|usual| line["msg"].as_str().unwrap().starts_with(usual)))
            .collect()
    }

    async fn get(&self, name: &str, url: &str) -> String {
        let mut client = reqwest::Client::builder().no_proxy();
        if let Some(file) = &self.service(name).ca_file {
            let pem = std::fs::read(file).unwrap();
            client = client.tls_certs_only([reqwest::Certificate::from_pem(&pem).unwrap()]);
        }
        client.build().unwrap().get(url).send().await.unwrap().error_for_status().unwrap().text().await.unwrap()
    }

    async fn metric(&self, name: &str, sample: &str) -> f64 {
        let page = self.get(name, self.service(name).metrics_url.as_deref().unwrap()).await;
        let found = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("no `{sample}` in\n{page}")).parse().unwrap()
    }

    /// Ends the shop and makes sure that no process of it is left and nothing outside was told too much.
    async fn finish(self) {
        let urls: Vec<String> = self.catalog.services().values().flat_map(|service| service.health.clone()).collect();
        self.shop.stop().await;
        for url in urls {
            let address = url.split('/').nth(2).unwrap().to_owned();
            assert!(std::net::TcpStream::connect(&address).is_err(), "{url} still listens");
        }
        drop(self.dir);
    }
}

fn says(lines: &[Value], text: &str) -> bool {
    lines.iter().any(|line| line["msg"].as_str().unwrap().contains(text))
}

fn line_of(root: &Path, file: &str, line: u64) -> String {
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    text.lines().nth(usize::try_from(line).unwrap() - 1).unwrap().to_owned()
}

fn commits(root: &Path) -> String {
    let log = std::process::Command::new("git").args(["log", "-p", "-U0"]).current_dir(root).output().unwrap();
    String::from_utf8(log.stdout).unwrap()
}

#[tokio::test]
async fn a_cut_pool_is_noticed_by_customers_and_leaves_its_marks() {
    let run = run(Fault::Pool, 1).await;
    let symptom = run.observed.symptom.clone().unwrap();
    assert_eq!((symptom.before.failed, symptom.before.slow), (0, 0), "{symptom:?}");
    assert!(symptom.since.bad_percent() >= 20, "{symptom:?}");

    let injected = serde_json::to_value(run.shop.injected()).unwrap();
    let service = injected["service"].as_str().unwrap().to_owned();
    let key = injected["key"].as_str().unwrap();
    let root = run.catalog.sources().workspaces[&"shop".parse().unwrap()].dir.clone();
    let file = injected["file"].as_str().unwrap();
    assert!(line_of(&root, file, injected["line"].as_u64().unwrap()).contains(key), "{injected}");
    assert_eq!(run.service(&service).files.first().unwrap().path, file);
    let decoy = &injected["decoy"];
    let decoy_line = line_of(&root, decoy["file"].as_str().unwrap(), decoy["line"].as_u64().unwrap());
    assert!(decoy_line.contains(decoy["key"].as_str().unwrap()), "{decoy_line}");

    let log = run.log(&service);
    assert!(says(&log, "timed out waiting for a connection from the pool"));
    assert!(says(&log, "configuration reloaded"));
    assert!(!log.iter().any(|line| line.to_string().contains(key)), "the log names the key");
    assert!(run.metric(&service, "db_client_connection_max{pool_name=\"store\"}").await <= 2.0);
    assert!(run.metric(&service, "db_client_connection_timeouts_total{pool_name=\"store\"}").await > 5.0);
    assert!(commits(&root).contains("Configuration of all services"));

    let trigger = run.shop.trigger();
    assert_eq!(trigger.service.as_str(), "gateway");
    assert!(trigger.alert.is_some());
    assert!(trigger.since >= injected["onset"].as_str().unwrap().parse().unwrap());
    for hidden in [key, file, "pool", service.as_str()] {
        assert!(!trigger.question.contains(hidden), "`{}` names `{hidden}`", trigger.question);
    }
    run.finish().await;
}

#[tokio::test]
async fn a_slow_processor_is_seen_from_payments_and_no_setting_changes() {
    let run = run(Fault::Upstream, 2).await;
    assert!(run.observed.symptom.is_some(), "{:?}", run.observed);
    assert!(says(&run.log("payments"), "request to card-processor took"));
    assert!(says(&run.log("checkout"), "upstream payments timed out after 2500 ms"));
    assert!(!says(&run.complaints(), "pool"), "the pools are as before");
    let injected = serde_json::to_value(run.shop.injected()).unwrap();
    assert_eq!((&injected["service"], &injected["file"]), (&"payments".into(), &Value::Null));
    run.finish().await;
}

#[tokio::test]
async fn a_full_quota_fails_writes_and_not_reads() {
    let run = run(Fault::Disk, 3).await;
    assert!(run.observed.symptom.is_some(), "{:?}", run.observed);
    assert!(says(&run.log("store"), "write failed: disk quota exceeded"));
    let mountpoint = run.dir.path().join("data").display().to_string();
    let avail = format!("filesystem_avail_bytes{{mountpoint=\"{mountpoint}\"}}");
    assert!(run.metric("store", &avail).await < 4096.0);
    let gateway = run.service("gateway").health.first().unwrap().replace("/healthz", "/carts/7");
    assert!(run.get("gateway", &gateway).await.contains("items"));
    run.finish().await;
}

#[tokio::test]
async fn a_certificate_about_to_expire_is_warned_of_while_orders_go_on() {
    let run = run(Fault::Certificate, 4).await;
    assert_eq!(run.observed.symptom, None);
    let complaints = run.complaints();
    assert!(says(&complaints, "certificate of payments expires soon"), "{complaints:?}");
    assert!(complaints.iter().all(|line| line["msg"] == "certificate of payments expires soon"), "{complaints:?}");
    let now = run.metric("checkout", "process_start_time_seconds").await;
    let left = run.metric("payments", "tls_certificate_expiry_timestamp_seconds").await - now;
    assert!((4.0 * 3600.0..21.0 * 3600.0).contains(&left), "{left}");
    assert!(run.get("payments", run.service("payments").health.first().unwrap()).await.contains("ok"));
    assert_eq!(run.shop.trigger().alert, None);
    run.finish().await;
}

#[tokio::test]
async fn a_shop_that_is_well_has_nothing_to_complain_of() {
    let mut run = run(Fault::None, 5).await;
    assert_eq!(run.observed.symptom, None);
    assert_eq!(run.complaints(), Vec::<Value>::new());
    assert_eq!(run.shop.tally(None).failed, 0);
    assert!(run.shop.tally(None).orders > 100, "{:?}", run.shop.tally(None));

    run.shop.take_down(Source::Logs);
    run.shop.take_down(Source::Metrics);
    run.shop.take_down(Source::Changes);
    let down = catalog(&run.shop.config_toml().unwrap());
    assert!(down.sources().logs.values().all(|logs| !logs.dir.exists()));
    assert!(down.sources().repositories.values().all(|at| !at.dir.exists()));
    assert!(!down.sources().workspaces[&"shop".parse().unwrap()].dir.exists());
    let url = down.service(&"store".parse().unwrap()).unwrap().metrics_url.clone().unwrap();
    assert!(reqwest::get(url).await.is_err());
    run.finish().await;
}
