-- The third part of attempt.lua, for a lock that has a value: a reservation that this
-- process may use, an earlier grant to this owner, or a busy lock.
local process = string.sub(ARGV[4], 1, ID_LENGTH)
local entry = string.sub(ARGV[4], BEHIND_FLAG, BEHIND_SCORE - 1)
local remaining = false
local left = false
local acquirable = false
if string.sub(value, STATE, STATE) == RESERVED then
  acquirable, left = may_use(value, process)
end
if acquirable then
  local _, queue = parts(value)
  queue = without(queue, process)
  local reply = redis.pcall('SET', KEYS[1], ARGV[1] .. string.sub(value, CREATED_START, CREATED_END) .. time[1]
      .. ARGV[3] .. queue, 'PX', ARGV[2])
  if reply.err then
    return reply
  end
elseif string.sub(value, 1, STATE) == ARGV[1] then
  remaining = redis.call('PTTL', KEYS[1])
else
  return busy(value, process, entry, now, left)
end
local order = next_order(now)
if remaining and type(order) == 'number' then
  return {order, remaining}
end
return order
