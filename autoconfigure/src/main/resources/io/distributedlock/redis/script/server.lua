-- Describes the server that runs a script for a key.
-- KEYS: a key of the server, which is not used, and unless the server is a node of a cluster
-- the format of the layout. ARGV: sections of INFO.
-- Reply: {server's microsecond, those sections of INFO that the user may read, 1 if the
-- server has the format}.
local time = redis.call('TIME')
local info = ''
for _, section in ipairs(ARGV) do
  local text = redis.pcall('INFO', section)
  if type(text) == 'string' then
    info = info .. text .. '\n'
  end
end
local found = 0
if KEYS[2] then
  found = redis.call('GET', KEYS[2]) and 1 or 0
end
return {time[1] * 1000000 + time[2], info, found}
