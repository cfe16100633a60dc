-- A shared lock: zeros in place of an owner, the state, the microsecond of the creation, the
-- server's microsecond until which others wait for the first process in the queue, and the shares.
-- Each share is the header of a held lock, with its end in place of the creation, and its order.

-- Returns the shares that have not ended, without that of an owner and state, with their number
-- and their first and last ends; the wait queue; and the share of that owner, if it has not ended.
local function shares(value, now, owner)
  local live, first, last, own = {}, nil, 0, nil
  local length = SHARED_HEADER_LENGTH
  while string.sub(value, length + STATE, length + STATE) == HELD do
    local ends = tonumber(string.sub(value, length + CREATED_START, length + CREATED_END))
    local share = string.sub(value, length + 1, length + held_length(value, length) + SCORE_LENGTH)
    length = length + #share
    if ends > now and string.sub(share, 1, STATE) == owner then
      own = share
    elseif ends > now then
      live[#live + 1] = share
      first = math.min(first or ends, ends)
      last = math.max(last, ends)
    end
  end
  return table.concat(live), #live, first or now, last, string.sub(value, length + 1), own
end

-- Returns the milliseconds until an end, at least one: a key without shares expires at once.
local function millis_until(micros, now)
  return math.max(math.ceil((micros - now) / 1000), 1)
end

-- Returns until when others wait for the first process in the queue: one that is notified has the
-- time of a reservation, another one as long as it may take to attempt again.
local function turn_end(now, notified)
  return string.format('%016.0f', now + (notified and TURN_MICROS or LONGEST_TURN_MICROS))
end

-- Writes the shares and the queue of a shared lock, and notifies the first process in the queue
-- if it may want a share. Changed tells whether that is another one than before.
-- Returns the value, and as a reply 1, or that of reserve.lua if a process was notified.
local function next_turn(value, live, last, queue, changed, now, prefix)
  local notified = may_want_share(queue)
  local turn = string.sub(value, CREATED_END + 1, SHARED_HEADER_LENGTH)
  if notified or changed then
    turn = turn_end(now, notified)
  end
  value = string.sub(value, 1, CREATED_END) .. turn .. live .. queue
  -- Not refused at maxmemory, and nor is SET once the script has written.
  redis.call('PEXPIRE', KEYS[1], millis_until(last, now))
  redis.call('SET', KEYS[1], value, 'PX', millis_until(last, now))
  if not notified then
    return value, 1
  end
  return value, {1, #queue / ENTRY_LENGTH - 1, 0, notify(string.sub(queue, 1, ID_LENGTH), prefix)}
end

