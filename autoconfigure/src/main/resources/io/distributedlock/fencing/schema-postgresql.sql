CREATE TABLE IF NOT EXISTS distributed_lock_fence (
	fence_key varchar(512) COLLATE "C" NOT NULL PRIMARY KEY,
	token bigint NOT NULL,
	changed_at timestamptz NOT NULL
);
