-- Prolongs locks, each for itself.
-- KEYS: the locks. ARGV: for each its owner and the lease in milliseconds.
-- Answers for each 1 = renewed, 0 = not held, 2 = not known; then the first error, if any.
local answers = {}
local failure = ''
for i = 1, #KEYS do
  local owner = ARGV[2 * i - 1]
  local value = redis.pcall('GET', KEYS[i])
  local answer = 0
  if type(value) == 'string' and string.sub(value, 1, 32) == owner then
    local state = string.sub(value, 33, 33)
    if state == 'H' or state == 'W' then
      value = redis.pcall('PEXPIRE', KEYS[i], ARGV[2 * i])
      if value == 1 then
        answer = 1
      end
    end
  end
  if type(value) == 'table' and value.err then
    answer = 2
    if failure == '' then
      failure = value.err
    end
  end
  answers[i] = answer
end
answers[#KEYS + 1] = failure
return answers
