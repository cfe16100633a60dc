-- Asks for a lock.
-- KEYS: the lock, the orders of its bucket, its line.
-- ARGV: owner, lease in milliseconds, label of the process, process, and the process's
--   score in the line: empty = will not wait, 0 = a new place, else the score it had.
-- Granted: {order}, or {order, milliseconds left} if it was held by this owner before.
-- Busy: {0, value, milliseconds left, microseconds now, score}.
--
-- A held lock reads: owner (32), H or W (waited for), second of the grant (10), label.
-- A reserved one: process (32), R, microsecond at which the reservation ends.
local time = redis.call('TIME')
local left = false
if not redis.call('SET', KEYS[1], ARGV[1] .. 'H' .. time[1] .. ARGV[3], 'NX', 'PX', ARGV[2]) then
  local now = time[1] * 1000000 + time[2]
  local value = redis.call('GET', KEYS[1])
  if not value then
    return {0, '', 0, now, 0}
  end
  local holder = string.sub(value, 1, 32)
  local state = string.sub(value, 33, 33)
  local takeable = false
  if state == 'R' then
    -- An end farther away than any grace was set before the clock stepped back.
    local rest = tonumber(string.sub(value, 34)) - now
    takeable = holder == ARGV[4] or rest <= 0 or rest > 200000
  end
  if takeable then
    redis.call('ZREM', KEYS[3], ARGV[4])
    local next = redis.call('EXISTS', KEYS[3]) == 1 and 'W' or 'H'
    redis.call('SET', KEYS[1], ARGV[1] .. next .. time[1] .. ARGV[3], 'PX', ARGV[2])
  elseif holder == ARGV[1] and (state == 'H' or state == 'W') then
    left = redis.call('PTTL', KEYS[1])
  else
    local score = 0
    if ARGV[5] ~= '' then
      local marked = state == 'W' or state == 'R'
      if state == 'H' then
        marked = type(redis.pcall('SETRANGE', KEYS[1], 32, 'W')) == 'number'
      end
      if marked then
        local first = now
        if ARGV[5] ~= '0' then
          first = ARGV[5]
        end
        if type(redis.pcall('ZADD', KEYS[3], 'NX', first, ARGV[4])) == 'number' then
          score = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[4]))
          redis.call('PEXPIRE', KEYS[3], 5000)
        end
      end
    end
    return {0, value, redis.call('PTTL', KEYS[1]), now, score}
  end
end
local order = time[1] * 1000000 + time[2]
if redis.call('ZADD', KEYS[2], 'GT', 'CH', order, 'o') == 0 then
  order = tonumber(redis.call('ZINCRBY', KEYS[2], 1, 'o'))
end
if left then
  return {order, left}
end
return {order}
