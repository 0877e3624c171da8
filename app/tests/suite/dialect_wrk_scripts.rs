//! Lua scripts in `drome wrk` beside wrk itself (4.1.0 of Debian): what they print, what they send, and what they can use.

use crate::common::tools::{Ears, Ended, drome, real, together};
use crate::common::{Home, serve};
use std::collections::BTreeSet;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The request line, the fields in any order, and the body.
fn sorted(request: &[u8]) -> String {
    let text = String::from_utf8_lossy(request).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut fields: Vec<&str> = head.split("\r\n").collect();
    fields[1..].sort_unstable();
    format!("{}\n{body}", fields.join("\n"))
}

/// What a script prints beside the report, and the first requests on its only connection.
fn run(program: fn(&str, &[&str]) -> Ended, path: &str, args: &[&str]) -> (Vec<String>, Vec<String>, Ended) {
    let ears = Ears::new(OK, false);
    let url = format!("http://127.0.0.1:{}/base", ears.port);
    let ended = program("wrk", &[&["-t1", "-c1", "-d1s", "-s", path, &url], args].concat());
    let port = ears.port.to_string();
    let is_report = |line: &&str| {
        [
            "Running",
            "threads and",
            "Thread Stats",
            "Latency  ",
            "Req/Sec  ",
            "requests in",
            "Requests/sec",
            "Transfer/sec",
        ]
        .iter()
        .any(|word| line.contains(word))
    };
    let lines =
        ended.out.lines().filter(|line| !is_report(line)).map(|line| line.replace(&port, "PORT")).collect();
    let requests = ears.several(6).iter().map(|request| sorted(request).replace(&port, "PORT")).collect();
    (lines, requests, ended)
}

