-- Attempts to acquire a lock.
-- KEYS: the lock, the last order of its bucket.
-- ARGV: owner; lease in milliseconds; label of the process, behind its length; id of the
--   process; the score of the process in the wait queue: empty = the process does not wait,
--   0 = it has no score yet, else the score of its earlier entry; 1 if the lock is probably
--   not free.
-- Reply to a grant: {order}, or {order, remaining milliseconds} if this owner held the
--   lock already.
-- Reply otherwise: {0, header of the value, remaining milliseconds, server's microsecond,
--   score, missed}. Missed is 1 if the earlier entry is gone: if the value is still the same,
--   by its creation, the lock was reserved for this process since.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local remaining = false
local value = ARGV[6] == '1' and redis.call('GET', KEYS[1])
local granted = false
if not value then
  local created = string.format('%016.0f', now)
  local reply = redis.pcall('SET', KEYS[1], ARGV[1] .. HELD .. created .. time[1] .. ARGV[3], 'NX', 'PX', ARGV[2])
  granted = reply and reply.ok
  if not granted then
    -- At maxmemory, the server refuses SET before it applies NX.
    if reply and not is_out_of_memory(reply.err) then
      return reply
    end
    value = redis.call('GET', KEYS[1])
    if not value then
      return reply or {0, '', 0, now, 0, 0}
    end
  end
end
if not granted then
  local id = string.sub(value, 1, ID_LENGTH)
  local state = string.sub(value, STATE, STATE)
  local left = false
  local acquirable = false
  if state == RESERVED then
    acquirable = id == ARGV[4]
    if not acquirable then
      left = redis.call('PTTL', KEYS[1])
      local reserved = left - POLL_INTERVAL_MILLIS
      -- One with more time left was made before the server's clock stepped back.
      acquirable = reserved <= 0 or reserved > LONGEST_RESERVATION_MILLIS
    end
  end
  if acquirable then
    local _, queue = parts(value)
    queue = without(queue, ARGV[4])
    local reply = redis.pcall('SET', KEYS[1], ARGV[1] .. HELD .. string.sub(value, CREATED_START, CREATED_END) .. time[1]
        .. ARGV[3] .. queue, 'PX', ARGV[2])
    if reply.err then
      return reply
    end
  elseif state == HELD and id == ARGV[1] then
    remaining = redis.call('PTTL', KEYS[1])
  else
    local header = value
    local score, missed = 0, 0
    if state == HELD or state == RESERVED then
      local queue
      header, queue = parts(value)
      if ARGV[5] ~= '' then
        local _, present = without(queue, ARGV[4])
        if present then
          score = tonumber(present)
        else
          if #queue >= LONGEST_QUEUE then
            -- Processes that have ended leave their entries. The others come back.
            queue = string.sub(queue, #queue - LONGEST_QUEUE / 2 + 1)
            header = renewed(header, now)
          end
          local entered
          local position = #queue
          if ARGV[5] == '0' then
            -- The server's clock may have stepped back since the last entry.
            entered = score_after(string.sub(queue, -SCORE_LENGTH), now)
          else
            entered = string.format('%016.0f', tonumber(ARGV[5]))
            while position > 0 and string.sub(queue, position - SCORE_LENGTH + 1, position) > entered do
              position = position - ENTRY_LENGTH
            end
          end
          local added = redis.pcall('SET', KEYS[1], header .. string.sub(queue, 1, position) .. ARGV[4] .. entered
              .. string.sub(queue, position + 1), 'KEEPTTL')
          if added.ok then
            score = tonumber(entered)
            missed = ARGV[5] == '0' and 0 or 1
          elseif not is_out_of_memory(added.err) then
            return added
          end
        end
      end
    end
    return {0, header, left or redis.call('PTTL', KEYS[1]), now, score, missed}
  end
end
local order = now
if redis.call('ZADD', KEYS[2], 'GT', 'CH', order, ORDER_MEMBER) == 0 then
  order = tonumber(redis.call('ZINCRBY', KEYS[2], 1, ORDER_MEMBER))
end
if remaining then
  return {order, remaining}
end
return {order}
