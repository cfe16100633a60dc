-- Who holds the lock of the event that is on sale, which is the one taken last: for a
-- server with few keys, for it looks at all of them.
-- Answers {label, order}, or nothing while nobody does.
local holder = {}
local last = 0
for _, lock in ipairs(redis.call('KEYS', '{*}:lock:*')) do
  local value = redis.call('GET', lock)
  local state = value and string.sub(value, 33, 33)
  if state == 'H' or state == 'W' then
    local order = redis.call('ZSCORE', string.match(lock, '^{.-}:') .. 'orders', 'o')
    if tonumber(order) > last then
      last = tonumber(order)
      holder = {string.sub(value, 44), order}
    end
  end
end
return holder