/// Scripts whose requests and words are the same whenever they run.
const SAME: &[(&str, &str)] = &[
    ("a counter", "local n = 0; request = function() n = n + 1; wrk.headers['X-Counter'] = n; return wrk.format(nil, '/' .. n) end"),
    ("random numbers", "request = function() return wrk.format(nil, '/' .. math.random(1, 1000000)) end"),
    ("seeded", "math.randomseed(7); local r = math.random; request = function() return wrk.format('GET', '/?' .. r(0, 255)) end"),
    ("bit", "local bit = require('bit'); request = function() return wrk.format(nil, '/' .. bit.tohex(bit.bxor(1, 7))) end"),
    ("a lazy ffi", "local ok, ffi = pcall(require, 'ffi'); print(ok, type(ffi)); wrk.path = '/f'"),
    ("syntax of LuaJIT", "local t = { '/\\x61', '/b' }; local i = 0; request = function() i = i % 2 + 1; goto e; ::e:: return wrk.format(nil, t[i]) end"),
    ("setup and ids", "local k = 0; function setup(t) k = k + 1; t:set('id', k); t:set('text', 'a'); t:set('truth', true) end
      function init(a) print(id, text, truth, a[0] ~= nil, a[1], #a, wrk.thread:get('id')) end
      function request() return wrk.format(nil, '/' .. id) end"),
    ("threads kept", "local all = {}; function setup(t) all[#all + 1] = t end; name = 'n'
      function done() print(#all, all[1]:get('name'), all[1]:get('nothing')) end"),
    ("addresses", "function setup(t) local a = wrk.lookup(wrk.host, wrk.port)
      for i = #a, 1, -1 do if not wrk.connect(a[i]) then table.remove(a, i) end end; t.addr = a[math.random(#a)] end
      function init() print(tostring(wrk.thread.addr), wrk.thread.nothing, wrk.addrs) end; function done() print(#wrk.addrs) end"),
    ("a body", "wrk.method = 'POST'; wrk.body = 'a=b'; wrk.headers['Content-Type'] = 'x/y'"),
    ("own init", "wrk.init = function(a) wrk.headers.Host = 'h'; local r = wrk.format(nil, '/own'); wrk.request = function() return r end end"),
    ("tools", "print(io.type(io.stdout), io.output() == io.stdout, type(io.stderr)); io.write('a', 1, '\\n'); io.stdout:write('b\\n')
      print(debug.getinfo(1).short_src:match('[^/]*$'), debug.getinfo(1, 'l').currentline, (debug.traceback('m'):gsub('\\n.*', '')))
      print(getfenv(1) == _G, select('#', unpack({ 1, 2 })), table.getn({ 1 }), loadstring('return 5')(), _VERSION)"),
    ("more of tables", "for _, f in ipairs({ 'clone', 'isarray', 'isempty', 'nkeys' }) do
      local call = require('table.' .. f); print(f, call == table[f], (pcall(call, nil)))
      for _, t in ipairs({ {}, { 1, nil, 3 }, { [0] = 1 }, { [-1] = 1 }, { [1.5] = 1 }, { a = 1, 2 }, setmetatable({}, { __index = { 1 } }) }) do
        local v = call(t); print(tostring(type(v) == 'table' and tostring(v[1]) or v)) end end"),
    ("exit", "print('no paths'); os.exit(3)"),
    ("exit in init", "init = function() print('bye'); os.exit(5) end"),
    ("exit at the end", "done = function() print('d'); os.exit(6) end"),
    ("lookup fails", "wrk.lookup('no-such-host.invalid', '80')"),
    ("not loaded", "require('nowhere.at.all')"),
    ("a table as an error", "local t = setmetatable({}, { __index = function() error('x', 0) end }); print(t.a)"),
];

#[test]
fn they_print_and_send_the_same() {
    let home = Home::new();
    for (name, text) in SAME {
        let path = home.write("script.lua", text).display().to_string();
        let (theirs, ours) = together(|| run(real, &path, &["x", "y"]), || run(drome, &path, &["x", "y"]));
        assert_eq!(
            (&theirs.0, &theirs.1, theirs.2.code),
            (&ours.0, &ours.1, ours.2.code),
            "{name}: {theirs:?} {ours:?}"
        );
        let is_over = ["exit", "exit in init", "lookup fails"].contains(name);
        assert_eq!(ours.1.is_empty(), is_over, "{name}: {ours:?}");
        let first = |ended: &Ended| ended.err.lines().next().unwrap_or_default().to_owned();
        if !ours.2.err.starts_with("drome:") {
            assert_eq!(first(&theirs.2), first(&ours.2), "{name}");
        }
    }
}

#[test]
fn a_random_delay_is_waited() {
    let (home, server) = (Home::new(), serve(&[]));
    let path =
        home.write("delay.lua", "function delay() return math.random(80, 120) end").display().to_string();
    let url = format!("http://{}/hello", server.address);
    let args = ["-t1", "-c2", "-d2s", "-s", &path, &url];
    let (theirs, ours) = together(|| real("wrk", &args), || drome("wrk", &args));
    for ended in [theirs, ours] {
        let found = dialects::read(&ended.out, "wrk");
        let completed = found[0].reading.get("completed").unwrap();
        assert!((2.0..=52.0).contains(&completed), "two connections, 80 ms or more for each: {ended:?}");
    }
}

/// Prints every name that scripts can use, with its type.
const NAMES: &str = r"
local seen = {}
for k, v in pairs(_G) do
    seen[#seen + 1] = k .. ' ' .. type(v)
    if type(v) == 'table' and k ~= '_G' and k ~= 'arg' then
        for inner, w in pairs(v) do seen[#seen + 1] = k .. '.' .. tostring(inner) .. ' ' .. type(w) end
    end
end
for k in pairs(package.loaded) do seen[#seen + 1] = 'loaded ' .. k end
for k in pairs(package.preload) do seen[#seen + 1] = 'preload ' .. k end
for k in pairs(getmetatable(io.stdin).__index) do seen[#seen + 1] = 'file:' .. k end
for _, k in ipairs({ 'write', 'flush', 'setvbuf', 'close', 'lines', 'read', 'seek' }) do
    seen[#seen + 1] = 'io.stdout:' .. k .. ' ' .. type(io.stdout[k]) .. ' ' .. type(io.stderr[k])
end
table.sort(seen)
print('name ' .. table.concat(seen, '\nname '))
os.exit(0)
";

/// `LuaJIT`'s own: drome's and wrk's have different ages.
const NEWER: &[&str] = &["name jit.prngstate function"];

#[test]
fn every_name_that_wrk_has_is_there() {
    let home = Home::new();
    let path = home.write("names.lua", NAMES).display().to_string();
    let names = |ended: &Ended| -> BTreeSet<String> {
        ended.out.lines().filter(|line| line.starts_with("name ")).map(str::to_owned).collect()
    };
    let args = ["-t1", "-c1", "-d1s", "-s", &path, "http://127.0.0.1:1/"];
    let (theirs, ours) = (names(&real("wrk", &args)), names(&drome("wrk", &args)));
    assert!(theirs.len() > 200, "{theirs:?}");
    let missing: Vec<_> = theirs.difference(&ours).filter(|name| !NEWER.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "wrk has, drome has not: {missing:?}");
    let own: Vec<_> = ours.difference(&theirs).filter(|name| !NEWER.contains(&name.as_str())).collect();
    assert!(own.is_empty(), "drome has, wrk has not: {own:?}");
}
