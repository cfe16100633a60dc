CREATE TABLE IF NOT EXISTS distributed_lock (
	lock_key varchar(900) COLLATE "C" NOT NULL PRIMARY KEY,
	owner varchar(41) COLLATE "C" NOT NULL,
	grant_order bigint NOT NULL,
	expires_at bigint NOT NULL,
	acquired_at bigint NOT NULL,
	holder varchar(255),
	first_waiter varchar(32) COLLATE "C" NOT NULL,
	first_waiter_since bigint NOT NULL,
	first_waiter_until bigint NOT NULL,
	second_waiter varchar(32) COLLATE "C" NOT NULL,
	second_waiter_since bigint NOT NULL,
	second_waiter_until bigint NOT NULL
);

INSERT INTO distributed_lock (lock_key, owner, grant_order, expires_at, acquired_at, holder,
	first_waiter, first_waiter_since, first_waiter_until, second_waiter, second_waiter_since, second_waiter_until)
VALUES ('%format', 'free....:................................', 2, 9223372036854775807, 0, NULL,
	'................................', 0, 0, '................................', 0, 0) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS distributed_lock_share (
	lock_key varchar(900) COLLATE "C" NOT NULL,
	owner varchar(41) COLLATE "C" NOT NULL,
	grant_order bigint NOT NULL,
	expires_at bigint NOT NULL,
	acquired_at bigint NOT NULL,
	holder varchar(255),
	PRIMARY KEY (lock_key, owner)
);
