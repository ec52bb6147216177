ALTER TABLE orders ADD COLUMN status text NOT NULL DEFAULT 'pending';
