-- The ledger and what changes together with it. Records stay for ever; the triggers hold that against our own mistakes,
-- the hashes and the checkpoints kept elsewhere against everybody's.
CREATE TABLE ledger_record (
    log   TEXT NOT NULL CHECK (log IN ('writes', 'looks')),
    seq   INTEGER NOT NULL,
    hash  BLOB NOT NULL CHECK (length(hash) = 32),
    at    TEXT NOT NULL,
    kind  TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (log, seq)
) STRICT;

CREATE INDEX ledger_record_kind ON ledger_record (log, kind, seq);

CREATE TRIGGER ledger_record_is_appended BEFORE INSERT ON ledger_record
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq) + 1, 0) FROM ledger_record WHERE log = NEW.log)
BEGIN SELECT RAISE(ABORT, 'records are only appended'); END;

CREATE TRIGGER ledger_record_is_fixed BEFORE UPDATE ON ledger_record
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;

CREATE TRIGGER ledger_record_stays BEFORE DELETE ON ledger_record
BEGIN SELECT RAISE(ABORT, 'a record is never deleted'); END;

-- The values that a record commits to, and their salts.
CREATE TABLE ledger_opening (
    log   TEXT NOT NULL,
    seq   INTEGER NOT NULL,
    field TEXT NOT NULL,
    salt  BLOB NOT NULL CHECK (length(salt) = 16),
    value TEXT NOT NULL,
    PRIMARY KEY (log, seq, field),
    FOREIGN KEY (log, seq) REFERENCES ledger_record (log, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_opening_value ON ledger_opening (log, field, value, seq)
WHERE field IN ('about', 'approval', 'investigation', 'target');

-- Openings are written before their record, in one transaction; after it none can be added.
CREATE TRIGGER ledger_opening_comes_with_its_record BEFORE INSERT ON ledger_opening
WHEN EXISTS (SELECT 1 FROM ledger_record WHERE log = NEW.log AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'an opening comes with its record'); END;

CREATE TRIGGER ledger_opening_is_fixed BEFORE UPDATE ON ledger_opening
BEGIN SELECT RAISE(ABORT, 'an opening never changes'); END;

-- An opening goes only where two persons sealed it, before the record that says so is appended; and without that record
-- the transaction does not commit.
CREATE TABLE ledger_sealing (
    log     TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    field   TEXT NOT NULL,
    by_seq  INTEGER NOT NULL,
    first   TEXT NOT NULL,
    second  TEXT NOT NULL,
    PRIMARY KEY (log, seq, field),
    CHECK (first <> second),
    FOREIGN KEY (log, by_seq) REFERENCES ledger_record (log, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ledger_sealing_is_next BEFORE INSERT ON ledger_sealing
WHEN NEW.by_seq IS NOT (SELECT MAX(seq) + 1 FROM ledger_record WHERE log = NEW.log)
BEGIN SELECT RAISE(ABORT, 'an opening is sealed by the next record'); END;

CREATE TRIGGER ledger_sealing_is_fixed BEFORE UPDATE ON ledger_sealing
BEGIN SELECT RAISE(ABORT, 'a sealing never changes'); END;

CREATE TRIGGER ledger_sealing_stays BEFORE DELETE ON ledger_sealing
BEGIN SELECT RAISE(ABORT, 'a sealing is never deleted'); END;

CREATE TRIGGER ledger_sealing_is_told BEFORE INSERT ON ledger_record
WHEN NEW.kind <> 'sealed'
    AND EXISTS (SELECT 1 FROM ledger_sealing WHERE log = NEW.log AND by_seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'a sealing is told by a record of its own'); END;

CREATE TRIGGER ledger_opening_goes_when_sealed BEFORE DELETE ON ledger_opening
WHEN NOT EXISTS (
    SELECT 1 FROM ledger_sealing WHERE log = OLD.log AND seq = OLD.seq AND field = OLD.field
    AND by_seq = (SELECT MAX(seq) + 1 FROM ledger_record WHERE log = OLD.log)
)
BEGIN SELECT RAISE(ABORT, 'an opening goes only when two persons seal it'); END;

-- Texts of policies, tools and runbooks that were in force.
CREATE TABLE ledger_text (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    body   TEXT NOT NULL
) STRICT;

CREATE TRIGGER ledger_text_is_new BEFORE INSERT ON ledger_text
WHEN EXISTS (SELECT 1 FROM ledger_text WHERE digest = NEW.digest)
BEGIN SELECT RAISE(ABORT, 'a text never changes'); END;

CREATE TRIGGER ledger_text_is_fixed BEFORE UPDATE ON ledger_text
BEGIN SELECT RAISE(ABORT, 'a text never changes'); END;

CREATE TRIGGER ledger_text_stays BEFORE DELETE ON ledger_text
BEGIN SELECT RAISE(ABORT, 'a text is never deleted'); END;

-- What changes with the ledger: approvals, switches, tokens, debts.
CREATE TABLE document (
    kind     TEXT NOT NULL,
    id       TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER document_goes_on BEFORE UPDATE ON document
WHEN NEW.kind IS NOT OLD.kind OR NEW.id IS NOT OLD.id OR NEW.revision IS NOT OLD.revision + 1
BEGIN SELECT RAISE(ABORT, 'a document goes on by one revision'); END;

CREATE TRIGGER document_stays BEFORE DELETE ON document
BEGIN SELECT RAISE(ABORT, 'a document is never deleted'); END;

-- Raised by every process that takes over; commits of an earlier one fail.
CREATE TABLE lease (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL
) STRICT;

INSERT INTO lease (one, epoch) VALUES (1, 0);

CREATE TRIGGER lease_rises BEFORE UPDATE ON lease
WHEN NEW.epoch IS NOT OLD.epoch + 1
BEGIN SELECT RAISE(ABORT, 'an epoch only rises'); END;

CREATE TRIGGER lease_stays BEFORE DELETE ON lease
BEGIN SELECT RAISE(ABORT, 'the lease is never deleted'); END;

PRAGMA user_version = 2;
