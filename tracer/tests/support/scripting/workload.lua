-- Collections on demand, for Lua and LuaJIT.
--
-- Each line on standard input is `full N` or `step N`; that many are made, and the answer, a line of JSON, says how many.
-- Neither counts its collections, so the program stops the automatic collector and counts its own requests.
-- `churn N` lets the collector come by itself while N thousand tables are made.

local kept = {}
for number = 1, 20000 do kept[number] = { number } end
collectgarbage()
collectgarbage("stop")
io.write("ready\n") io.flush()
for line in io.lines() do
    local kind, number = line:match("^(%a+) (%d+)$")
    for _ = 1, kind == "full" and tonumber(number) or 0 do collectgarbage("collect") collectgarbage("stop") end
    for _ = 1, kind == "step" and tonumber(number) or 0 do collectgarbage("step", 0) collectgarbage("stop") end
    if kind == "churn" then
        collectgarbage("restart")
        for made = 1, number * 1000 do kept[made % 20000 + 1] = { made } end
        collectgarbage("stop")
    end
    io.write('{"counted":' .. number .. '}\n') io.flush()
end
