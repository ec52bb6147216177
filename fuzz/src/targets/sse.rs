//! Event streams of model servers: however the bytes are cut into pieces, the same events come out, and memory stays
//! within bounds.

// It has no public interface and needs none but this.
#[path = "../../../src/model/sse.rs"]
mod stream;

use std::collections::VecDeque;

use crate::input::Input;

/// Tries the laws.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let sizes: Vec<usize> = (0..4).map(|_| 1 + usize::from(input.byte()) % 19).collect();
    let bytes = input.rest();
    let whole = events([bytes].into_iter());
    assert_eq!(events(bytes.chunks(1)), whole);
    let mut pieces = Vec::new();
    let (mut rest, mut nth) = (bytes, 0);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(sizes[nth % sizes.len()].min(rest.len()));
        pieces.push(piece);
        // An empty read is no end.
        pieces.push(&[]);
        (rest, nth) = (after, nth + 1);
    }
    assert_eq!(events(pieces.into_iter()), whole);
    let most: usize = whole.iter().map(String::len).sum();
    // A byte that is no text becomes a sign of three.
    assert!(most <= bytes.len() * 3, "{most} out of {}", bytes.len());
    assert!(bytes.len() < stream::MAX_LINE && bytes.len() < stream::MAX_TOTAL);
}

fn events<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> VecDeque<String> {
    let (mut parser, mut events) = (stream::Parser::default(), VecDeque::new());
    for piece in pieces {
        parser.push(piece, &mut events).unwrap();
    }
    events
}
