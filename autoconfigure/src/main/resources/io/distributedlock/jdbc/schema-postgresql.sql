CREATE TABLE IF NOT EXISTS distributed_lock (
	lock_key varchar(512) COLLATE "C" NOT NULL PRIMARY KEY,
	owner varchar(41) COLLATE "C",
	lease_order bigint NOT NULL,
	expires_at timestamptz,
	acquired_at timestamptz,
	holder varchar(255),
	first_waiter varchar(32) COLLATE "C",
	first_since timestamptz,
	first_until timestamptz,
	second_waiter varchar(32) COLLATE "C",
	second_since timestamptz,
	second_until timestamptz
);

INSERT INTO distributed_lock (lock_key, lease_order) VALUES ('%format', 1) ON CONFLICT DO NOTHING;
