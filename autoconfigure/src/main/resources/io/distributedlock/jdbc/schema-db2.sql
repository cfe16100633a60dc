CREATE TABLE distributed_lock (
	lock_key VARBINARY(901) NOT NULL PRIMARY KEY,
	owner VARCHAR(41) NOT NULL,
	grant_order BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	acquired_at BIGINT NOT NULL,
	holder VARCHAR(255 CODEUNITS32),
	first_waiter VARCHAR(32) NOT NULL,
	first_waiter_since BIGINT NOT NULL,
	first_waiter_until BIGINT NOT NULL,
	second_waiter VARCHAR(32) NOT NULL,
	second_waiter_since BIGINT NOT NULL,
	second_waiter_until BIGINT NOT NULL
);

INSERT INTO distributed_lock (lock_key, owner, grant_order, expires_at, acquired_at, holder,
	first_waiter, first_waiter_since, first_waiter_until, second_waiter, second_waiter_since, second_waiter_until)
VALUES (BX'25666f726d617400', 'free....:................................', 2, 9223372036854775807, 0, NULL,
	'................................', 0, 0, '................................', 0, 0);
