//! [`Storage`] in memory, which fails where a test wants it to.
//!
//! Every call is counted, so that a test can run a scenario once, and then once more for each call and each [`Fault`].
//! A killed process runs no code any more: its calls never return, and [`Memory::killed`] tells the test.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::domain::digest::Digest;

use super::storage::{
    Batch, Document, DocumentKind, DocumentWrite, Find, INDEXED, Log, Row, Seal, Storage, StorageError, Tail,
};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The disk fails and nothing was written.
    EioLost,
    /// The disk fails and yet all was written.
    EioLanded,
    /// The disk is full, this once.
    NoSpace,
    /// The process dies before the call did anything.
    KillBefore,
    /// The process dies after the call did all, before it returned.
    KillAfter,
}

impl Fault {
    pub(crate) const ALL: [Self; 5] =
        [Self::EioLost, Self::EioLanded, Self::NoSpace, Self::KillBefore, Self::KillAfter];
}

/// What outlives the process.
#[derive(Debug, Default, Clone)]
struct Disk {
    logs: BTreeMap<Log, Vec<Row>>,
    documents: BTreeMap<(DocumentKind, String), Document>,
    texts: BTreeMap<Digest, String>,
    epoch: u64,
    ballast: bool,
    gone: bool,
    full: bool,
}

#[derive(Debug, Default)]
struct Plan {
    calls: u64,
    fault: Option<(u64, Fault)>,
    dead: bool,
    /// Commits wait this long, and land then.
    delay: Option<std::time::Duration>,
}

