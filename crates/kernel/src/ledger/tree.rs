//! The Merkle tree over a log (RFC 6962, section 2.1): its root, and proofs that a record is in it and that it only grew.

use sha2::{Digest as _, Sha256};

use crate::domain::digest::Digest;

/// The hash of a leaf.
#[must_use]
pub fn leaf_hash(bytes: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update([0]);
    hash.update(bytes);
    Digest::new(hash.finalize().into())
}

/// The hash of a node over its two children.
#[must_use]
pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    let mut hash = Sha256::new();
    hash.update([1]);
    hash.update(left.as_bytes());
    hash.update(right.as_bytes());
    Digest::new(hash.finalize().into())
}

/// A tree that grows: of its past it keeps the roots of the whole subtrees on its right edge only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// Largest first, one for each bit set in `size`.
    edge: Vec<Digest>,
}

impl Tree {
    /// The tree of `size` leaves with this edge; none where their numbers do not fit.
    #[must_use]
    pub fn from_edge(size: u64, edge: Vec<Digest>) -> Option<Self> {
        (u64::from(size.count_ones()) == edge.len() as u64).then_some(Self { size, edge })
    }

    /// The tree over these leaves.
    #[must_use]
    pub fn of(leaves: &[Digest]) -> Self {
        let mut tree = Self::default();
        for leaf in leaves {
            tree.push(*leaf);
        }
        tree
    }

    /// Adds a leaf.
    pub fn push(&mut self, leaf: Digest) {
        let mut node = leaf;
        // As many subtrees are whole now as `size` has ones at its end.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.edge.pop() {
                node = node_hash(&left, &node);
            }
        }
        self.edge.push(node);
        self.size += 1;
    }

    /// How many leaves it has.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The roots of the whole subtrees on its right edge, largest first.
    #[must_use]
    pub fn edge(&self) -> &[Digest] {
        &self.edge
    }

    /// Its root.
    #[must_use]
    pub fn root(&self) -> Digest {
        let mut nodes = self.edge.iter().rev();
        let Some(last) = nodes.next() else { return Digest::new(Sha256::digest([]).into()) };
        nodes.fold(*last, |right, left| node_hash(left, &right))
    }
}

/// The leaves left and right of where RFC 6962 splits a tree: the largest power of two below its size.
fn split(leaves: &[Digest]) -> Option<(&[Digest], &[Digest])> {
    let at = leaves.len().checked_sub(1).filter(|most| *most > 0)?.ilog2();
    leaves.split_at_checked(1 << at)
}

fn root(leaves: &[Digest]) -> Digest {
    Tree::of(leaves).root()
}

/// The proof that leaf `index` is in the tree over `leaves`: PATH of RFC 6962.
#[must_use]
pub fn inclusion(leaves: &[Digest], index: usize) -> Vec<Digest> {
    let Some((left, right)) = split(leaves) else { return Vec::new() };
    let (mut path, beside) = match index.checked_sub(left.len()) {
        None => (inclusion(left, index), root(right)),
        Some(index) => (inclusion(right, index), root(left)),
    };
    path.push(beside);
    path
}

/// The proof that the tree over `leaves` goes on from the one over the first `old` of them: PROOF of RFC 6962.
#[must_use]
pub fn consistency(leaves: &[Digest], old: usize) -> Vec<Digest> {
    if old == 0 || old >= leaves.len() { Vec::new() } else { subproof(leaves, old, Known::Yes) }
}

/// Whether the verifier knows the root of the subtree already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Yes,
    No,
}

fn subproof(leaves: &[Digest], old: usize, known: Known) -> Vec<Digest> {
    if old == leaves.len() {
        return if known == Known::Yes { Vec::new() } else { vec![root(leaves)] };
    }
    let Some((left, right)) = split(leaves) else { return Vec::new() };
    let (mut path, beside) = match old.checked_sub(left.len()) {
        None | Some(0) => (subproof(left, old, known), root(right)),
        Some(old) => (subproof(right, old, Known::No), root(left)),
    };
    path.push(beside);
    path
}

/// Whether `path` proves that `leaf` is leaf `index` of the tree of `size` leaves with this root (RFC 9162, 2.1.3.2).
#[must_use]
pub fn includes(root: &Digest, size: u64, index: u64, leaf: &Digest, path: &[Digest]) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut node) = (index, size - 1, *leaf);
    for beside in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            node = node_hash(beside, &node);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            node = node_hash(&node, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && node == *root
}

/// Whether `path` proves that the tree `new` goes on from the tree `old`, each a size and a root (RFC 9162, 2.1.4.2).
#[must_use]
pub fn goes_on(old: (u64, &Digest), new: (u64, &Digest), path: &[Digest]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size == 0 || old_size >= new_size {
        return path.is_empty() && (old_size == 0 || (old_size == new_size && old_root == new_root));
    }
    // Where the old tree is whole, its root is the first node of the way, and the proof leaves it out.
    let mut path = path.iter();
    let first = if old_size.is_power_of_two() { Some(old_root) } else { path.next() };
    let Some(first) = first else { return false };
    let (mut at, mut last) = (old_size - 1, new_size - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut old_node, mut new_node) = (*first, *first);
    for beside in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            old_node = node_hash(beside, &old_node);
            new_node = node_hash(beside, &new_node);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            new_node = node_hash(&new_node, beside);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && old_node == *old_root && new_node == *new_root
}
