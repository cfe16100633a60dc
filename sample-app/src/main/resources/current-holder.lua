-- Finds the holder of the lock that was acquired last, which is that of the event on sale.
-- For a server with few keys, since it reads all of them. docs/redis.md describes the keys.
-- Reply: {label of the process, order}, or an empty table if no lock is held.
local ORDER_MEMBER = 'order'
local STATE, LABEL_LENGTH_START, LABEL = 33, 60, 63
local HELD = 'H'
local holder = {}
local last = 0
for _, lock in ipairs(redis.call('KEYS', '{*}:lock:*')) do
  local value = redis.call('GET', lock)
  local state = value and string.sub(value, STATE, STATE)
  if state == HELD then
    local order = redis.call('ZSCORE', string.match(lock, '^{.-}:') .. 'last-order', ORDER_MEMBER)
    if tonumber(order) > last then
      last = tonumber(order)
      local length = tonumber(string.sub(value, LABEL_LENGTH_START, LABEL - 1))
      holder = {string.sub(value, LABEL, LABEL + length - 1), order}
    end
  end
end
return holder
