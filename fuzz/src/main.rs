//! libFuzzer's program: `FUZZ_TARGET` says which target it feeds. `fuzz/run` sets it.

#![no_main]

use std::sync::LazyLock;

use warrant_fuzz::Target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    warrant_fuzz::named(&name).unwrap_or_else(|| {
        let names: Vec<&str> = warrant_fuzz::TARGETS.iter().map(|target| target.name).collect();
        eprintln!("FUZZ_TARGET is `{name}`; it is one of {}", names.join(", "));
        std::process::exit(2)
    })
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.run)(data));
