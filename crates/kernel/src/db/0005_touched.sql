-- When a note was last written, in seconds since 1970: what nobody has touched for long and nobody asks for any more may go.
-- What is there already counts as written now.
ALTER TABLE note ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;

UPDATE note SET touched = unixepoch();

CREATE INDEX note_touched ON note (kind, touched, id);

PRAGMA user_version = 5;
