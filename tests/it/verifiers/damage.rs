//! What is done to exports: bits, bytes, lines, files, and records put together anew.

use std::path::{Path, PathBuf};

use serde_json::Value;
use warrant_kernel::ledger::canonical::canonical;

use super::Files;

/// Draws from a seed.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.bits() % end.max(1) as u64).unwrap()
    }

    pub fn byte(&mut self) -> u8 {
        self.bits().to_le_bytes()[0]
    }
}

/// The last of these exports with something done to it; what, for people.
pub fn damaged(exports: &[Files], draw: &mut Draw) -> (String, Files) {
    let mut files = exports.last().unwrap().clone();
    let paths: Vec<PathBuf> = files.keys().cloned().collect();
    let path = paths[draw.below(paths.len())].clone();
    let body = files.get_mut(&path).unwrap();
    let at = draw.below(body.len());
    let mut what = match draw.below(10) {
        0 if !body.is_empty() => {
            body[at] ^= 1 << draw.below(8);
            "a bit turned"
        }
        1 => {
            body.insert(at, draw.byte());
            "a byte more"
        }
        2 if !body.is_empty() => {
            body.remove(at);
            "a byte less"
        }
        3 => {
            body.truncate(at);
            "cut off"
        }
        4 => {
            body.extend([b'\n'].repeat(1 + draw.below(2)));
            "lines at the end"
        }
        5 => {
            files.remove(&path);
            "gone"
        }
        6 => {
            let other = paths[draw.below(paths.len())].clone();
            let body = files[&other].clone();
            files.insert(path.clone(), body);
            "another in its place"
        }
        7 => return (String::from("openings: ") + openings(&mut files, draw), files),
        8 => {
            let older = &exports[draw.below(exports.len())];
            match older.get(&path) {
                Some(body) => drop(files.insert(path.clone(), body.clone())),
                None => drop(files.remove(&path)),
            }
            "as in an older export"
        }
        _ => {
            let place = ["texts/0", "tile/0/777", "tile/9/000.p/1", "more", "tile/entries/000.p/1"][draw.below(5)];
            files.entry(PathBuf::from(place)).or_default().push(draw.byte());
            "a file more, or a byte of it"
        }
    }
    .to_owned();
    what = format!("{}: {what}", path.display());
    (what, files)
}

/// Something done to what the records commit to, such that the form stays.
fn openings(files: &mut Files, draw: &mut Draw) -> &'static str {
    let text = String::from_utf8(files[Path::new("openings.jsonl")].clone()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (nth, other) = (draw.below(lines.len()), draw.below(lines.len()));
    let mut line: Value = serde_json::from_str(&lines[nth]).unwrap();
    let fields: Vec<String> = line["openings"].as_object().unwrap().keys().cloned().collect();
    let field = fields[draw.below(fields.len())].as_str();
    let what = match draw.below(7) {
        0 => {
            lines.swap(nth, other);
            "two lines changed places"
        }
        1 => {
            let copy = lines[nth].clone();
            lines.insert(other, copy);
            "a line twice"
        }
        2 => {
            lines[nth] = lines[nth].replacen(':', ": ", 1);
            "a blank"
        }
        3 => {
            line["openings"].as_object_mut().unwrap().remove(field);
            lines[nth] = canonical(&line).unwrap();
            "a value gone"
        }
        4 => {
            let pair = line["openings"][field].clone();
            line["openings"]["zz"] = pair;
            lines[nth] = canonical(&line).unwrap();
            "a value more"
        }
        5 => {
            line["openings"][field][1] = "\"other\"".into();
            lines[nth] = canonical(&line).unwrap();
            "another value"
        }
        _ => {
            let salt = line["openings"][field][0].as_str().unwrap().to_uppercase();
            line["openings"][field][0] = salt.into();
            lines[nth] = canonical(&line).unwrap();
            "a salt in capitals"
        }
    };
    files.insert(PathBuf::from("openings.jsonl"), (lines.join("\n") + "\n").into_bytes());
    what
}
