//! A ledger that an earlier program wrote, with a row for each opening.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::db::Database;
use crate::db::lease::Lease;
use crate::db::storage::{Find, Log, Row};
use crate::ledger::seal::{Sealed, Sealing};
use crate::ledger::{Ledger, Options};

use super::{ann, bob, decision, intent, options, outcome, verified};

/// What the earlier program wrote for these records.
async fn earlier(connection: &mut SqliteConnection, rows: &[Row]) {
    for step in [include_str!("../../db/0001_trace.sql"), include_str!("../../db/0002_ledger.sql")] {
        sqlx::raw_sql(step).execute(&mut *connection).await.unwrap();
    }
    for row in rows {
        let seq = i64::try_from(row.seq).unwrap();
        sqlx::raw_sql("BEGIN").execute(&mut *connection).await.unwrap();
        if row.kind == "sealed" {
            sqlx::query("INSERT INTO ledger_sealing VALUES ('writes', 2, 'arguments', $1, 'ann', 'bob')")
                .bind(seq)
                .execute(&mut *connection)
                .await
                .unwrap();
        }
        for opening in &row.openings {
            sqlx::query("INSERT INTO ledger_opening VALUES ('writes', $1, $2, $3, $4)")
                .bind(seq)
                .bind(&opening.field)
                .bind(opening.salt.as_slice())
                .bind(&opening.value)
                .execute(&mut *connection)
                .await
                .unwrap();
        }
        sqlx::query("INSERT INTO ledger_record VALUES ('writes', $1, $2, $3, $4, $5)")
            .bind(seq)
            .bind(row.hash.as_bytes().as_slice())
            .bind(&row.at)
            .bind(&row.kind)
            .bind(&row.bytes)
            .execute(&mut *connection)
            .await
            .unwrap();
        sqlx::raw_sql("COMMIT").execute(&mut *connection).await.unwrap();
    }
}

#[tokio::test]
async fn a_ledger_of_an_earlier_program_is_brought_over_whole() {
    let directory = tempfile::tempdir().unwrap();
    let settings = |build: &str| Options { build: build.to_owned(), ..options(directory.path()) };
    // A ledger as this program writes it, with a sealed value.
    let path = directory.path().join("new.db");
    let database = Database::open(&path).await.unwrap();
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), settings("1 \"é\\n")).await.unwrap();
    let receipt = ledger.intend(vec![decision("A1")], intent("A1"), Vec::new()).await.unwrap();
    ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
    let open = ledger.intend(vec![decision("A2")], intent("A2"), Vec::new()).await.unwrap();
    let sealing = Sealing { seq: receipt.seq(), fields: vec!["arguments".to_owned()], reason: "a password".to_owned() };
    assert_eq!(ledger.seal(&sealing, &ann()).await.unwrap(), Sealed::Waits);
    assert!(matches!(ledger.seal(&sealing, &bob()).await.unwrap(), Sealed::Done(_)));
    ledger.publish(&[]).await.unwrap();
    let written = ledger.archive().records(Log::Writes, 0, 100).await.unwrap();
    ledger.shut().await;
    database.close().await;
    assert!(written.iter().any(|row| row.kind == "sealed") && written.len() > 5);

    let path = directory.path().join("old.db");
    let connect = SqliteConnectOptions::new().filename(&path).create_if_missing(true).foreign_keys(true);
    let mut connection = connect.connect().await.unwrap();
    earlier(&mut connection, &written).await;
    connection.close().await.unwrap();

    let database = Database::open(&path).await.unwrap();
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), settings("2")).await.unwrap();
    let rows = ledger.archive().records(Log::Writes, 0, 100).await.unwrap();
    assert_eq!(rows, written);
    assert_eq!(verified(&rows, &[], None).findings, []);
    let found = ledger.archive().find(Log::Writes, Find::Field { field: "approval", value: "\"A1\"" }).await.unwrap();
    assert_eq!(found.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2]);
    let sealings: i64 = sqlx::query_scalar("SELECT count(*) FROM ledger_sealing WHERE seq = 2 AND field = 'arguments'")
        .fetch_one(database.pool())
        .await
        .unwrap();
    assert_eq!(sealings, 1);
    let intents = ledger.open_intents().await.unwrap();
    assert_eq!(intents.iter().map(|row| row.seq).collect::<Vec<_>>(), [open.seq()]);
    // And it goes on.
    ledger.close(open.seq(), outcome(), Vec::new()).await.unwrap();
    let sealing = Sealing { seq: open.seq(), ..sealing };
    ledger.seal(&sealing, &ann()).await.unwrap();
    ledger.seal(&sealing, &bob()).await.unwrap();
    let rows = ledger.archive().records(Log::Writes, 0, 100).await.unwrap();
    assert_eq!(verified(&rows, &[], None).findings, []);
}
