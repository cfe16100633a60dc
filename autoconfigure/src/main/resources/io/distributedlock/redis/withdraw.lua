-- Takes a process out of the line and passes on what is reserved for it. Continued by
-- reserve.lua.
-- KEYS: the lock, its line. ARGV: nothing, process, what stands before a process's inbox.
-- Answers {1} if there was a place, {0} if there was nothing.
local place = redis.call('ZREM', KEYS[2], ARGV[2])
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, 33) ~= ARGV[2] .. 'R' then
  return {place}
end
