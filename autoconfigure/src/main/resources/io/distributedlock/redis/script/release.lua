-- Releases a lock, if the owner still holds it. Continues in release-contended.lua if
-- processes are in the wait queue.
-- KEYS: the lock.
-- ARGV: owner; id of the process; channel prefix; 1 if the process enters the wait queue
--   again behind the others.
-- Reply: {0} if the owner does not hold the lock, {1} if it is free now, else that of
--   reserve.lua.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, STATE) ~= ARGV[1] .. HELD then
  return {0}
end
if #value == HELD_HEADER_LENGTH + string.sub(value, LABEL_LENGTH_START, HELD_HEADER_LENGTH) then
  redis.call('DEL', KEYS[1])
  return {1}
end
