-- Checks whether the server can keep locks. Creates the key of the format, or raises it to
-- that of this version.
-- KEYS: the format of the layout. ARGV: the format of this version.
-- Reply: {format, server's microsecond, those sections of INFO that the user may read}.
local format = redis.call('GET', KEYS[1])
if not format or (tonumber(format) or math.huge) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
  format = ARGV[1]
end
local time = redis.call('TIME')
local info = ''
for _, section in ipairs({'server', 'memory', 'replication'}) do
  local text = redis.pcall('INFO', section)
  if type(text) == 'string' then
    info = info .. text .. '\n'
  end
end
return {format, time[1] * 1000000 + time[2], info}
