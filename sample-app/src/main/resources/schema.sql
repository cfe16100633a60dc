-- For H2, PostgreSQL and MySQL. A database of yours keeps what was sold before.
CREATE TABLE IF NOT EXISTS sample_event (
	id INT NOT NULL PRIMARY KEY,
	capacity INT NOT NULL,
	sold INT DEFAULT 0 NOT NULL,
	fence BIGINT DEFAULT 0 NOT NULL
);

CREATE TABLE IF NOT EXISTS sample_sale (
	event_id INT NOT NULL,
	seat INT NOT NULL,
	pid BIGINT NOT NULL,
	token BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS sample_refusal (
	event_id INT NOT NULL,
	seat INT NOT NULL,
	pid BIGINT NOT NULL,
	token BIGINT NOT NULL
);
