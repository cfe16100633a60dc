-- Reads what a node of a quorum knows of orders. Changes nothing.
-- KEYS: the mark of a member, the last order of each bucket.
-- Reply: {the mark, for each bucket its last order, 0 if there is none}.
local reply = {redis.call('GET', KEYS[1]) or ''}
for i = 2, #KEYS do
  reply[i] = tonumber(redis.call('ZSCORE', KEYS[i], ORDER_MEMBER) or 0)
end
return reply
