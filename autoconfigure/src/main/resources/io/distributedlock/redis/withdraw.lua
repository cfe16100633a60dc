-- Removes a process from the wait queue of a lock. Continues in reserve.lua if the lock is
-- reserved for that process.
-- KEYS: the lock, its wait queue.
-- ARGV: empty, id of the process, channel prefix.
-- Reply: {1} if the process was in the queue, {0} if not, or that of reserve.lua.
-- RedisLayout declares the constants.
local removed = redis.call('ZREM', KEYS[2], ARGV[2])
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, STATE) ~= ARGV[2] .. RESERVED then
  return {removed}
end
