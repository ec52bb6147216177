//! What a program needs in order to begin at all: itself, whatever loads it, libraries, and what the C library reads.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::order::{Grant, Right};

/// Directories of libraries and of what the C library knows about languages and time zones.
const TREES: [&str; 10] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    "/nix/store",
];

const FILES: [&str; 3] = ["/etc/ld.so.cache", "/etc/localtime", "/dev/null"];

/// What the C library reads to find out what users and groups are called.
const NAMES: [&str; 3] = ["/etc/nsswitch.conf", "/etc/passwd", "/etc/group"];

/// How much of a program is looked at: headers stand at its beginning.
const HEADER: u64 = 64 * 1024;
/// Longest path of an interpreter.
const MAX_PATH: usize = 1024;

/// Grants for a program to begin.
///
/// # Errors
/// Where it can't be read.
pub fn of(program: &Path) -> io::Result<Vec<Grant>> {
    let mut run = BTreeSet::from([program.to_owned()]);
    // A script's interpreter has one of its own.
    let mut next = interpreter(program)?;
    while let Some(path) = next {
        next = if run.insert(path.clone()) { interpreter(&path)? } else { None };
    }
    let mut grants: Vec<Grant> = run.into_iter().map(|path| Grant { path, right: Right::Run }).collect();
    grants.extend(existing(&TREES, Right::Tree));
    grants.extend(existing(&FILES, Right::Content));
    Ok(grants)
}

/// Grants for asking what users and groups are called.
#[must_use]
pub fn names() -> Vec<Grant> {
    existing(&NAMES, Right::Content).collect()
}

fn existing(paths: &'static [&str], right: Right) -> impl Iterator<Item = Grant> {
    let there = paths.iter().map(Path::new).filter(|path| path.exists());
    there.map(move |path| Grant { path: path.to_owned(), right })
}

/// What the kernel starts in place of the program: the loader of a binary, or what a script's first line names.
fn interpreter(program: &Path) -> io::Result<Option<PathBuf>> {
    let mut header = Vec::new();
    File::open(program)?.take(HEADER).read_to_end(&mut header)?;
    Ok(if header.starts_with(b"#!") { of_script(&header) } else { of_elf(&header) })
}

fn of_script(header: &[u8]) -> Option<PathBuf> {
    let line = header.get(2..)?.split(|byte| *byte == b'\n').next()?;
    let text = std::str::from_utf8(line.get(..line.len().min(MAX_PATH))?).ok()?;
    text.split_whitespace().next().filter(|path| path.starts_with('/')).map(PathBuf::from)
}

/// `PT_INTERP` of a 64-bit little-endian ELF file (System V ABI, program header).
fn of_elf(header: &[u8]) -> Option<PathBuf> {
    const PT_INTERP: u64 = 3;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, size: usize| {
        let bytes = header.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte)))
    };
    let place = |at, size| usize::try_from(number(at, size)?).ok();
    let (table, each, count) = (place(0x20, 8)?, place(0x36, 2)?, place(0x38, 2)?);
    let entries = (0..count).map(|index| table.checked_add(each.checked_mul(index)?));
    let entry = entries.map_while(|at| at).find(|at| number(*at, 4) == Some(PT_INTERP))?;
    let (from, size) = (place(entry.checked_add(0x08)?, 8)?, place(entry.checked_add(0x20)?, 8)?);
    let bytes = header.get(from..from.checked_add(size.min(MAX_PATH))?)?;
    let text = std::str::from_utf8(bytes.split(|byte| *byte == 0).next()?).ok()?;
    text.starts_with('/').then(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_or_an_interpreter_may_be_run_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        std::fs::write(&script, "#!/bin/sh -e\necho\n").unwrap();
        let runs = |program: &Path| {
            let grants = of(program).unwrap();
            grants.into_iter().filter(|grant| grant.right == Right::Run).map(|grant| grant.path).collect::<Vec<_>>()
        };
        let shell = runs(Path::new("/bin/sh"));
        assert_eq!(shell.len(), 2, "{shell:?}");
        assert!(shell.iter().any(|path| path.to_string_lossy().contains("/ld-")), "{shell:?}");
        assert_eq!(runs(&script).len(), 3);
    }

    #[test]
    fn no_header_makes_it_panic() {
        for length in 0..200 {
            let mut header = b"\x7fELF\x02\x01".to_vec();
            header.resize(6 + length, 0xff);
            assert_eq!(of_elf(&header), None);
            assert_eq!(of_script(header.get(..length).unwrap()), None);
        }
    }
}
