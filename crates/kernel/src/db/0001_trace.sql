-- The trace: investigations, their events, and the bodies that events point to.
CREATE TABLE investigation (
    id         TEXT PRIMARY KEY,
    opened_at  TEXT NOT NULL,
    question   TEXT NOT NULL,
    service    TEXT,
    -- Key of the placeholders; a resumed run gives the same secret the same placeholder.
    mask_key   BLOB NOT NULL,
    ended_at   TEXT,
    outcome    TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    investigation TEXT NOT NULL REFERENCES investigation (id) ON DELETE CASCADE,
    seq           INTEGER NOT NULL,
    at            TEXT NOT NULL,
    body          TEXT NOT NULL,
    PRIMARY KEY (investigation, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
    digest TEXT PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;

-- The whole output of a call, masked: a summary, and rows as JSON lines.
CREATE TABLE evidence (
    investigation TEXT NOT NULL REFERENCES investigation (id) ON DELETE CASCADE,
    number        INTEGER NOT NULL,
    tool          TEXT NOT NULL,
    origin        TEXT NOT NULL,
    summary       TEXT NOT NULL,
    total         INTEGER NOT NULL,
    rows_digest   TEXT NOT NULL REFERENCES blob (digest),
    PRIMARY KEY (investigation, number)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
