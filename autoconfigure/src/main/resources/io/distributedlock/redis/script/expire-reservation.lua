-- Ends the reservation of a lock whose time has passed, for the next process in the wait
-- queue. Continues in reserve.lua. At a shared lock, the first process in the queue that has not
-- come in its time leaves the queue.
-- KEYS: the lock.
-- ARGV: empty; id of the process, 0 and channel prefix.
-- Reply: 0 if the lock has no such reservation, else that of reserve.lua.
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, STATE, STATE) == SHARED then
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local live, _, _, last, queue = shares(value, now)
  if #queue <= ENTRY_LENGTH or tonumber(string.sub(value, CREATED_END + 1, SHARED_HEADER_LENGTH)) > now then
    return 0
  end
  return select(2, next_turn(value, live, last, string.sub(queue, ENTRY_LENGTH + 1), true, now,
      string.sub(ARGV[2], BEHIND_FLAG)))
end
if not value or string.sub(value, STATE, STATE) ~= RESERVED
    or redis.call('PTTL', KEYS[1]) > POLL_INTERVAL_MILLIS then
  return 0
end
local _, queue = parts(value)
if queue == '' then
  -- Any process can acquire the lock. Its value shows who has missed a reservation.
  return 0
end
