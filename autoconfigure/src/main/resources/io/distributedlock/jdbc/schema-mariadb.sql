CREATE TABLE IF NOT EXISTS distributed_lock (
	lock_key VARBINARY(2048) NOT NULL PRIMARY KEY,
	owner VARCHAR(41) CHARACTER SET ascii COLLATE ascii_bin,
	grant_order BIGINT NOT NULL,
	expires_at DATETIME(6),
	acquired_at DATETIME(6),
	holder VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	first_waiter VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
	first_waiter_since DATETIME(6),
	first_waiter_until DATETIME(6),
	second_waiter VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
	second_waiter_since DATETIME(6),
	second_waiter_until DATETIME(6)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;

INSERT IGNORE INTO distributed_lock (lock_key, grant_order) VALUES ('%format', 1);
