-- What the attempts of both kinds have in common, for a lock that has a value.

-- Returns whether a process may use the reservation of a lock, and the remaining milliseconds of
-- the key if it is that of another process.
local function may_use(value, process)
  if string.sub(value, 1, ID_LENGTH) == process then
    return true, false
  end
  local left = redis.call('PTTL', KEYS[1])
  local reserved = left - POLL_INTERVAL_MILLIS
  -- One with more time left was made before the server's clock stepped back.
  return reserved <= 0 or reserved > LONGEST_RESERVATION_MILLIS, left
end

-- Returns the value of a shared lock, or its header, whose first waiting process has shown that
-- it is there: the others wait for it from now on.
local function with_turn(value, now)
  return string.sub(value, 1, CREATED_END) .. string.format('%016.0f', now + LONGEST_TURN_MICROS)
      .. string.sub(value, SHARED_HEADER_LENGTH + 1)
end

-- Returns the reply to an attempt at a busy lock, whose wait queue the process enters unless its
-- entry, as attempt.lua describes it, is empty. The header of a shared lock is replied as that of
-- a held one, with the grant of its first share.
local function busy(value, process, entry, now, left)
  local state = string.sub(value, STATE, STATE)
  local header = value
  local score, missed = 0, 0
  if state == HELD or state == RESERVED or state == SHARED then
    local length = header_length(value)
    header = string.sub(value, 1, length)
    if entry ~= '' then
      -- A long queue is not copied for the attempts of those that are in it.
      local present = string.find(value, process, length + 1, true)
      if present then
        score = tonumber(string.sub(value, present + ID_LENGTH, present + ENTRY_LENGTH - 1))
        if state == SHARED and present == length + 1 then
          redis.pcall('SET', KEYS[1], with_turn(value, now), 'KEEPTTL')
        end
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
        if state == SHARED and position == 0 then
          header = with_turn(header, now)
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
    if state == SHARED then
      header = string.sub(header, 1, CREATED_END) .. string.sub(header, SHARED_HEADER_LENGTH + CREATED_END + 1,
          SHARED_HEADER_LENGTH + held_length(header, SHARED_HEADER_LENGTH))
    end
  end
  return {0, header, left or redis.call('PTTL', KEYS[1]), now, score, missed}
end

-- Returns the order of a grant, or the error of the server.
local function next_order(now)
  local added = redis.pcall('ZADD', KEYS[2], 'GT', 'CH', now, ORDER_MEMBER)
  if type(added) == 'table' then
    return added
  end
  return added == 1 and now or tonumber(redis.call('ZINCRBY', KEYS[2], 1, ORDER_MEMBER))
end

