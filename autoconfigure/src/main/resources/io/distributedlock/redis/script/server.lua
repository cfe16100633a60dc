-- Identifies the server that runs a script for a key.
-- KEYS: a key of the server, which is not used, and unless the server is a node of a cluster
-- the format of the layout.
-- Reply: {server's microsecond, the section 'server' of INFO if the user may read it, 1 if the
-- server has the format}.
local time = redis.call('TIME')
local info = redis.pcall('INFO', 'server')
if type(info) ~= 'string' then
  info = ''
end
local found = 0
if KEYS[2] then
  found = redis.call('GET', KEYS[2]) and 1 or 0
end
return {time[1] * 1000000 + time[2], info, found}
