-- Releases a lock, if the owner still holds it. Continues in reserve.lua if processes may
-- be in the wait queue.
-- KEYS: the lock, its wait queue.
-- ARGV: owner, id of the process, channel prefix.
-- Reply: {0} if the owner does not hold the lock, {1} if it is free now, else that of
--   reserve.lua.
-- RedisLayout declares the constants.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, ID_LENGTH) ~= ARGV[1] then
  return {0}
end
local state = string.sub(value, STATE, STATE)
if state == HELD then
  redis.call('DEL', KEYS[1])
  return {1}
end
if state ~= CONTENDED then
  return {0}
end
redis.call('ZREM', KEYS[2], ARGV[2])
