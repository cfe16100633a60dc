-- Shows whether the server replies and accepts writes. Changes nothing.
-- KEYS: a key that does not exist, in the slot of a lock.
return {redis.call('DEL', KEYS[1])}
