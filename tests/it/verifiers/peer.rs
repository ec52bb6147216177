//! The shipped script as a process that is asked again and again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::Files;

/// Reads one question a line, and answers with all that is wrong. The rest is the script's own.
const DRIVER: &str = r#"
import base64, importlib.util, json, pathlib, sys, tempfile
spec = importlib.util.spec_from_file_location("verify", sys.argv[1])
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
for line in sys.stdin:
    asked = json.loads(line)
    with tempfile.TemporaryDirectory() as scratch:
        folder, kept = pathlib.Path(scratch, "export"), []
        for path, body in asked["files"].items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(base64.b64decode(body))
        for nth, note in enumerate(asked["kept"]):
            kept.append(pathlib.Path(scratch, f"kept-{nth}"))
            kept[-1].write_text(note)
        try:
            wrong, _ = script.verify(folder, kept, asked["key"])
        except Exception as error:
            wrong = [repr(error)]
    print(json.dumps(wrong), flush=True)
"#;

/// The process.
pub struct Peer {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    pub fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/verify.py");
        let mut command = Command::new(crate::audit::python());
        command.args(["-c", DRIVER]).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, to, from }
    }

    /// All that is wrong with these files.
    pub fn ask(&mut self, files: &Files, kept: &[String], key: Option<&str>) -> Vec<String> {
        let bodies = files.iter().map(|(path, body)| (path.to_str().unwrap().to_owned(), json!(STANDARD.encode(body))));
        let bodies: Map<String, Value> = bodies.collect();
        writeln!(self.to, "{}", json!({ "files": bodies, "kept": kept, "key": key })).unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
