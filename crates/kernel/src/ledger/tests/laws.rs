//! Laws: canonical JSON is one form, and the tree's proofs hold for what they prove and for nothing else.

use base64::Engine as _;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::domain::digest::Digest;
use crate::ledger::canonical::{CanonicalError, canonical};
use crate::ledger::note::{self, Checkpoint, NoteError, PrivateKey, PublicKey};
use crate::ledger::record::{Record, text_digest};
use crate::ledger::tree::{Tree, consistency, goes_on, includes, inclusion, leaf_hash, node_hash};

fn exact() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        "\\PC{0,8}|[\\x00-\\x20\"\\\\/\u{2028}\u{10ffff}]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("\\PC{0,4}", inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Another order of keys, which is the same value.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(reversed).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn canonical_json_says_the_same_in_one_form(value in exact()) {
        let text = canonical(&value).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(canonical(&read).unwrap(), text.clone());
        prop_assert_eq!(canonical(&reversed(&value)).unwrap(), text.clone());
        prop_assert!(text.bytes().all(|byte| byte >= 0x20));
    }

    #[test]
    fn no_float_gets_in(number in any::<f64>(), depth in 0_usize..4) {
        let mut value = json!(number);
        prop_assume!(value.is_number());
        for _ in 0..depth {
            value = json!([{ "in": value }]);
        }
        prop_assert_eq!(canonical(&value), Err(CanonicalError::Fraction));
    }

    #[test]
    fn bytes_that_are_a_record_are_it_in_one_form(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(record) = Record::parse(&noise) {
            prop_assert_eq!(record.bytes(), noise);
        }
    }

    #[test]
    fn a_leaf_is_included_where_it_is_and_nowhere_else(size in 1_usize..70, at in any::<prop::sample::Index>(), other in any::<u8>()) {
        let leaves = leaves(size);
        let root = Tree::of(&leaves).root();
        let index = at.index(size);
        let path = inclusion(&leaves, index);
        let holds = |size: usize, index: usize, leaf: &Digest, path: &[Digest]| {
            includes(&root, size as u64, index as u64, leaf, path)
        };
        prop_assert!(holds(size, index, &leaves[index], &path));
        let elsewhere = usize::from(other) % (size + 2);
        prop_assert_eq!(holds(size, elsewhere, &leaves[index], &path), elsewhere == index);
        prop_assert!(!holds(size, index, &leaf_hash(&[other]), &path));
        for changed in 0..path.len() {
            let mut path = path.clone();
            path[changed] = node_hash(&path[changed], &path[changed]);
            prop_assert!(!holds(size, index, &leaves[index], &path));
        }
        let longer: Vec<Digest> = path.iter().copied().chain([root]).collect();
        prop_assert!(!holds(size, index, &leaves[index], &longer));
        if let Some((_, shorter)) = path.split_last() {
            prop_assert!(!holds(size, index, &leaves[index], shorter));
        }
    }

    #[test]
    fn a_log_goes_on_from_its_past_and_from_no_other(new in 1_usize..70, at in any::<prop::sample::Index>(), changed in any::<prop::sample::Index>()) {
        let old = at.index(new) + 1;
        let now = leaves(new);
        let root = Tree::of(&now).root();
        let past = Tree::of(&now[..old]).root();
        let path = consistency(&now, old);
        prop_assert!(goes_on((old as u64, &past), (new as u64, &root), &path));
        // One leaf of the past was another one.
        let mut other = now[..old].to_vec();
        other[changed.index(old)] = leaf_hash(b"other");
        let fork = Tree::of(&other).root();
        prop_assert!(!goes_on((old as u64, &fork), (new as u64, &root), &path));
        prop_assert!(!goes_on((old as u64, &past), (new as u64, &fork), &path) || fork == root);
    }

    #[test]
    fn a_flipped_bit_opens_no_note(bit in any::<prop::sample::Index>(), seed in any::<[u8; 32]>()) {
        let key = PrivateKey::new("warrant/host/00".to_owned(), &seed);
        let says = Checkpoint { origin: "warrant/host/00".to_owned(), size: 7, root: leaf_hash(&seed) };
        let note = key.sign(&says.text());
        prop_assert_eq!(Checkpoint::open(&note, &key.public()), Ok(says));
        let mut bytes = note.into_bytes();
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(note) = String::from_utf8(bytes) {
            prop_assert!(Checkpoint::open(&note, &key.public()).is_err(), "bit {}: {}", bit, note);
        }
    }
}

fn leaves(size: usize) -> Vec<Digest> {
    (0..size).map(|index| leaf_hash(&index.to_be_bytes())).collect()
}

/// RFC 8785, 3.2.3: by UTF-16 units, not by bytes or code points.
#[test]
fn keys_are_sorted_as_rfc_8785_says() {
    let value = json!({ "\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7 });
    let text = canonical(&value).unwrap();
    assert_eq!(text, "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}");
}

#[test]
fn what_is_nested_without_end_is_refused() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(canonical(&deep), Err(CanonicalError::Deep));
}

/// The test vectors of the reference implementation of RFC 6962 (certificate-transparency, `merkle_tree_test`).
#[test]
fn roots_are_those_of_rfc_6962() {
    let inputs: [&[u8]; 8] = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ];
    let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let mut tree = Tree::default();
    assert_eq!(tree.root(), text_digest(""));
    for (input, root) in inputs.into_iter().zip(roots) {
        tree.push(leaf_hash(input));
        assert_eq!(tree.root().to_string(), root);
    }
}

/// The example key of the `note` package of Go, which the C2SP form comes from.
#[test]
fn keys_and_notes_are_those_of_c2sp() {
    let public: PublicKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW".parse().unwrap();
    let text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    let signed = format!(
        "{text}\n\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    );
    assert_eq!(note::open(&signed, &public), Ok(text));
    assert_eq!(
        note::open(&signed.replace("problem", "question"), &public),
        Err(NoteError::Unsigned("PeterNeumann".into()))
    );
    let other = "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    assert_eq!(other.parse::<PublicKey>(), Err(NoteError::Key));
    let key = PrivateKey::new("a/b".to_owned(), &[7; 32]);
    assert_eq!(PrivateKey::decode(&key.encoded()).unwrap().public(), key.public());
    assert!(base64::engine::general_purpose::STANDARD.decode(key.public().encoded()).is_ok());
}
