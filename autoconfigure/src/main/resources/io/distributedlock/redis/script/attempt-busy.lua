-- The second part of attempt.lua, for a lock that has a value: a reservation that this
-- process may use, an earlier grant to this owner, or a busy lock.
local process = string.sub(ARGV[4], 1, ID_LENGTH)
local entry = string.sub(ARGV[4], BEHIND_FLAG, BEHIND_SCORE - 1)
local remaining = false
local id = string.sub(value, 1, ID_LENGTH)
local state = string.sub(value, STATE, STATE)
local left = false
local acquirable = false
if state == RESERVED then
  acquirable = id == process
  if not acquirable then
    left = redis.call('PTTL', KEYS[1])
    local reserved = left - POLL_INTERVAL_MILLIS
    -- One with more time left was made before the server's clock stepped back.
    acquirable = reserved <= 0 or reserved > LONGEST_RESERVATION_MILLIS
  end
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
  local header = value
  local score, missed = 0, 0
  if state == HELD or state == RESERVED then
    local length = header_length(value)
    header = string.sub(value, 1, length)
    if entry ~= '' then
      -- A long queue is not copied for the attempts of those that are in it.
      local present = string.find(value, process, length + 1, true)
      if present then
        score = tonumber(string.sub(value, present + ID_LENGTH, present + ENTRY_LENGTH - 1))
      else
        local queue = string.sub(value, length + 1)
        if #queue >= LONGEST_QUEUE then
          -- Processes that have ended leave their entries. The others come back.
          queue = string.sub(queue, #queue - LONGEST_QUEUE / 2 + 1)
          header = renewed(header, now)
        end
        local entered
        local position = #queue
        if entry == '0' then
          -- The server's clock may have stepped back since the last entry.
          entered = score_after(string.sub(queue, -SCORE_LENGTH), now)
        else
          entered = string.format('%016.0f', tonumber(entry))
          while position > 0 and string.sub(queue, position - SCORE_LENGTH + 1, position) > entered do
            position = position - ENTRY_LENGTH
          end
        end
        local added = redis.pcall('SET', KEYS[1], header .. string.sub(queue, 1, position) .. process .. entered
            .. string.sub(queue, position + 1), 'KEEPTTL')
        if added.ok then
          score = tonumber(entered)
          missed = entry == '0' and 0 or 1
        elseif not string.find(added.err, OUT_OF_MEMORY) then
          return added
        end
      end
    end
  end
  return {0, header, left or redis.call('PTTL', KEYS[1]), now, score, missed}
end
local order = now
if redis.call('ZADD', KEYS[2], 'GT', 'CH', order, ORDER_MEMBER) == 0 then
  order = tonumber(redis.call('ZINCRBY', KEYS[2], 1, ORDER_MEMBER))
end
if remaining then
  return {order, remaining}
end
return order
