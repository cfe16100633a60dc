-- The second part of release.lua, with a wait queue. Continues in reserve.lua.
local _, queue = parts(value)
queue = without(queue, string.sub(ARGV[2], 1, ID_LENGTH))
