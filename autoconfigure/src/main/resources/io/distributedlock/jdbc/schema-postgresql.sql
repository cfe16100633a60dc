CREATE TABLE IF NOT EXISTS distributed_lock (
	lock_key varchar(512) COLLATE "C" NOT NULL PRIMARY KEY,
	owner varchar(33) COLLATE "C",
	lease_order bigint NOT NULL,
	expires_at timestamptz,
	acquired_at timestamptz,
	holder varchar(255),
	next_waiter varchar(32) COLLATE "C",
	next_since timestamptz,
	next_until timestamptz,
	then_waiter varchar(32) COLLATE "C",
	then_since timestamptz,
	then_until timestamptz
);

INSERT INTO distributed_lock (lock_key, lease_order) VALUES ('%format', 1) ON CONFLICT DO NOTHING;
