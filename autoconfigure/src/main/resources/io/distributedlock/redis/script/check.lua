-- Checks whether the server can keep locks: runs each command that they cannot do without, with
-- the options that they use, on a key that does not exist. Then creates the key of the format,
-- or raises it to that of this version.
-- KEYS: a key that does not exist; only for one server of all the format of the layout, in its
--   slot. ARGV: the format of this version.
-- Reply: {command, error, server's microsecond, those sections of INFO that the user may read,
--   format}. The command is the first one that the server refuses; an error that is none of the
--   command, such as that of a replica, is left to the script that needs it.
local refused, refusal = '', ''
local function accepts(command, reply)
  if type(reply) == 'table' and reply.err then
    for _, text in ipairs({"user executing the script can't", 'ACL failure', 'NOPERM', 'No permissions', 'nknown ',
        'syntax error', 'rong number of arg', 'not support', 'not allowed from script'}) do
      if string.find(reply.err, text, 1, true) then
        refused, refusal = command, reply.err
        return false
      end
    end
  end
  return true
end
local accepted = true
-- A loop, as in renew.lua: what checks scripts before they run refuses both.
for i = 1, #KEYS do
  accepted = accepted and accepts('GET', redis.pcall('GET', KEYS[i]))
end
local time = redis.pcall('TIME')
accepted = accepted and accepts('TIME', time)
    and accepts('DEL', redis.pcall('DEL', KEYS[1]))
    and accepts('GETRANGE', redis.pcall('GETRANGE', KEYS[1], 0, 0))
    and accepts('SET', redis.pcall('SET', KEYS[1], '', 'XX', 'PX', 1))
    and accepts('SET', redis.pcall('SET', KEYS[1], '', 'XX', 'KEEPTTL'))
    and accepts('PTTL', redis.pcall('PTTL', KEYS[1]))
    and accepts('PEXPIRE', redis.pcall('PEXPIRE', KEYS[1], 1))
    and accepts('ZADD', redis.pcall('ZADD', KEYS[1], 'XX', 'GT', 'CH', 1, ORDER_MEMBER))
    and accepts('ZINCRBY', redis.pcall('ZINCRBY', KEYS[1], 1, ORDER_MEMBER))
if accepted then
  redis.pcall('DEL', KEYS[1])
end
local info = ''
for _, section in ipairs({'server', 'memory', 'replication'}) do
  local text = redis.pcall('INFO', section)
  if type(text) == 'string' then
    info = info .. text .. '\n'
  end
end
local format = ''
if accepted and KEYS[2] then
  format = redis.call('GET', KEYS[2])
  if not format or (tonumber(format) or math.huge) < tonumber(ARGV[1]) then
    redis.call('SET', KEYS[2], ARGV[1])
    format = ARGV[1]
  end
end
return {refused, refusal, time.err and 0 or time[1] * 1000000 + time[2], info, format}
