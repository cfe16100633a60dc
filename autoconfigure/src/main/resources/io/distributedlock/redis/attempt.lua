-- Attempts to acquire a lock.
-- KEYS: the lock, the last order of its bucket, its wait queue.
-- ARGV: owner, lease in milliseconds, label of the process, id of the process, and the
--   score of the process in the wait queue: empty = the process does not wait, 0 = it has
--   no score yet, else the score of its earlier entry.
-- Reply to a grant: {order}, or {order, remaining milliseconds} if this owner held the
--   lock already.
-- Reply otherwise: {0, value, remaining milliseconds, server's microsecond, score, missed,
--   denied}. Missed is 1 if the earlier entry is gone: the lock was reserved for this
--   process, or the queue expired. Denied is the name and the error of a command that the
--   server did not run, or empty.
-- RedisLayout declares the constants.
local time = redis.call('TIME')
local remaining = false
local reply = redis.pcall('SET', KEYS[1], ARGV[1] .. HELD .. time[1] .. ARGV[3], 'NX', 'PX', ARGV[2])
if not (reply and reply.ok) then
  -- At maxmemory, the server refuses SET before it applies NX.
  if reply and not string.find(reply.err, 'OOM', 1, true) then
    return reply
  end
  local now = time[1] * 1000000 + time[2]
  local value = redis.call('GET', KEYS[1])
  if not value then
    return reply or {0, '', 0, now, 0, 0, ''}
  end
  local id = string.sub(value, 1, ID_LENGTH)
  local state = string.sub(value, STATE, STATE)
  local acquirable = false
  if state == RESERVED then
    -- A reservation with more time left was made before the server's clock stepped back.
    local left = tonumber(string.sub(value, STATE + 1)) - now
    acquirable = id == ARGV[4] or left <= 0 or left > LONGEST_RESERVATION_MICROS
  end
  if acquirable then
    redis.call('ZREM', KEYS[3], ARGV[4])
    state = redis.call('EXISTS', KEYS[3]) == 1 and CONTENDED or HELD
    redis.call('SET', KEYS[1], ARGV[1] .. state .. time[1] .. ARGV[3], 'PX', ARGV[2])
  elseif id == ARGV[1] and (state == HELD or state == CONTENDED) then
    remaining = redis.call('PTTL', KEYS[1])
  else
    local score, missed, denied = 0, 0, ''
    if ARGV[5] ~= '' then
      local contended = state == CONTENDED or state == RESERVED
      if state == HELD then
        local marked = redis.pcall('SETRANGE', KEYS[1], ID_LENGTH, CONTENDED)
        contended = type(marked) == 'number'
        if not contended then
          denied = 'SETRANGE ' .. marked.err
        end
      end
      if contended then
        local first = now
        if ARGV[5] ~= '0' then
          first = ARGV[5]
        end
        local added = redis.pcall('ZADD', KEYS[3], 'NX', first, ARGV[4])
        if type(added) == 'number' then
          score = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[4]))
          redis.call('PEXPIRE', KEYS[3], QUEUE_EXPIRY_MILLIS)
          if ARGV[5] ~= '0' then
            missed = added
          end
        else
          denied = 'ZADD ' .. added.err
        end
      end
    end
    if string.find(denied, 'OOM', 1, true) then
      denied = ''
    end
    return {0, value, redis.call('PTTL', KEYS[1]), now, score, missed, denied}
  end
end
local order = time[1] * 1000000 + time[2]
if redis.call('ZADD', KEYS[2], 'GT', 'CH', order, ORDER_MEMBER) == 0 then
  order = tonumber(redis.call('ZINCRBY', KEYS[2], 1, ORDER_MEMBER))
end
if remaining then
  return {order, remaining}
end
return {order}
