-- What scripts can use beside the language's own libraries: the table `wrk`, and stand-ins for what drome must see, answer itself or
-- refuse. `drome` has the functions for that. The fields of `wrk` that the command line sets are set afterwards.

local drome_is = drome
local note, refuse, say, complain = drome.note, drome.refuse, drome.say, drome.complain
drome = nil

-- A script's output appears in order with the tool's own output, so the two streams are not the C library's.
local streams = {}

local function stream(name, write)
    local methods = {}
    function methods.write(self, ...)
        for i = 1, select("#", ...) do
            local text = select(i, ...)
            if type(text) ~= "string" and type(text) ~= "number" then
                error(("bad argument #%d to 'write' (string expected, got %s)"):format(i, type(text)), 2)
            end
            write(tostring(text))
        end
        return self
    end
    function methods.flush()
        return true
    end
    function methods.setvbuf()
        return true
    end
    for _, method in ipairs({ "close", "lines", "read", "seek" }) do
        methods[method] = function()
            refuse("file:" .. method, ("%s:%s()"):format(name, method))
        end
    end
    local file = newproxy(true)
    local meta = getmetatable(file)
    meta.__index, meta.__metatable = methods, getmetatable(io.stdin)
    function meta.__tostring()
        return "file (" .. name .. ")"
    end
    streams[file] = true
    return file
end

io.stdout, io.stderr = stream("io.stdout", say), stream("io.stderr", complain)

local default = io.stdout
local close, kind, open = io.close, io.type, io.open

function io.output(file)
    if type(file) == "string" then
        local opened, why = open(file, "w")
        default = opened or error(why, 2)
    elseif file ~= nil then
        if not io.type(file) then
            error(("bad argument #1 to 'output' (FILE* expected, got %s)"):format(type(file)), 2)
        end
        default = file
    end
    return default
end

function io.write(...)
    return default:write(...)
end

function io.flush()
    return default:flush()
end

function io.close(file)
    file = file or default
    return streams[file] and file:close() or close(file)
end

function io.type(file)
    return streams[file] and "file" or kind(file)
end

function print(...)
    local words = {}
    for i = 1, select("#", ...) do
        words[i] = tostring((select(i, ...)))
        if type(words[i]) ~= "string" then
            error("'tostring' must return a string to 'print'", 2)
        end
    end
    say(table.concat(words, "\t") .. "\n")
end

function os.exit(code)
    code = (code == nil or code == true) and 0 or code == false and 1 or code
    drome_is.exit(code)
end

wrk = { scheme = "http", host = "localhost", method = "GET", path = "/", headers = {} }
wrk.lookup, wrk.connect = drome_is.lookup, drome_is.connect
package.loaded.wrk = wrk

function wrk.resolve(host, service)
    local addresses = wrk.lookup(host, service)
    for i = #addresses, 1, -1 do
        if not wrk.connect(addresses[i]) then
            table.remove(addresses, i)
        end
    end
    wrk.addrs = addresses
end

function wrk.setup(thread)
    thread.addr = wrk.addrs[1]
    if type(setup) == "function" then
        setup(thread)
    end
end

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

-- In a static binary, an error that is thrown in compiled code finds no way out: what unwinds the stack there does not know such code. The
-- interpreter is fast enough for what runs before a measurement.
jit.off()
function jit.on() end

-- What can't run inside drome is there by its name, and refused when it is used.
debug = { getinfo = drome_is.getinfo, traceback = drome_is.traceback }
package.loaded.debug = debug
for name in drome_is.debug:gmatch("%S+") do
    debug[name] = function()
        refuse("debug." .. name)
    end
end

function package.loadlib()
    refuse("package.loadlib")
end

package.preload.ffi = function()
    return setmetatable({}, {
        __index = function(_, name) refuse("ffi", "ffi." .. tostring(name)) end,
    })
end

-- What the LuaJIT of some systems has besides, among them Debian's, which its wrk uses.
local function of_table(name, f)
    package.preload["table." .. name] = function()
        table[name] = function(t)
            if type(t) ~= "table" then
                error(("bad argument #1 to '%s' (table expected, got %s)"):format(name, type(t)), 2)
            end
            return f(t)
        end
        return table[name]
    end
end

of_table("clone", function(t)
    local copy = {}
    for key, value in next, t do
        copy[key] = value
    end
    return copy
end)

of_table("isempty", function(t)
    return next(t) == nil
end)

of_table("nkeys", function(t)
    local n = 0
    for _ in next, t do
        n = n + 1
    end
    return n
end)

of_table("isarray", function(t)
    for key in next, t do
        if type(key) ~= "number" or key % 1 ~= 0 then
            return false
        end
    end
    return true
end)

for _, name in ipairs({ "thread.exdata", "thread.exdata2" }) do
    package.preload[name] = function()
        refuse("thread.exdata", ("require(%q)"):format(name))
    end
end

-- Where Debian keeps modules. One in C can't be loaded; one that is nowhere is an error, as it is in wrk.
package.path = package.path .. ";/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
package.cpath = package.cpath .. ";" .. drome_is.cpath
local search, places = package.searchpath, package.cpath
table.remove(package.loaders, 3)
table.insert(package.loaders, function(name)
    if name:find("^jit%.") then
        refuse("jit.*", ("require(%q)"):format(name))
    end
    local root = name:match("^[^.]+")
    local found = search(name, package.cpath) or search(root, package.cpath) or search(name, places)
    if found then
        refuse("C modules", ("require(%q), which is %s"):format(name, found))
    end
    return select(2, search(name, package.cpath))
end)

-- What makes requests differ from run to run, or acts on the world for each request.
local function watch(library, name, sort, what)
    local original = library[name]
    library[name] = function(...)
        note(sort, what)
        return original(...)
    end
end

watch(math, "random", "random", "math.random")
watch(os, "time", "clock", "os.time")
watch(os, "clock", "clock", "os.clock")
watch(os, "date", "clock", "os.date")
watch(os, "execute", "act", "os.execute")
watch(os, "remove", "act", "os.remove")
watch(os, "rename", "act", "os.rename")
watch(os, "tmpname", "act", "os.tmpname")
watch(io, "popen", "act", "io.popen")
watch(io, "tmpfile", "act", "io.tmpfile")
watch(getmetatable(io.stdin).__index, "write", "act", "file:write")
