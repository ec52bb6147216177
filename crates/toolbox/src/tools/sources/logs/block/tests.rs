use std::io::Read;

use proptest::prelude::*;

use super::Blocks;
use crate::tools::sources::logs::record::Heads;

type Piece = (u64, bool, String);

fn pieces(text: &[u8], size: usize) -> (Vec<Piece>, u64) {
    let mut blocks = Blocks::new(text, Heads::Timed, 0, size);
    let mut found = Vec::new();
    while let Some(block) = blocks.next_block() {
        found.push((block.offset, block.continued, String::from_utf8_lossy(block.text).into_owned()));
    }
    (found, blocks.long_lines())
}

#[test]
fn a_block_ends_before_the_head_of_the_next_record() {
    let text = "1796036718 a\n\tat x\n1796036719 b\n\tat y\n1796036720 c\n";
    let (found, _) = pieces(text.as_bytes(), 40);
    assert_eq!(found[0], (0, false, "1796036718 a\n\tat x\n".to_owned()));
    assert!(found.iter().all(|(_, continued, _)| !continued));
}

#[test]
fn a_record_larger_than_the_buffer_comes_in_pieces() {
    let text = format!("1796036718 a\n{}1796036719 b\n", "\tat x\n".repeat(20));
    let (found, _) = pieces(text.as_bytes(), 40);
    assert!(found[1].1 && found[2].1);
    assert_eq!(found.iter().map(|(_, _, piece)| piece.as_str()).collect::<String>(), text);
}

#[test]
fn rd_14_of_a_line_longer_than_the_buffer_the_beginning_comes() {
    let text = format!("1796036718 a\n1796036719 {}\n1796036720 c\n", "x".repeat(10_000));
    let (found, long) = pieces(text.as_bytes(), 64);
    assert_eq!(long, 1);
    assert!(found.iter().all(|(_, _, piece)| piece.len() <= 64));
    assert_eq!(found.last().unwrap().2, "1796036720 c\n");
}

/// Gives its bytes a few at a time.
struct Slow<'t>(&'t [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(3).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

proptest! {
    #[test]
    fn the_blocks_together_are_the_text(
        lines in prop::collection::vec("(1796036718 )?[a-z\\t]{0,30}", 0..60), size in 64_usize..400, whole in any::<bool>()
    ) {
        let mut text = lines.join("\n");
        if whole {
            text.push('\n');
        }
        let mut blocks = Blocks::new(Slow(text.as_bytes()), Heads::Timed, 7, size);
        let mut together = Vec::new();
        while let Some(block) = blocks.next_block() {
            prop_assert_eq!(block.offset, 7 + together.len() as u64);
            prop_assert!(block.text.len() <= size);
            together.extend_from_slice(block.text);
        }
        prop_assert_eq!(together, text.as_bytes());
    }
}
