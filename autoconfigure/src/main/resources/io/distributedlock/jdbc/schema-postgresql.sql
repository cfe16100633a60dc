CREATE TABLE IF NOT EXISTS distributed_lock (
	lock_key varchar(512) COLLATE "C" NOT NULL PRIMARY KEY,
	owner varchar(41) COLLATE "C",
	grant_order bigint NOT NULL,
	expires_at timestamptz,
	acquired_at timestamptz,
	holder varchar(255),
	first_waiter varchar(32) COLLATE "C",
	first_waiter_since timestamptz,
	first_waiter_until timestamptz,
	second_waiter varchar(32) COLLATE "C",
	second_waiter_since timestamptz,
	second_waiter_until timestamptz
);

INSERT INTO distributed_lock (lock_key, grant_order) VALUES ('%format', 1) ON CONFLICT DO NOTHING;
