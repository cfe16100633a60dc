CREATE TABLE IF NOT EXISTS distributed_lock (
	lock_key VARBINARY(2048) NOT NULL PRIMARY KEY,
	owner VARCHAR(41),
	grant_order BIGINT NOT NULL,
	expires_at TIMESTAMP(6) WITH TIME ZONE,
	acquired_at TIMESTAMP(6) WITH TIME ZONE,
	holder VARCHAR(255),
	first_waiter VARCHAR(32),
	first_waiter_since TIMESTAMP(6) WITH TIME ZONE,
	first_waiter_until TIMESTAMP(6) WITH TIME ZONE,
	second_waiter VARCHAR(32),
	second_waiter_since TIMESTAMP(6) WITH TIME ZONE,
	second_waiter_until TIMESTAMP(6) WITH TIME ZONE
);

INSERT INTO distributed_lock (lock_key, grant_order)
SELECT X'25666f726d6174', 1 WHERE NOT EXISTS (SELECT 1 FROM distributed_lock WHERE lock_key = X'25666f726d6174');
