-- Releases a share of a lock, if the owner still has it. Continues in reserve.lua if it was the
-- last one.
-- KEYS: the lock.
-- ARGV: owner and state; id of the process, 0 and channel prefix.
-- Reply: 0 if the owner has no share, 1 if it is released, or that of reserve.lua if another
--   process was notified.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, STATE, STATE) ~= SHARED then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local live, count, _, last, queue, own = shares(value, now, ARGV[1])
if not own then
  return 0
end
if count > 0 then
  return select(2, next_turn(value, live, last, queue, false, now, string.sub(ARGV[2], BEHIND_FLAG)))
end
