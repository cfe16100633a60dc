-- Gives a lock back, if the owner still has it. Continued by reserve.lua.
-- KEYS: the lock, its line. ARGV: owner, process, what stands before a process's inbox.
-- Answers {0} if the owner had it not.
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, 32) ~= ARGV[1] then
  return {0}
end
local state = string.sub(value, 33, 33)
if state == 'H' then
  redis.call('DEL', KEYS[1])
  return {1}
end
if state ~= 'W' then
  return {0}
end
redis.call('ZREM', KEYS[2], ARGV[2])
