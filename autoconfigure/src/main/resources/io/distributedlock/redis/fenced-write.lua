-- Writes a value unless a later holder of the lock has written before.
-- KEYS: the value, its fence; both in one slot of a cluster.
-- ARGV: fencing token as 19 digits, milliseconds for which the fence is kept, value,
--   milliseconds after which the value expires or '' for never, 'any', 'none' or 'is':
--   what the value has to be before, and for 'is' that value.
-- Answers 1 if it wrote, 0 if it refused, -1 if the value was another one.
-- Tokens are compared as texts: Lua's numbers round above 2^53, which tokens exceed.
local fence = redis.call('GET', KEYS[2])
if fence and fence > ARGV[1] then
  return 0
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
if ARGV[5] ~= 'any' then
  local value = redis.call('GET', KEYS[1])
  if ARGV[5] == 'none' and value or ARGV[5] == 'is' and value ~= ARGV[6] then
    return -1
  end
end
if ARGV[4] == '' then
  redis.call('SET', KEYS[1], ARGV[3])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
end
return 1
