-- Shows whether the server replies and accepts writes, and the format of the layout. Changes
-- nothing.
-- KEYS: a key that does not exist, and the format, in one slot.
-- Reply: {the format, empty if there is none yet}.
redis.call('DEL', KEYS[1])
return {redis.call('GET', KEYS[2]) or ''}
