//! A shop that really breaks: a service under runit that reads its config at its start, Prometheus that scrapes it, and
//! Alertmanager that tells Warrant.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::world::BEARER;
use crate::investigation::World;

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // runsv ends its service on TERM, and nothing on KILL.
        let pid = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            // Gone already, or told now: it is waited for either way.
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ended = self.0.wait();
    }
}

/// The shop. What it needs and is not installed is said as skipped.
pub struct Shop {
    _running: Vec<Running>,
    service: PathBuf,
    starts: PathBuf,
    /// Where the service answers.
    pub port: u16,
    /// Where Warrant is to listen.
    pub warrant: u16,
    /// Where Prometheus answers.
    pub prometheus: u16,
}

/// Fails orders for as long as its pool is smaller than 32, as it was when it was started.
const SERVICE: &str = r#"
import http.server, re, sys
port, config, starts = int(sys.argv[1]), sys.argv[2], sys.argv[3]
pool = int(re.search(r"max_connections = (\d+)", open(config).read()).group(1))
with open(starts, "a") as file:
    file.write(f"{pool}\n")
class Shop(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = "ok\n" if self.path == "/healthz" else f"checkout_pool_size {pool}\ncheckout_orders_failing {int(pool < 32)}\n"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Shop).serve_forever()
"#;

/// A port that nothing listens on, below those that the kernel hands out.
pub fn free_port() -> u16 {
    // Tests that run beside each other have neighbouring numbers.
    let begin = 16_000 + u16::try_from(std::process::id().wrapping_mul(53) % 12_000).unwrap();
    (begin..30_000).find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

fn start(command: &mut Command) -> Option<Running> {
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if child.is_err() {
        // Not `eprintln`: the harness would keep it to itself.
        let mut uncaptured = std::io::stderr();
        writeln!(uncaptured, "\nSKIPPED the_whole_story: {program} is not installed").unwrap();
    }
    child.ok().map(Running)
}

impl Shop {
    /// Starts it, broken as the world's config file says.
    pub fn start(world: &World) -> Option<Self> {
        let at = |name: &str| world.path(name);
        let (port, mut taken) = (free_port(), Vec::new());
        let mut another = || {
            // Held until all are chosen, so that none is chosen twice.
            let from = port + 1 + u16::try_from(taken.len()).unwrap();
            let (found, held) = (from..30_000)
                .find_map(|port| Some((port, std::net::TcpListener::bind(("127.0.0.1", port)).ok()?)))
                .unwrap();
            taken.push(held);
            found
        };
        let (warrant, prometheus, alertmanager) = (another(), another(), another());
        drop(taken);

        let service = at("runit/checkout");
        fs::create_dir_all(&service).unwrap();
        fs::write(at("service.py"), SERVICE).unwrap();
        let run = format!(
            "#!/bin/sh\nexec python3 {} {port} {} {}\n",
            at("service.py").display(),
            at("etc/checkout.toml").display(),
            at("starts").display()
        );
        fs::write(service.join("run"), run).unwrap();
        fs::set_permissions(service.join("run"), fs::Permissions::from_mode(0o755)).unwrap();

        let rules = "groups:\n- name: shop\n  interval: 1s\n  rules:\n  - alert: OrdersFail\n    \
                     expr: checkout_orders_failing == 1\n    labels: {severity: critical, service: checkout}\n    \
                     annotations: {summary: 'orders fail'}\n";
        fs::write(at("rules.yml"), rules).unwrap();
        let scrape = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [rules.yml]\n\
             alerting: {{alertmanagers: [{{static_configs: [{{targets: ['127.0.0.1:{alertmanager}']}}]}}]}}\n\
             scrape_configs:\n- job_name: shop\n  static_configs: [{{targets: ['127.0.0.1:{port}'], labels: {{service: checkout}}}}]\n"
        );
        fs::write(at("prometheus.yml"), scrape).unwrap();
        let route = format!(
            "route: {{receiver: warrant, group_by: [alertname], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}}\n\
             receivers:\n- name: warrant\n  webhook_configs:\n  - url: http://127.0.0.1:{warrant}/v1/alerts/alertmanager\n    \
             send_resolved: true\n    http_config: {{authorization: {{credentials: {BEARER}}}}}\n"
        );
        fs::write(at("alertmanager.yml"), route).unwrap();

        let flag = |name: &str, value: &Path| format!("--{name}={}", value.display());
        let running = vec![
            start(Command::new("runsv").arg(&service))?,
            start(
                Command::new("prometheus-alertmanager")
                    .arg(flag("config.file", &at("alertmanager.yml")))
                    .arg(flag("storage.path", &at("alertmanager")))
                    .arg(format!("--web.listen-address=127.0.0.1:{alertmanager}"))
                    .arg("--cluster.listen-address="),
            )?,
            start(
                Command::new("prometheus")
                    .arg(flag("config.file", &at("prometheus.yml")))
                    .arg(flag("storage.tsdb.path", &at("prometheus")))
                    .arg(format!("--web.listen-address=127.0.0.1:{prometheus}")),
            )?,
        ];
        Some(Self { _running: running, service, starts: at("starts"), port, warrant, prometheus })
    }

    /// What the config of Warrant says of it.
    pub fn config(&self, config: &str) -> String {
        let (port, warrant, prometheus) = (self.port, self.warrant, self.prometheus);
        let known = "deploys = [\"deploys\"]\n";
        assert!(config.contains(known));
        config
            .replace(known, &format!("{known}health = [\"http://127.0.0.1:{port}/healthz\"]\n"))
            .replace("listen = \"127.0.0.1:0\"", &format!("listen = \"127.0.0.1:{warrant}\""))
            + &format!(
                "[metrics.main]\nurl = \"http://127.0.0.1:{prometheus}\"\n\
                 [services.checkout.metrics]\nsource = \"main\"\nlabels = {{ service = \"checkout\" }}\n\
                 [services.checkout.restart]\nmanager = \"runit\"\ndir = \"{}\"\n",
                self.service.display()
            )
    }

    /// The sizes of the pool with which the service was started, in order.
    pub fn starts(&self) -> Vec<String> {
        fs::read_to_string(&self.starts).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}
