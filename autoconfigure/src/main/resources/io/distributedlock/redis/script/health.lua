-- Shows whether the server replies and accepts writes. Changes nothing: SET with XX writes only
-- to a key that exists, but a server that is full or read-only refuses it all the same.
-- KEYS: a key that does not exist, and for one server of all the format of the layout, in its slot.
-- Reply: {the format, empty if there is none yet}.
redis.call('SET', KEYS[1], '', 'XX')
return {KEYS[2] and redis.call('GET', KEYS[2]) or ''}
