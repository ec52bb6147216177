//! The SQLite database: opening it, and bringing its schema up to date.
//!
//! [`Database`] gives its pool to the modules of this crate only; nothing outside the kernel runs a statement on it.
//! Approvals and the ledger are stored through [`storage`] alone.

pub mod storage;

pub(crate) mod sqlite;

pub mod lease;

mod ballast;

mod present;

#[cfg(test)]
pub(crate) mod memory;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection, SqlitePool};

/// Each step brings the schema from the version of its index to the next. Steps are only ever added.
const MIGRATIONS: &[&str] = &[
    include_str!("db/0001_trace.sql"),
    include_str!("db/0002_ledger.sql"),
    include_str!("db/0003_packed.sql"),
    include_str!("db/0004_desk.sql"),
    include_str!("db/0005_touched.sql"),
];

/// Why the database can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The directory of the file could not be made.
    #[error("can't create the directory of the store `{path}`")]
    Directory {
        /// The store's file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file could not be made, or could not be kept from other users.
    #[error("can't create the store `{path}` for its owner alone; check who owns the file and its directory")]
    File {
        /// The store's file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It could not be opened.
    #[error("can't open the store `{path}`; check that the file is a store of Warrant's and may be written")]
    Open {
        /// The store's file.
        path: PathBuf,
        /// Why.
        source: sqlx::Error,
    },
    /// It was written by a newer program.
    #[error("the store `{path}` has schema {found}, this program knows up to {known}; use the newer program")]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// Ours.
        known: usize,
    },
    /// A migration failed; the store is as it was.
    #[error("can't bring the store `{path}` to schema {version}")]
    Migrate {
        /// The store's file.
        path: PathBuf,
        /// The version it was to reach.
        version: usize,
        /// Why.
        source: sqlx::Error,
    },
}

impl DatabaseError {
    /// Whether somebody else held the file just then: `SQLITE_BUSY` in any of its forms.
    fn is_busy(&self) -> bool {
        let source = match self {
            Self::Open { source, .. } | Self::Migrate { source, .. } => source,
            Self::Directory { .. } | Self::File { .. } | Self::Newer { .. } => return false,
        };
        let code = source.as_database_error().and_then(sqlx::error::DatabaseError::code);
        code.and_then(|code| code.parse::<i32>().ok()).is_some_and(|code| code & 0xff == 5)
    }
}

/// How long one waits for others who hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// An open database.
#[derive(Debug, Clone)]
pub struct Database {
    pool: SqlitePool,
    path: PathBuf,
}

impl Database {
    /// Opens the database at `path`, creating it if there is none, readable by its owner only.
    ///
    /// # Errors
    /// [`DatabaseError`]; nothing was changed then.
    pub async fn open(path: &Path) -> Result<Self, DatabaseError> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)
                .map_err(|source| DatabaseError::Directory { path: path.to_owned(), source })?;
        }
        private(path).map_err(|source| DatabaseError::File { path: path.to_owned(), source })?;
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            match Self::open_once(path).await {
                // Turning a new file to WAL, and being the last to close it, shut others out, and SQLite tells them
                // so at once, without the waiting that `busy_timeout` asks for.
                Err(error) if error.is_busy() && tokio::time::Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                ended => return ended,
            }
        }
    }

    async fn open_once(path: &Path) -> Result<Self, DatabaseError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(PATIENCE)
            .foreign_keys(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(2)
            .acquire_timeout(PATIENCE * 2)
            .connect_with(options)
            .await
            .map_err(|source| DatabaseError::Open { path: path.to_owned(), source })?;
        let database = Self { pool, path: path.to_owned() };
        if let Err(error) = database.migrate().await {
            database.close().await;
            return Err(error);
        }
        Ok(database)
    }

    async fn migrate(&self) -> Result<(), DatabaseError> {
        let open = |source| DatabaseError::Open { path: self.path.clone(), source };
        let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&self.pool).await.map_err(open)?;
        let done = usize::try_from(found).unwrap_or(usize::MAX);
        if done > MIGRATIONS.len() {
            return Err(DatabaseError::Newer { path: self.path.clone(), found, known: MIGRATIONS.len() });
        }
        for (index, step) in MIGRATIONS.iter().enumerate().skip(done) {
            let version = index + 1;
            let fail = |source| DatabaseError::Migrate { path: self.path.clone(), version, source };
            // IMMEDIATE, and the version read again inside: two processes may start on a new store at once.
            let mut connection = self.pool.acquire().await.map_err(fail)?;
            sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut *connection).await.map_err(fail)?;
            let now: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await.map_err(fail)?;
            if usize::try_from(now).is_ok_and(|now| now < version)
                && let Err(source) = sqlx::raw_sql(*step).execute(&mut *connection).await
            {
                sqlx::raw_sql("ROLLBACK").execute(&mut *connection).await.map_err(fail)?;
                return Err(fail(source));
            }
            sqlx::raw_sql("COMMIT").execute(&mut *connection).await.map_err(fail)?;
        }
        Ok(())
    }

    /// A connection for what must survive a power cut once it is written.
    pub(crate) async fn durable(&self) -> Result<SqliteConnection, DatabaseError> {
        SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(PATIENCE)
            .foreign_keys(true)
            // What is sealed is overwritten, not only let go.
            .pragma("secure_delete", "ON")
            .disable_statement_logging()
            .connect()
            .await
            .map_err(|source| DatabaseError::Open { path: self.path.clone(), source })
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for what is under way and lets go of the file.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// The path of a file beside the store: its name with an ending more.
pub(crate) fn beside(store: &Path, end: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// The trace holds what logs and people said: nobody but the owner reads it. The file is made before SQLite opens it,
/// since SQLite gives the files beside it (`-wal`, `-shm`) the mode that it finds.
#[cfg(unix)]
fn private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let beside = ["-wal", "-shm", "-journal"].map(|end| beside(path, end));
    for path in std::iter::once(path).chain(beside.iter().map(PathBuf::as_path)) {
        match std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn private(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().append(true).create(true).open(path).map(drop)
}
