-- Passes a reservation on that nobody has used in its time. Continued by reserve.lua.
-- KEYS: the lock, its line. ARGV: nothing, nothing, what stands before a process's inbox.
-- Answers {0} if there is no such reservation.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 33, 33) ~= 'R' then
  return {0}
end
local now = redis.call('TIME')
if tonumber(string.sub(value, 34)) > now[1] * 1000000 + now[2] then
  return {0}
end
