//! Checkpoints and keys: what reads as one is written in its one form, and nothing but what the key signed opens under it.

use warrant_kernel::ledger::note::{Checkpoint, PublicKey, is_key_name, open};

use super::ledger::SOUND;
use crate::input::Input;

/// Tries the laws.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(says) = Checkpoint::unproved(&text) {
        assert!(text.starts_with(&says.text()));
        assert_eq!(Checkpoint::unproved(&says.text()).as_ref(), Some(&says));
    }
    if let Ok(key) = text.parse::<PublicKey>() {
        assert!(is_key_name(key.name()));
        assert_eq!(key.to_string(), text.trim_end());
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    let sound = &*SOUND;
    let key: PublicKey = sound.key.parse().unwrap();
    let signed = open(&sound.note, &key).unwrap();
    // Notes may say more beside the signature; what was signed is the same, or nothing is.
    for note in [&*text, &changed(&sound.note, data)] {
        if let Ok(opened) = open(note, &key) {
            assert_eq!(opened, signed, "{note:?}");
            assert_eq!(Checkpoint::open(note, &key), Checkpoint::open(&sound.note, &key));
        }
    }
}

/// The signed note with some of its characters changed.
fn changed(note: &str, data: &[u8]) -> String {
    let (mut input, mut bytes) = (Input::new(data), note.as_bytes().to_vec());
    for _ in 0..input.byte() % 4 {
        let at = input.below(bytes.len());
        match input.byte() {
            0..100 => bytes[at] = input.byte(),
            100..200 => bytes.insert(at, input.byte()),
            _ => bytes.truncate(at.max(1)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
