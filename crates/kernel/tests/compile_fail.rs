//! What nobody outside the kernel can write: each file must not compile, for the reason that stands beside it.
//!
//! `TRYBUILD=overwrite cargo test -p warrant-kernel --test compile_fail` writes the reasons of a new toolchain.

#[test]
fn the_stages_can_not_be_skipped_or_forged() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
