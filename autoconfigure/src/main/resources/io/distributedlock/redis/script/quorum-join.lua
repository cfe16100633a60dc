-- Raises the orders of a node of a quorum, and marks it as a member of the quorum.
-- KEYS: the mark of a member, the last order of each bucket.
-- ARGV: the mark, which begins with the run id of the server; the length of a run id; for each
--   bucket an order, 0 if there is none.
for i = 2, #KEYS do
  if ARGV[i + 1] ~= '0' then
    redis.call('ZADD', KEYS[i], 'GT', ARGV[i + 1], ORDER_MEMBER)
  end
end
local length = tonumber(ARGV[2])
local mark = redis.call('GET', KEYS[1])
if not mark or string.sub(mark, 1, length) ~= string.sub(ARGV[1], 1, length) then
  redis.call('SET', KEYS[1], ARGV[1])
end
return {1}
