-- A record is one row, its openings in it, and a batch is one statement: what is asked for most often is to make a record
-- durable, and each row, index and statement more would stand between a decision and its receipt.
CREATE TABLE packed_record (
    log      TEXT NOT NULL CHECK (log IN ('writes', 'looks')),
    seq      INTEGER NOT NULL,
    hash     BLOB NOT NULL CHECK (length(hash) = 32),
    at       TEXT NOT NULL,
    kind     TEXT NOT NULL,
    bytes    BLOB NOT NULL,
    -- The values that the record commits to, by field, each with its salt in hex: {"tier": ["0f..", "\"high\""]}.
    openings TEXT NOT NULL,
    -- Derived from them: what records are looked for by.
    about         TEXT AS (openings ->> '$.about[1]'),
    approval      TEXT AS (openings ->> '$.approval[1]'),
    investigation TEXT AS (openings ->> '$.investigation[1]'),
    target        TEXT AS (openings ->> '$.target[1]'),
    PRIMARY KEY (log, seq)
) STRICT;

INSERT INTO packed_record (log, seq, hash, at, kind, bytes, openings)
SELECT log, seq, hash, at, kind, bytes, (
    SELECT json_group_object(field, json_array(lower(hex(salt)), value)) FROM ledger_opening AS it
    WHERE it.log = record.log AND it.seq = record.seq
) FROM ledger_record AS record ORDER BY log, seq;

CREATE TABLE packed_sealing (
    log     TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    field   TEXT NOT NULL CHECK (field NOT GLOB '*[^a-z0-9_]*'),
    by_seq  INTEGER NOT NULL,
    first   TEXT NOT NULL,
    second  TEXT NOT NULL,
    PRIMARY KEY (log, seq, field),
    CHECK (first <> second),
    FOREIGN KEY (log, by_seq) REFERENCES packed_record (log, seq) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

INSERT INTO packed_sealing SELECT log, seq, field, by_seq, first, second FROM ledger_sealing;

DROP TABLE ledger_opening;
DROP TABLE ledger_sealing;
DROP TABLE ledger_record;
ALTER TABLE packed_record RENAME TO ledger_record;
ALTER TABLE packed_sealing RENAME TO ledger_sealing;

CREATE INDEX ledger_record_kind ON ledger_record (kind, log, seq);
CREATE INDEX ledger_record_about ON ledger_record (about, log, seq) WHERE about IS NOT NULL;
CREATE INDEX ledger_record_approval ON ledger_record (approval, log, seq) WHERE approval IS NOT NULL;
CREATE INDEX ledger_record_investigation ON ledger_record (investigation, log, seq) WHERE investigation IS NOT NULL;
CREATE INDEX ledger_record_target ON ledger_record (target, log, seq) WHERE target IS NOT NULL;

CREATE TRIGGER ledger_record_is_appended BEFORE INSERT ON ledger_record
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq) + 1, 0) FROM ledger_record WHERE log = NEW.log)
BEGIN SELECT RAISE(ABORT, 'records are only appended'); END;

CREATE TRIGGER ledger_record_is_fixed BEFORE UPDATE OF log, seq, hash, at, kind, bytes ON ledger_record
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;

CREATE TRIGGER ledger_record_stays BEFORE DELETE ON ledger_record
BEGIN SELECT RAISE(ABORT, 'a record is never deleted'); END;

-- An opening goes only where two persons sealed it, before the record that says so is appended; and without that record
-- the transaction does not commit. All the others stay as they are.
CREATE TRIGGER ledger_opening_goes_when_sealed BEFORE UPDATE OF openings ON ledger_record
WHEN NOT EXISTS (
    SELECT 1 FROM ledger_sealing WHERE log = OLD.log AND seq = OLD.seq
    AND by_seq = (SELECT MAX(seq) + 1 FROM ledger_record WHERE log = OLD.log)
    AND NEW.openings IS json_remove(OLD.openings, '$.' || field)
)
BEGIN SELECT RAISE(ABORT, 'an opening goes only when two persons seal it'); END;

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

CREATE TRIGGER ledger_sealing_takes_away AFTER INSERT ON ledger_sealing
BEGIN
    UPDATE ledger_record SET openings = json_remove(openings, '$.' || NEW.field) WHERE log = NEW.log AND seq = NEW.seq;
END;

-- One insert into this view is one batch: all of it or nothing, in one trip to the thread that talks to SQLite. Its first
-- row says what the writer believes: its epoch (`id`), where the log ends (`seq`, `hash`).
CREATE VIEW batch (part, log, seq, kind, id, hash, at, bytes, body) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE FALSE;

CREATE TRIGGER batch_is_known INSTEAD OF INSERT ON batch
WHEN NEW.part IS NULL OR NEW.part NOT IN ('expected', 'sealing', 'record', 'document', 'text')
BEGIN SELECT RAISE(ABORT, 'a batch has no such part'); END;

CREATE TRIGGER batch_expects INSTEAD OF INSERT ON batch WHEN NEW.part = 'expected'
BEGIN
    SELECT RAISE(ABORT, 'another epoch') WHERE NEW.id IS NOT NULL AND NEW.id IS NOT (SELECT epoch FROM lease);
    SELECT RAISE(ABORT, 'another tail')
    WHERE NEW.seq IS NOT (SELECT COALESCE(MAX(seq) + 1, 0) FROM ledger_record WHERE log = NEW.log)
        OR NEW.hash IS NOT (SELECT hash FROM ledger_record WHERE log = NEW.log ORDER BY seq DESC LIMIT 1);
END;

-- `id` is the field, `body` the two persons.
CREATE TRIGGER batch_seals INSTEAD OF INSERT ON batch WHEN NEW.part = 'sealing'
BEGIN
    SELECT RAISE(ABORT, 'no such opening') WHERE NOT EXISTS (
        SELECT 1 FROM ledger_record WHERE log = NEW.log AND seq = NEW.seq
        AND json_type(openings, '$.' || NEW.id) IS NOT NULL
    );
    INSERT INTO ledger_sealing (log, seq, field, by_seq, first, second)
    SELECT NEW.log, NEW.seq, NEW.id, MAX(seq) + 1, NEW.body ->> 0, NEW.body ->> 1
    FROM ledger_record WHERE log = NEW.log;
END;

CREATE TRIGGER batch_appends INSTEAD OF INSERT ON batch WHEN NEW.part = 'record'
BEGIN
    INSERT INTO ledger_record (log, seq, hash, at, kind, bytes, openings)
    VALUES (NEW.log, NEW.seq, NEW.hash, NEW.at, NEW.kind, NEW.bytes, NEW.body);
END;

-- `seq` is the revision that was read.
CREATE TRIGGER batch_writes INSTEAD OF INSERT ON batch WHEN NEW.part = 'document'
BEGIN
    SELECT RAISE(ABORT, 'another revision') WHERE NEW.seq IS NOT (
        SELECT COALESCE(MAX(revision), 0) FROM document WHERE kind = NEW.kind AND id = NEW.id
    );
    INSERT INTO document (kind, id, revision, body) VALUES (NEW.kind, NEW.id, NEW.seq + 1, NEW.body)
    ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, body = excluded.body;
END;

CREATE TRIGGER batch_keeps INSTEAD OF INSERT ON batch WHEN NEW.part = 'text'
BEGIN
    INSERT INTO ledger_text (digest, body)
    SELECT NEW.hash, NEW.body WHERE NOT EXISTS (SELECT 1 FROM ledger_text WHERE digest = NEW.hash);
END;

PRAGMA user_version = 3;
