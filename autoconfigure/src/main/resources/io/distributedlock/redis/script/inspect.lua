-- Reads a lock for people. Changes nothing.
-- KEYS: the lock.
-- Reply: {0, header of the value, remaining milliseconds, server's microsecond}, as that of
--   attempt.lua to a busy lock; the header is empty if the lock is free.
local value = redis.call('GET', KEYS[1])
if not value then
  return {0, '', 0, 0}
end
local time = redis.call('TIME')
local header = value
if string.sub(value, STATE, STATE) ~= KEPT then
  header = parts(value)
end
return {0, header, redis.call('PTTL', KEYS[1]), time[1] * 1000000 + time[2]}