/// Storage that a test can break.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    disk: Arc<Mutex<Disk>>,
    plan: Mutex<Plan>,
    killed: CancellationToken,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// The same disk as a process finds it that starts now.
    pub(crate) fn restarted(&self) -> Self {
        Self { disk: Arc::clone(&self.disk), ..Self::default() }
    }

    /// A copy of the disk as it is now.
    pub(crate) fn copied(&self) -> Self {
        Self { disk: Arc::new(Mutex::new(lock(&self.disk).clone())), ..Self::default() }
    }

    /// Breaks the call with this number, counted from 0.
    pub(crate) fn fail_at(&self, call: u64, fault: Fault) {
        lock(&self.plan).fault = Some((call, fault));
    }

    /// Breaks the next call.
    pub(crate) fn fail_next(&self, fault: Fault) {
        let mut plan = lock(&self.plan);
        plan.fault = Some((plan.calls, fault));
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        lock(&self.plan).calls
    }

    /// Ends when the process was killed.
    pub(crate) async fn killed(&self) {
        self.killed.cancelled().await;
    }

    /// Commits take this long from now on.
    pub(crate) fn delay(&self, delay: Option<std::time::Duration>) {
        lock(&self.plan).delay = delay;
    }

    /// The file is removed.
    pub(crate) fn remove(&self) {
        lock(&self.disk).gone = true;
    }

    /// The disk fills up; giving back the ballast makes room.
    pub(crate) fn fill(&self) {
        lock(&self.disk).full = true;
    }

    /// Changes what is stored, as somebody would who has the file in their hands.
    pub(crate) fn tamper(&self, log: Log, with: impl FnOnce(&mut Vec<Row>)) {
        with(lock(&self.disk).logs.entry(log).or_default());
    }

    /// All records of a log.
    pub(crate) fn rows(&self, log: Log) -> Vec<Row> {
        lock(&self.disk).logs.get(&log).cloned().unwrap_or_default()
    }

    async fn call<T>(&self, work: impl FnOnce(&mut Disk) -> Result<T, StorageError> + Send) -> Result<T, StorageError> {
        let fault = {
            let mut plan = lock(&self.plan);
            let now = plan.calls;
            plan.calls += 1;
            let fault = plan.fault.filter(|(call, _)| *call == now).map(|(_, fault)| fault);
            plan.dead |= matches!(fault, Some(Fault::KillBefore | Fault::KillAfter));
            match (plan.dead, fault) {
                (true, None) => Some(Fault::KillBefore),
                (_, fault) => fault,
            }
        };
        match fault {
            None => work(&mut lock(&self.disk)),
            Some(Fault::EioLost) => Err(eio()),
            Some(Fault::EioLanded) => work(&mut lock(&self.disk)).and(Err(eio())),
            Some(Fault::NoSpace) => Err(StorageError::NoSpace),
            Some(Fault::KillBefore) => self.die().await,
            Some(Fault::KillAfter) => {
                drop(work(&mut lock(&self.disk)));
                self.die().await
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.killed.cancel();
        std::future::pending().await
    }
}

fn eio() -> StorageError {
    StorageError::Eio { doing: "written to", source: Box::new(std::io::Error::other("input/output error")) }
}

impl Disk {
    fn tail(&self, log: Log) -> Option<Tail> {
        let rows = self.logs.get(&log)?;
        rows.last().map(|last| Tail { size: last.seq + 1, hash: last.hash })
    }

    fn commit(&mut self, batch: Batch) -> Result<(), StorageError> {
        if self.full {
            return Err(StorageError::NoSpace);
        }
        if self.gone {
            return Err(StorageError::Gone);
        }
        if batch.epoch.is_some_and(|epoch| epoch != self.epoch) {
            return Err(StorageError::Fenced);
        }
        if self.tail(batch.log) != batch.expect_tail {
            return Err(StorageError::Stale("the ledger"));
        }
        for DocumentWrite { kind, id, expect_revision, .. } in &batch.documents {
            let found = self.documents.get(&(*kind, id.clone())).map_or(0, |found| found.revision);
            if found != *expect_revision {
                return Err(StorageError::Stale("a document"));
            }
        }
        let rows = self.logs.entry(batch.log).or_default();
        for Seal { seq, field, .. } in &batch.seals {
            let row = rows.iter_mut().find(|row| row.seq == *seq).ok_or(StorageError::Stale("the opening"))?;
            row.openings.retain(|opening| opening.field != *field);
        }
        rows.extend(batch.records);
        for DocumentWrite { kind, id, expect_revision, body } in batch.documents {
            let document = Document { id: id.clone(), revision: expect_revision + 1, body };
            self.documents.insert((kind, id), document);
        }
        self.texts.extend(batch.texts);
        Ok(())
    }
}

#[async_trait]
impl Storage for Memory {
    async fn tail(&self, log: Log) -> Result<Option<Tail>, StorageError> {
        self.call(|disk| Ok(disk.tail(log))).await
    }

    async fn records(&self, log: Log, from: u64, most: u32) -> Result<Vec<Row>, StorageError> {
        self.call(|disk| {
            let rows = disk.logs.get(&log).into_iter().flatten();
            Ok(rows.filter(|row| row.seq >= from).take(most as usize).cloned().collect())
        })
        .await
    }

    async fn hashes(&self, log: Log, from: u64) -> Result<Vec<Digest>, StorageError> {
        self.call(|disk| {
            let rows = disk.logs.get(&log).into_iter().flatten();
            Ok(rows.filter(|row| row.seq >= from).map(|row| row.hash).collect())
        })
        .await
    }

    async fn find(&self, log: Log, find: Find<'_>) -> Result<Vec<Row>, StorageError> {
        self.call(|disk| {
            let rows = disk.logs.get(&log).into_iter().flatten();
            Ok(match find {
                Find::Field { field, value } => rows
                    .filter(|row| row.openings.iter().any(|it| it.field == field && it.value == value))
                    .filter(|_| INDEXED.contains(&field))
                    .cloned()
                    .collect(),
                Find::OpenIntents => {
                    let closes = |row: &&Row| ["outcome", "resolved"].contains(&row.kind.as_str());
                    let done: Vec<&str> = (disk.logs.get(&log).into_iter().flatten())
                        .filter(closes)
                        .flat_map(|row| &row.openings)
                        .filter(|it| it.field == "about")
                        .map(|it| it.value.as_str())
                        .collect();
                    let open = |row: &&Row| row.kind == "intent" && !done.contains(&row.seq.to_string().as_str());
                    rows.filter(open).cloned().collect()
                }
                Find::Kinds { kinds, before, most } => rows
                    .rev()
                    .filter(|row| row.seq < before && kinds.contains(&row.kind.as_str()))
                    .take(most as usize)
                    .cloned()
                    .collect(),
            })
        })
        .await
    }

    async fn document(&self, kind: DocumentKind, id: &str) -> Result<Option<Document>, StorageError> {
        self.call(|disk| Ok(disk.documents.get(&(kind, id.to_owned())).cloned())).await
    }

    async fn documents(&self, kind: DocumentKind, after: &str, most: u32) -> Result<Vec<Document>, StorageError> {
        let most = usize::try_from(most).unwrap();
        self.call(|disk| {
            let all = disk.documents.iter().filter(|((of, id), _)| *of == kind && id.as_str() > after);
            Ok(all.map(|(_, it)| it.clone()).take(most).collect())
        })
        .await
    }

    async fn text(&self, digest: Digest) -> Result<Option<String>, StorageError> {
        self.call(|disk| Ok(disk.texts.get(&digest).cloned())).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StorageError> {
        let delay = lock(&self.plan).delay;
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        self.call(|disk| disk.commit(batch)).await
    }

    async fn raise_epoch(&self) -> Result<u64, StorageError> {
        self.call(|disk| {
            disk.epoch += 1;
            Ok(disk.epoch)
        })
        .await
    }

    async fn present(&self) -> Result<(), StorageError> {
        self.call(|disk| if disk.gone { Err(StorageError::Gone) } else { Ok(()) }).await
    }

    async fn lay_ballast(&self) -> Result<(), StorageError> {
        self.call(|disk| {
            if disk.full && !disk.ballast {
                return Err(StorageError::NoSpace);
            }
            disk.ballast = true;
            Ok(())
        })
        .await
    }

    async fn free_ballast(&self) -> Result<(), StorageError> {
        self.call(|disk| {
            disk.full &= !disk.ballast;
            disk.ballast = false;
            Ok(())
        })
        .await
    }

    async fn close(&self) {}
}
