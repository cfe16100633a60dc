-- Reads a lock for people. Changes nothing.
-- KEYS: the lock.
-- Reply: {0, header of the value, remaining milliseconds, server's microsecond, order or 0}, as
--   that of attempt.lua to a busy lock, with the order of a share; the header is empty if the lock
--   is free. The same follows for each further share.
local value = redis.call('GET', KEYS[1])
if not value then
  return {0, '', 0, 0, 0}
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local header = value
local state = string.sub(value, STATE, STATE)
if state ~= KEPT then
  header = parts(value)
end
if state ~= SHARED then
  return {0, header, redis.call('PTTL', KEYS[1]), now, 0}
end
local reply = {}
local live = shares(value, now)
while live ~= '' do
  local length = held_length(live, 0)
  local ends = tonumber(string.sub(live, CREATED_START, CREATED_END))
  for _, part in ipairs({0, string.sub(live, 1, length), millis_until(ends, now), now,
      tonumber(string.sub(live, length + 1, length + SCORE_LENGTH))}) do
    reply[#reply + 1] = part
  end
  live = string.sub(live, length + SCORE_LENGTH + 1)
end
return #reply > 0 and reply or {0, '', 0, 0, 0}
