//! Opening: at once from several places, by an older program, and for nobody but the owner.

use std::path::Path;

use super::{Database, DatabaseError};

/// An error with all its causes, the directory taken out.
fn told(error: &DatabaseError, directory: &Path) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text.replace(&directory.display().to_string(), "DIR")
}

#[test]
fn a_new_file_may_be_opened_from_several_places_at_once() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..8 {
        let path = directory.path().join(format!("{round}.db"));
        let open = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let database = Database::open(&path).await.map_err(|error| told(&error, directory.path()))?;
                let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(database.pool()).await.unwrap();
                database.close().await;
                Ok::<i64, String>(version)
            })
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            for opened in all {
                assert_eq!(opened.join().unwrap(), Ok(5));
            }
        });
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    sqlx::raw_sql("PRAGMA user_version = 99").execute(database.pool()).await.unwrap();
    database.close().await;
    let before = std::fs::read(&path).unwrap();
    let error = Database::open(&path).await.unwrap_err();
    insta::assert_snapshot!(told(&error, directory.path()), @"the store `DIR/w.db` has schema 99, this program knows up to 5; use the newer program");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_but_the_owner_reads_it_or_the_files_beside_it() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().unwrap();
    let modes = || {
        let mut found: Vec<(String, u32)> = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                (entry.file_name().into_string().unwrap(), mode)
            })
            .collect();
        found.sort();
        found
    };
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    let all = ["w.db", "w.db-shm", "w.db-wal"].map(|name| (name.to_owned(), 0o600));
    assert_eq!(modes(), all);
    database.close().await;
    // One that others could read is closed to them when it is opened.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let _database = Database::open(&path).await.unwrap();
    assert_eq!(modes(), all);
}

#[tokio::test]
async fn what_can_not_be_opened_is_told_with_its_cause() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("text.db"), "this is no database, and long enough to look like something else").unwrap();
    std::fs::create_dir(at("directory.db")).unwrap();
    let mut all = Vec::new();
    for path in [at("text.db"), at("directory.db"), at("text.db/below.db")] {
        all.push(told(&Database::open(&path).await.unwrap_err(), directory.path()));
    }
    insta::assert_snapshot!(all.join("\n"), @r"
    can't open the store `DIR/text.db`; check that the file is a store of Warrant's and may be written: error returned from database: (code: 26) file is not a database: (code: 26) file is not a database
    can't create the store `DIR/directory.db` for its owner alone; check who owns the file and its directory: Is a directory (os error 21)
    can't create the directory of the store `DIR/text.db/below.db`: File exists (os error 17)
    ");
    assert!(std::fs::read_to_string(at("text.db")).unwrap().starts_with("this is no database"));
}
