-- What scripts can use: the table `wrk`, and functions that report a script's use of random numbers or the clock.
-- `drome` has the functions for such reports. The fields that the command line sets are set afterwards.

local note, refuse, say, complain = drome.note, drome.refuse, drome.say, drome.complain
drome = nil

-- A script's output appears in order with the tool's own output.
local function stream(write)
    local file = {}
    function file.write(self, ...)
        for i = 1, select("#", ...) do
            local text = select(i, ...)
            if type(text) ~= "string" and type(text) ~= "number" then
                error(("bad argument #%d to 'write' (string expected, got %s)"):format(i, type(text)), 2)
            end
            write(tostring(text))
        end
        return self
    end
    function file.flush(self)
        return self
    end
    function file.setvbuf()
        return true
    end
    return file
end

io.stdout, io.stderr = stream(say), stream(complain)

function io.write(...)
    return io.stdout:write(...)
end

function print(...)
    local words = {}
    for i = 1, select("#", ...) do
        words[i] = tostring((select(i, ...)))
    end
    say(table.concat(words, "\t") .. "\n")
end

wrk = { scheme = "http", host = "localhost", method = "GET", path = "/", headers = {} }
package.loaded.wrk = wrk

function wrk.format(method, path, headers, body)
    headers, body = headers or wrk.headers, body or wrk.body
    if not headers["Host"] then
        headers["Host"] = wrk.headers["Host"]
    end
    headers["Content-Length"] = body and #body
    -- wrk sends them in an order that changes from run to run; drome's order is always the same.
    local names = {}
    for name in pairs(headers) do
        names[#names + 1] = name
    end
    table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
    local lines = { string.format("%s %s HTTP/1.1", method or wrk.method, path or wrk.path) }
    for _, name in ipairs(names) do
        lines[#lines + 1] = string.format("%s: %s", name, headers[name])
    end
    return table.concat(lines, "\r\n") .. "\r\n\r\n" .. (body or "")
end

function wrk.init(args)
    if not wrk.headers["Host"] then
        local host = wrk.host:find(":") and "[" .. wrk.host .. "]" or wrk.host
        wrk.headers["Host"] = wrk.port and host .. ":" .. wrk.port or host
    end
    if type(init) == "function" then
        init(args)
    end
    local request = wrk.format()
    function wrk.request()
        return request
    end
end

function wrk.lookup()
    refuse("wrk.lookup: drome uses only the address of its URL")
end

function wrk.connect()
    refuse("wrk.connect: drome uses only the address of its URL")
end

wrk.thread = setmetatable({}, {
    __index = function()
        refuse("wrk.thread: drome's threads run no script")
    end,
})

local function watch(library, name, what)
    local original = library[name]
    library[name] = function(...)
        note(what)
        return original(...)
    end
end

watch(math, "random", "random numbers (math.random)")
watch(os, "time", "the clock (os.time)")
watch(os, "clock", "the clock (os.clock)")
watch(os, "date", "the clock (os.date)")
