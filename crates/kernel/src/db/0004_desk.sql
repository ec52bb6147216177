-- What came in from outside and waits to be handled, and what is noted beside: incidents, threads, messages to be sent.
CREATE TABLE arrival (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL,
    -- What a second delivery of the same thing has in common with the first.
    key     TEXT NOT NULL,
    at      TEXT NOT NULL,
    -- Gone once it is handled; the key stays, so that a late delivery is still known.
    body    TEXT,
    UNIQUE (channel, key)
) STRICT;

CREATE INDEX arrival_waiting ON arrival (channel, number) WHERE body IS NOT NULL;
CREATE INDEX arrival_handled ON arrival (at) WHERE body IS NULL;

CREATE TABLE note (
    kind     TEXT NOT NULL,
    id       TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision > 0),
    body     TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 4;
