//! No pool, connection or transaction comes out of the database or the store.

use warrant_kernel::db::Database;
use warrant_kernel::store::Store;

fn pools(database: &Database, store: &Store) {
    let _ = database.pool();
    let _ = &database.pool;
    let _ = store.database();
    let _ = &store.database;
    let _ = warrant_kernel::store::capture::insert;
}

fn main() {}
