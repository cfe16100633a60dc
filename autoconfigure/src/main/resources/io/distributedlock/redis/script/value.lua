-- The parts of a lock's value: a header, then the wait queue. Each entry of the queue is the
-- id of a process and its score, the server's microsecond of its first entry. The entries
-- are in the order of their scores, which all have 16 digits.
-- RedisLayout declares the constants and describes the header.

-- Returns the length of the header of a held lock that begins behind a position of a value.
local function held_length(value, before)
  return HELD_HEADER_LENGTH
      + (tonumber(string.sub(value, before + LABEL_LENGTH_START, before + HELD_HEADER_LENGTH)) or 0)
end

-- Returns the length of the header of the value of a held, reserved or shared lock. That of a
-- shared lock includes the shares: no entry of the queue has a letter behind its id.
local function header_length(value)
  local state = string.sub(value, STATE, STATE)
  if state == HELD then
    return held_length(value, 0)
  end
  if state ~= SHARED then
    return RESERVED_HEADER_LENGTH
  end
  local length = SHARED_HEADER_LENGTH
  while string.sub(value, length + STATE, length + STATE) == HELD do
    length = length + held_length(value, length) + SCORE_LENGTH
  end
  return length
end

-- Returns the header and the queue of the value of a held, reserved or shared lock.
local function parts(value)
  local header = header_length(value)
  return string.sub(value, 1, header), string.sub(value, header + 1)
end

-- Returns a queue without the entry of a process, and the score of that entry, if any.
local function without(queue, process)
  local first = string.find(queue, process, 1, true)
  if not first then
    return queue
  end
  return string.sub(queue, 1, first - 1) .. string.sub(queue, first + ENTRY_LENGTH),
      string.sub(queue, first + ID_LENGTH, first + ENTRY_LENGTH - 1)
end

-- Returns a score of 16 digits: a microsecond, or one more than the last score if that is
-- higher. The last score may be empty.
local function score_after(last, micros)
  return string.format('%016.0f', math.max(micros, (tonumber(last) or 0) + 1))
end

-- Returns a header with another microsecond of the creation, since the queue lost entries.
local function renewed(header, micros)
  return string.sub(header, 1, STATE) .. string.format('%016.0f', micros) .. string.sub(header, CREATED_END + 1)
end

-- Returns whether the first process in a queue may wait for a share: the ids of contenders for
-- shares are odd. That of an older version may be odd too.
local function may_want_share(queue)
  return string.find('13579bdf', string.sub(queue, ID_LENGTH, ID_LENGTH), 1, true) and queue ~= ''
end

-- Notifies a process of the lock. Returns the error of PUBLISH, or an empty text.
local function notify(process, prefix)
  local published = redis.pcall('PUBLISH', prefix .. process, KEYS[1])
  return type(published) == 'table' and published.err or ''
end
