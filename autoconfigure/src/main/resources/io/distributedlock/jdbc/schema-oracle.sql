CREATE TABLE distributed_lock (
	lock_key RAW(901) NOT NULL PRIMARY KEY,
	owner VARCHAR2(41) NOT NULL,
	grant_order NUMBER(19) NOT NULL,
	expires_at NUMBER(19) NOT NULL,
	acquired_at NUMBER(19) NOT NULL,
	holder VARCHAR2(255 CHAR),
	first_waiter VARCHAR2(32) NOT NULL,
	first_waiter_since NUMBER(19) NOT NULL,
	first_waiter_until NUMBER(19) NOT NULL,
	second_waiter VARCHAR2(32) NOT NULL,
	second_waiter_since NUMBER(19) NOT NULL,
	second_waiter_until NUMBER(19) NOT NULL
);

INSERT INTO distributed_lock (lock_key, owner, grant_order, expires_at, acquired_at, holder,
	first_waiter, first_waiter_since, first_waiter_until, second_waiter, second_waiter_since, second_waiter_until)
VALUES (HEXTORAW('25666f726d617400'), 'free....:................................', 2, 9223372036854775807, 0, NULL,
	'................................', 0, 0, '................................', 0, 0);
