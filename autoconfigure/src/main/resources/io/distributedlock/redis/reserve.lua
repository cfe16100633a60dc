-- The lock is nobody's any more: reserves it for the first in line and wakes that
-- process, or sets it free. The reservation counts for 100 ms and stays to be seen for a
-- poll more, so that whoever takes it looks after the line.
-- Answers {1}, or {1, 1} if others stand in line behind the one it is reserved for.
local head = redis.call('ZPOPMIN', KEYS[2])[1]
if not head then
  redis.call('DEL', KEYS[1])
  return {1}
end
local time = redis.call('TIME')
local ends = string.format('%.0f', time[1] * 1000000 + time[2] + 100000)
if redis.pcall('SET', KEYS[1], head .. 'R' .. ends, 'PX', 1100).err then
  -- No memory for a reservation.
  redis.call('DEL', KEYS[1])
end
redis.pcall('PUBLISH', ARGV[3] .. head, KEYS[1])
return {1, redis.call('EXISTS', KEYS[2])}
