CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, total numeric(10,2));
