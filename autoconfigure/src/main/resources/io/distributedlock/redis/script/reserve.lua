-- The second part of release.lua, withdraw.lua and expire-reservation.lua: reserves the
-- lock for the first process in the wait queue and notifies that process, or makes the
-- lock free.
-- The key outlives the reservation by one poll interval. A process that acquires the lock
-- in that time still finds the reservation, and with it the wait queue.
-- Reply: 1 if the lock is free now, or {1, further, score, denied}: it is reserved.
--   Further is the number of further processes in the queue. Score is that with which this
--   process has entered the queue again, or 0. Denied is the error of PUBLISH, or empty.
if queue == '' then
  redis.call('DEL', KEYS[1])
  return 1
end
local first = string.sub(queue, 1, ID_LENGTH)
local further = string.sub(queue, ENTRY_LENGTH + 1)
local again, score = '', 0
-- A process that does not come back after all is not notified at a shared lock, where the first in
-- the queue holds further shares back: so there is no entry behind one that may wait for a share.
local keeps = string.sub(ARGV[2], FLAG, FLAG) == '1'
for start = 1, keeps and #queue or 0, ENTRY_LENGTH do
  keeps = keeps and not may_want_share(string.sub(queue, start))
end
if keeps then
  -- Later than the creation, by which the process recognises that it has missed its turn.
  score = score_after(string.sub(queue, -SCORE_LENGTH), tonumber(string.sub(value, CREATED_START, CREATED_END)) + 1)
  again = string.sub(ARGV[2], 1, ID_LENGTH) .. score
  score = tonumber(score)
end
if redis.pcall('SET', KEYS[1], first .. RESERVED .. string.sub(value, CREATED_START, CREATED_END) .. further .. again,
    'PX', RESERVATION_EXPIRY_MILLIS).err then
  -- At maxmemory, the server refuses the reservation: the lock becomes free.
  redis.call('DEL', KEYS[1])
  score = 0
end
return {1, #further / ENTRY_LENGTH, score, notify(first, string.sub(ARGV[2], BEHIND_FLAG))}
