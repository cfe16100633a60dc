-- Raises the last order of a bucket to that of a grant, if the owner holds the lock or a share.
-- KEYS: the lock, the last order of its bucket. ARGV: owner; order of the grant.
-- Reply: {1} if the owner holds the lock, else {0}.
local value = redis.call('GET', KEYS[1])
if not value or not string.find(value, ARGV[1] .. HELD, 1, true) then
  return {0}
end
redis.call('ZADD', KEYS[2], 'GT', ARGV[2], ORDER_MEMBER)
return {1}
