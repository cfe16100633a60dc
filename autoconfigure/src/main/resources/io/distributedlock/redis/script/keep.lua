-- Releases a lock, if the owner still holds it, and keeps it for a time after that: no
-- process owns it, enters its wait queue or acquires it before the key expires. The wait
-- queue ends with the value; the first process in it is notified, and so learns the time.
-- KEYS: the lock.
-- ARGV: owner and state; id of the process, 0 and channel prefix; the time in milliseconds.
-- Reply: 0 if the owner does not hold the lock, else 1.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, STATE) ~= ARGV[1] then
  return 0
end
local header, queue = parts(value)
local reply = redis.pcall('SET', KEYS[1], string.rep('0', ID_LENGTH) .. KEPT .. string.sub(header, STATE + 1),
    'PX', ARGV[3])
if reply.err then
  if not string.find(reply.err, OUT_OF_MEMORY) then
    return reply
  end
  -- At maxmemory, the server refuses the value: the released grant lasts as long instead.
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
queue = without(queue, string.sub(ARGV[2], 1, ID_LENGTH))
if queue ~= '' then
  -- A notification that is denied only costs latency.
  redis.pcall('PUBLISH', string.sub(ARGV[2], BEHIND_FLAG) .. string.sub(queue, 1, ID_LENGTH), KEYS[1])
end
return 1
