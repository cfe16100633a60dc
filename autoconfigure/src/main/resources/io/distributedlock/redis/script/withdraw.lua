-- Removes a process from the wait queue of a lock. Continues in reserve.lua if the lock is
-- reserved for that process.
-- KEYS: the lock.
-- ARGV: empty; id of the process, 0 and channel prefix.
-- Reply: 1 if the process was in the queue, 0 if not, or that of reserve.lua.
local value = redis.call('GET', KEYS[1])
local state = value and string.sub(value, STATE, STATE)
if state ~= HELD and state ~= RESERVED and state ~= SHARED then
  return 0
end
local process = string.sub(ARGV[2], 1, ID_LENGTH)
local header, queue = parts(value)
local rest, present = without(queue, process)
if string.sub(value, 1, STATE) ~= process .. RESERVED then
  if not present then
    return 0
  end
  if state == SHARED and string.sub(queue, 1, ID_LENGTH) == process then
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local live, _, _, last = shares(value, now)
    return select(2, next_turn(value, live, last, rest, true, now, string.sub(ARGV[2], BEHIND_FLAG)))
  end
  -- At maxmemory, the entry remains: its notification will be withdrawn.
  local reply = redis.pcall('SET', KEYS[1], header .. rest, 'KEEPTTL')
  if reply.err and not string.find(reply.err, OUT_OF_MEMORY) then
    return reply
  end
  return 1
end
queue = rest
