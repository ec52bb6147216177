//! The child processes. Each ends when its standard input closes, and is killed if it does not.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;
use warrant_kernel::redact::guard::first_chars;

use crate::demo::part::spec::{Role, Spec};
use crate::demo::part::{Listening, RELOAD};
use crate::demo::shop::ShopError;

/// How long a part may take to listen, on a machine that is busy with other things.
const START: Duration = Duration::from_secs(20);
/// How long a part may take to end.
const END: Duration = Duration::from_secs(2);

/// A running part.
#[derive(Debug)]
pub(super) struct Part {
    process: Child,
    /// Open for as long as the part is to run.
    lifeline: Option<ChildStdin>,
    spec: Spec,
}

impl Part {
    /// Starts a part and waits until it listens. `private` is where its spec and its standard error go.
    pub(super) async fn start(exe: &Path, private: &Path, spec: &Spec) -> Result<Self, ShopError> {
        let role = spec.role;
        let file = private.join(format!("{role}.json"));
        let errors = private.join(format!("{role}.stderr"));
        let write = |what: &Path| {
            let file = what.to_path_buf();
            move |source| ShopError::Write { file, source }
        };
        let text = serde_json::to_vec(spec).map_err(|error| write(&file)(error.into()))?;
        std::fs::write(&file, text).map_err(write(&file))?;
        let stderr = File::create(&errors).map_err(write(&errors))?;
        let mut process = Command::new(exe)
            .arg("shop-part")
            .arg("--spec")
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| ShopError::Spawn { role, source })?;
        let lifeline = process.stdin.take();
        let port = port_of(&mut process, role, &errors).await?;
        Ok(Self { process, lifeline, spec: Spec { port: Some(port), ..spec.clone() } })
    }

    pub(super) fn role(&self) -> Role {
        self.spec.role
    }

    pub(super) fn port(&self) -> Option<u16> {
        self.spec.port
    }

    /// The process id, while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.id()
    }

    /// Tells it to read its configuration again, as a deploy would.
    pub(super) async fn reload(&mut self) -> std::io::Result<()> {
        match &mut self.lifeline {
            Some(lifeline) => {
                lifeline.write_all(format!("{RELOAD}\n").as_bytes()).await?;
                lifeline.flush().await
            }
            None => Ok(()),
        }
    }

    /// Ends it and starts it anew, on the same port.
    pub(super) async fn restart(&mut self, exe: &Path, private: &Path) -> Result<(), ShopError> {
        self.end().await;
        *self = Self::start(exe, private, &self.spec.clone()).await?;
        Ok(())
    }

    async fn end(&mut self) {
        self.lifeline = None;
        if timeout(END, self.process.wait()).await.is_err() {
            // What has ended meanwhile cannot be killed; that is as good.
            drop(self.process.kill().await);
        }
    }

    /// Ends it.
    pub(super) async fn stop(mut self) {
        self.end().await;
    }
}

async fn port_of(process: &mut Child, role: Role, errors: &Path) -> Result<u16, ShopError> {
    let mut line = String::new();
    if let Some(out) = process.stdout.take() {
        let mut out = BufReader::new(out);
        // A part that says nothing in time, or cannot be read, is told of below by what it wrote to its standard error.
        drop(timeout(START, out.read_line(&mut line)).await);
    }
    serde_json::from_str::<Listening>(&line).map(|listening| listening.port).map_err(|_| {
        let said = std::fs::read_to_string(errors).unwrap_or_default();
        ShopError::Silent { role, said: first_chars(said.trim(), 400).to_owned() }
    })
}
