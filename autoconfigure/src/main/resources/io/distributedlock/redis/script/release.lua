-- Releases a lock, if the owner still holds it. Continues in release-contended.lua if
-- processes are in the wait queue.
-- KEYS: the lock.
-- ARGV: the value that the grant made, or as much of it as is known, at least owner and
--   state; in one argument the id of the process, 1 if the process enters the wait queue
--   again behind the others or else 0, and the channel prefix.
-- Reply: 0 if the owner does not hold the lock, 1 if it is free now, else that of
--   reserve.lua.
local value = redis.call('GET', KEYS[1])
if value == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return 1
end
if not value or string.sub(value, 1, STATE) ~= string.sub(ARGV[1], 1, STATE) then
  return 0
end
if #value == HELD_HEADER_LENGTH + string.sub(value, LABEL_LENGTH_START, HELD_HEADER_LENGTH) then
  redis.call('DEL', KEYS[1])
  return 1
end
