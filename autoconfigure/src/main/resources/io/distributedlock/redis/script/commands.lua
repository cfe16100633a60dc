-- Shows whether the server runs each command that locks cannot do without, with the options
-- that they use. Changes nothing.
-- KEYS: a key that does not exist.
-- Reply: {command, error} of the first one that it refuses, else {}. An error that is none of
--   the command, such as that of a replica, is left to the script that needs it.
local refusal = {}
local function accepts(command, reply)
  if type(reply) == 'table' and reply.err then
    for _, text in ipairs({"user executing the script can't", 'ACL failure', 'NOPERM', 'No permissions', 'nknown ',
        'syntax error', 'rong number of arg', 'not support', 'not allowed from script'}) do
      if string.find(reply.err, text, 1, true) then
        refusal = {command, reply.err}
        return false
      end
    end
  end
  return true
end
-- A loop, as in renew.lua: what checks scripts before they run refuses both.
for i = 1, #KEYS do
  if not accepts('GET', redis.pcall('GET', KEYS[i])) then
    return refusal
  end
end
local _ = accepts('TIME', redis.pcall('TIME'))
    and accepts('DEL', redis.pcall('DEL', KEYS[1]))
    and accepts('SET', redis.pcall('SET', KEYS[1], '', 'XX', 'PX', 1))
    and accepts('SET', redis.pcall('SET', KEYS[1], '', 'XX', 'KEEPTTL'))
    and accepts('PTTL', redis.pcall('PTTL', KEYS[1]))
    and accepts('PEXPIRE', redis.pcall('PEXPIRE', KEYS[1], 1))
    and accepts('ZADD', redis.pcall('ZADD', KEYS[1], 'XX', 'GT', 'CH', 1, ORDER_MEMBER))
    and accepts('ZINCRBY', redis.pcall('ZINCRBY', KEYS[1], 1, ORDER_MEMBER))
    and redis.pcall('DEL', KEYS[1])
return refusal
