//! Nothing outside the kernel writes to the storage of approvals and the ledger.

use warrant_kernel::db::sqlite::Sqlite;
use warrant_kernel::db::storage::{Batch, Storage};

async fn committed(storage: &dyn Storage, batch: Batch) {
    storage.commit(batch).await;
}

fn main() {}
