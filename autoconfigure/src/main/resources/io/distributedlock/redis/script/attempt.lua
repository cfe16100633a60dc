-- Attempts to acquire a lock.
-- KEYS: the lock, the last order of its bucket.
-- ARGV: owner and state, with which the value of the grant begins; lease in milliseconds;
--   label of the process, behind its length; in one argument, since each costs time, the id
--   of the process, 1 if the lock is probably not free or else 0, and the score of the process
--   in the wait queue: empty = the process does not wait, 0 = it has no score yet, else the
--   score of its earlier entry. If that is in the queue of a held lock, 2 in place of 1, and
--   what the header began with then, up to the creation.
-- Reply to a grant: the order, or {order, remaining milliseconds} if this owner held the
--   lock already.
-- Reply otherwise: {0, header of the value, remaining milliseconds, server's microsecond,
--   score, missed}. The header is empty if it still begins as then. Missed is 1 if the earlier
--   entry is gone: if the value is still the same, by its creation, the lock was reserved for
--   this process since.
-- Continues in attempt-busy.lua unless the lock is free.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local flag = string.sub(ARGV[4], FLAG, FLAG)
if flag == '2' and redis.call('GETRANGE', KEYS[1], 0, CREATED_END - 1) == string.sub(ARGV[4], BEHIND_SCORE) then
  -- No entry has left the queue by a release, nor because the queue is long. So the entry of
  -- this process is there, and the queue need not be read.
  return {0, '', redis.call('PTTL', KEYS[1]), now, tonumber(string.sub(ARGV[4], BEHIND_FLAG, BEHIND_SCORE - 1)), 0}
end
local value = flag ~= '0' and redis.call('GET', KEYS[1])
if not value then
  local created = time[1] .. string.sub('00000' .. time[2], -6)
  local reply = redis.pcall('SET', KEYS[1], ARGV[1] .. created .. time[1] .. ARGV[3], 'NX', 'PX', ARGV[2])
  if reply and reply.ok then
    if redis.call('ZADD', KEYS[2], 'GT', 'CH', now, ORDER_MEMBER) == 0 then
      now = tonumber(redis.call('ZINCRBY', KEYS[2], 1, ORDER_MEMBER))
    end
    return now
  end
  -- At maxmemory, the server refuses SET before it applies NX.
  if reply and not string.find(reply.err, OUT_OF_MEMORY) then
    return reply
  end
  value = redis.call('GET', KEYS[1])
  if not value then
    return reply or {0, '', 0, now, 0, 0}
  end
end
