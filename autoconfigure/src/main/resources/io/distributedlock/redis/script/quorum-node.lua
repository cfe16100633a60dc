-- Describes a node of a quorum to a new connection, as its first command. Writes nothing to a
-- server that is a replica, has replicas, or is a node of a cluster.
-- KEYS: the format of the layout, the longest lease, the mark of a member.
-- ARGV: the format of this version, the longest lease of this process in milliseconds.
-- Reply: {format, longest lease, server's microsecond, those sections of INFO that the user may
--   read, the mark}; format and longest lease are those of the node, set if it had none.
local info = ''
for _, section in ipairs({'server', 'memory', 'replication', 'cluster'}) do
  local text = redis.pcall('INFO', section)
  if type(text) == 'string' then
    info = info .. text .. '\n'
  end
end
local time = redis.call('TIME')
local format, longest, mark = '', '', ''
if string.find(info, 'role:master') and string.find(info, 'connected_slaves:0')
    and not string.find(info, 'cluster_enabled:1') then
  format = redis.call('GET', KEYS[1])
  if not format or (tonumber(format) or math.huge) < tonumber(ARGV[1]) then
    redis.call('SET', KEYS[1], ARGV[1])
    format = ARGV[1]
  end
  longest = redis.call('GET', KEYS[2])
  if not longest then
    redis.call('SET', KEYS[2], ARGV[2])
    longest = ARGV[2]
  end
  mark = redis.call('GET', KEYS[3]) or ''
end
return {format, longest, time[1] * 1000000 + time[2], info, mark}
