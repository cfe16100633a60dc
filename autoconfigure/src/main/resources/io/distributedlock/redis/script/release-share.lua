-- Releases a share of a lock, if the owner still has it. Continues in reserve.lua if it was the
-- last one, or an exclusive grant of a version without shares, whose owner ids may be odd.
-- KEYS: the lock.
-- ARGV: owner and state; id of the process, 0 and channel prefix.
-- Reply: 0 if the owner has no share, 1 if it is released, or that of reserve.lua if another
--   process was notified.
local value = redis.call('GET', KEYS[1])
local queue
if value and string.sub(value, STATE, STATE) == SHARED then
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local live, count, _, last, rest, own = shares(value, now, ARGV[1])
  if own and count > 0 then
    return select(2, next_turn(value, live, last, rest, false, now, string.sub(ARGV[2], BEHIND_FLAG)))
  end
  queue = own and rest
elseif value and string.sub(value, 1, STATE) == ARGV[1] then
  queue = select(2, parts(value))
end
if not queue then
  return 0
end
