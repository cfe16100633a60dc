-- Renews the leases of locks, and of shares of locks, each independently of the others.
-- KEYS: the locks. ARGV: for each lock its owner and the lease in milliseconds.
-- Reply: for each lock 1 = renewed, 0 = not held, 2 = unknown; then the first error, or
--   an empty text. A replica replies with its error alone.
-- RedisLayout declares the constants.
local reply = {}
local failure = ''
for i = 1, #KEYS do
  local owner = ARGV[2 * i - 1]
  local value = redis.pcall('GET', KEYS[i])
  local outcome = 0
  if type(value) == 'string' and string.sub(value, 1, STATE) == owner .. HELD then
    value = redis.pcall('PEXPIRE', KEYS[i], ARGV[2 * i])
    if value == 1 then
      outcome = 1
    end
  elseif type(value) == 'string' and string.sub(value, STATE, STATE) == SHARED then
    local share = string.find(value, owner .. HELD, SHARED_HEADER_LENGTH + 1, true)
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    if share and tonumber(string.sub(value, share + STATE, share + CREATED_END - 1)) > now then
      local ends = string.format('%016.0f', now + ARGV[2 * i] * 1000)
      local renewed = string.sub(value, 1, share + STATE - 1) .. ends .. string.sub(value, share + CREATED_END)
      -- The key expires with the last share. PEXPIRE is not refused at maxmemory, and nor is SET
      -- once the script has written.
      value = redis.pcall('PEXPIRE', KEYS[i], math.max(ARGV[2 * i], redis.call('PTTL', KEYS[i])))
      if value == 1 then
        value = redis.pcall('SET', KEYS[i], renewed, 'KEEPTTL')
        outcome = value.ok and 1 or 2
      end
    end
  end
  if type(value) == 'table' and value.err then
    -- A replica renews no lock: the client has to find the primary. Redis 6.2 puts the
    -- line of the script before the code.
    if string.find(value.err, '^READONLY ') or string.find(value.err, '^@user_script: %d+: %-READONLY ') then
      return value
    end
    outcome = 2
    if failure == '' then
      failure = value.err
    end
  end
  reply[i] = outcome
end
reply[#KEYS + 1] = failure
return reply
