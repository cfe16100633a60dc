-- Attempts to acquire a share of a lock.
-- KEYS: the lock, the last order of its bucket.
-- ARGV: owner and state, with which the share begins; lease in milliseconds; label of the process,
--   behind its length; in one argument the id of the process as a contender for shares, a
--   character that is not used, and its score in the wait queue, as for attempt.lua; the most
--   shares that there may be; the channel prefix.
-- Reply: as that of attempt.lua. A share that this owner has already keeps its order.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local value = redis.call('GET', KEYS[1])
local state = value and string.sub(value, STATE, STATE)
local process = string.sub(ARGV[4], 1, ID_LENGTH)
local entry = string.sub(ARGV[4], BEHIND_FLAG)
local limit = tonumber(ARGV[5])
local live, count, first, last, queue, own = '', 0, now, 0, ''
local left = false
local free = not value
if state == RESERVED then
  free, left = may_use(value, process)
  queue = select(2, parts(value))
elseif state == SHARED then
  live, count, first, last, queue, own = shares(value, now, ARGV[1])
  if own then
    return {tonumber(string.sub(own, -SCORE_LENGTH)),
        millis_until(tonumber(string.sub(own, CREATED_START, CREATED_END)), now)}
  end
  left = millis_until(first, now)
  local turn = tonumber(string.sub(value, CREATED_END + 1, SHARED_HEADER_LENGTH)) - now
  local passed = queue ~= '' and string.sub(queue, 1, ID_LENGTH) ~= process
      -- One with more time left was made before the server's clock stepped back.
      and (turn <= 0 or turn > LONGEST_TURN_MICROS)
  if passed then
    queue = string.sub(queue, ENTRY_LENGTH + 1)
  end
  -- One that has missed its turn comes back before those that wait for a shorter time.
  free = count < limit and (queue == '' or string.sub(queue, 1, ID_LENGTH) == process
      or (tonumber(entry) or 0) > 0 and tonumber(entry) < tonumber(string.sub(queue, ID_LENGTH + 1, ENTRY_LENGTH)))
  if passed and not free then
    value = next_turn(value, live, last, queue, true, now, ARGV[6])
  end
end
if not free then
  return busy(value, process, entry, now, left)
end
local order = next_order(now)
if type(order) == 'table' then
  return order
end
local ends = now + ARGV[2] * 1000
queue = without(queue, process)
local notified = count + 1 < limit and may_want_share(queue)
local created = value and string.sub(value, CREATED_START, CREATED_END) or string.format('%016.0f', now)
local reply = redis.pcall('SET', KEYS[1], string.rep('0', ID_LENGTH) .. SHARED .. created .. turn_end(now, notified)
    .. live .. ARGV[1] .. string.format('%016.0f', ends) .. time[1] .. ARGV[3] .. string.format('%016.0f', order)
    .. queue, 'PX', millis_until(math.max(last, ends), now))
if reply.err then
  return reply
end
if notified then
  notify(string.sub(queue, 1, ID_LENGTH), ARGV[6])
end
return order
