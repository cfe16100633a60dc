CREATE TABLE IF NOT EXISTS distributed_lock (
	lock_key VARBINARY(900) NOT NULL PRIMARY KEY,
	owner VARCHAR(41) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	grant_order BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	acquired_at BIGINT NOT NULL,
	holder VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	first_waiter VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	first_waiter_since BIGINT NOT NULL,
	first_waiter_until BIGINT NOT NULL,
	second_waiter VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	second_waiter_since BIGINT NOT NULL,
	second_waiter_until BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

INSERT IGNORE INTO distributed_lock (lock_key, owner, grant_order, expires_at, acquired_at, holder,
	first_waiter, first_waiter_since, first_waiter_until, second_waiter, second_waiter_since, second_waiter_until)
VALUES ('%format', 'free....:................................', 2, 9223372036854775807, 0, NULL,
	'................................', 0, 0, '................................', 0, 0);

CREATE TABLE IF NOT EXISTS distributed_lock_share (
	lock_key VARBINARY(900) NOT NULL,
	owner VARCHAR(41) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	grant_order BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	acquired_at BIGINT NOT NULL,
	holder VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	PRIMARY KEY (lock_key, owner)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
