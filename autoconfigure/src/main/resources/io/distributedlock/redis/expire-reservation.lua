-- Ends the reservation of a lock whose time has passed. Continues in reserve.lua.
-- KEYS: the lock, its wait queue.
-- ARGV: empty, id of the process, channel prefix.
-- Reply: {0} if the lock has no such reservation, else that of reserve.lua.
-- RedisLayout declares the constants.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, STATE, STATE) ~= RESERVED then
  return {0}
end
local now = redis.call('TIME')
if tonumber(string.sub(value, STATE + 1)) > now[1] * 1000000 + now[2] then
  return {0}
end
