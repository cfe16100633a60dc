-- The second part of release.lua, withdraw.lua and expire-reservation.lua: reserves the
-- lock for the first process in the wait queue and notifies that process, or makes the
-- lock free.
-- The key outlives the reservation by one poll interval. A process that acquires the lock
-- in that time still finds the reservation, and so checks the wait queue.
-- Reply: {1} if the lock is free now, or {1, 1, denied} or {1, 0, denied}: it is reserved,
--   and further processes are in the queue, or none. Denied is the name and the error of a
--   command that the server did not run, or empty.
local first = redis.call('ZPOPMIN', KEYS[2])[1]
if not first then
  redis.call('DEL', KEYS[1])
  return {1}
end
local time = redis.call('TIME')
local ends = string.format('%.0f', time[1] * 1000000 + time[2] + RESERVATION_MICROS)
local denied = ''
if redis.pcall('SET', KEYS[1], first .. RESERVED .. ends, 'PX', RESERVATION_EXPIRY_MILLIS).err then
  -- At maxmemory, the server refuses the reservation: the lock becomes free.
  redis.call('DEL', KEYS[1])
end
local published = redis.pcall('PUBLISH', ARGV[3] .. first, KEYS[1])
if type(published) == 'table' then
  denied = 'PUBLISH ' .. published.err
end
return {1, redis.call('EXISTS', KEYS[2]), denied}
