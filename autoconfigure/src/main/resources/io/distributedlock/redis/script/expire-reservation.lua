-- Ends the reservation of a lock whose time has passed, for the next process in the wait
-- queue. Continues in reserve.lua.
-- KEYS: the lock.
-- ARGV: empty; id of the process, 0 and channel prefix.
-- Reply: 0 if the lock has no such reservation, else that of reserve.lua.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, STATE, STATE) ~= RESERVED
    or redis.call('PTTL', KEYS[1]) > POLL_INTERVAL_MILLIS then
  return 0
end
local _, queue = parts(value)
if queue == '' then
  -- Any process can acquire the lock. Its value shows who has missed a reservation.
  return 0
end
