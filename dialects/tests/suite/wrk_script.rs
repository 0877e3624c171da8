//! Everything that wrk's scripts can use: each name either does what it does in wrk, or is refused by name, with an exit code of its own,
//! before anything is sent. What wrk itself does with the same scripts is the judge in the tests of the binary.

use crate::harness::{file, listen, parse};
use crate::wrk_print::tally;
use dialects::wrk::REFUSED;
use dialects::{Job, Printed};
use model::{Address, Order, Think};
use std::net::TcpListener;
use std::time::Duration;

/// What a script came to, with the listener to which it may have connected.
fn with(tool: &str, args: &[&str], text: &str) -> Result<Box<dyn Job>, Printed> {
    with_words(tool, args, text, &[])
}

/// The same with words behind the URL.
fn with_words(tool: &str, args: &[&str], text: &str, words: &[&str]) -> Result<Box<dyn Job>, Printed> {
    let ((_listener, url), (_file, path)) = (listen(), file(text));
    parse(tool, &[&["-s", path.as_str()], args, &[url.as_str()], words].concat())
}

fn runs(text: &str) -> Box<dyn Job> {
    with("wrk", &[], text).unwrap_or_else(|printed| panic!("{text}: {printed:?}"))
}

/// What it prints before the measurement, without the two lines of each run, and without what a second thread prints again.
fn prints(text: &str) -> String {
    let mut job = with("wrk", &["-t1"], text).unwrap_or_else(|printed| panic!("{text}: {printed:?}"));
    let printed = job.begin();
    let own = printed.out.split("Running 10s").next().unwrap_or_default().to_owned();
    assert_eq!(printed.err, "", "{text}");
    // The script runs in the tool's own state, and in that of its thread.
    let half = own.len() / 2;
    assert_eq!(own[..half], own[half..], "{text}");
    own[..half].to_owned()
}

fn refused(tool: &str, text: &str) -> String {
    let args: &[&str] = if tool == "wrk2" { &["-R1"] } else { &[] };
    let printed = with(tool, args, text).err().unwrap_or_else(|| panic!("not refused: {text}"));
    assert_eq!(printed.exit, Some(2), "{text}: {printed:?}");
    printed.err
}

/// The method and the path of each request.
fn asked(job: &dyn Job) -> Vec<String> {
    let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned();
    job.plan().asks.iter().map(|ask| line(&ask.request).replace(" HTTP/1.1", "")).collect()
}

fn paths(job: &dyn Job) -> Vec<String> {
    asked(job).iter().map(|asked| asked.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
}

/// A name as the refusal has it, the tool, and a script that uses it.
const USES: &[(&str, &str, &str)] = &[
    ("response()", "wrk", "response = function() end"),
    ("thread:stop()", "wrk", "request = function() wrk.thread:stop() end"),
    ("thread:stop()", "wrk", "delay = function() wrk.thread:stop() end"),
    (
        "thread.addr",
        "wrk",
        "local n = 80; setup = function(t) n = n + 1; t.addr = wrk.lookup('127.0.0.1', tostring(n))[1] end",
    ),
    (
        "done() could get `total`",
        "wrk",
        "t = {}; setup = function(x) t[#t + 1] = x end; total = 0; done = function() end
             request = function() total = total + 1; return wrk.format() end",
    ),
    (
        "done() could get `sums`",
        "wrk",
        "t = {}; setup = function(x) t[#t + 1] = x end; sums = { a = { b = 0 } }; done = function() end
             request = function() sums.a.b = sums.a.b + 1; return wrk.format() end",
    ),
    (
        "varying number",
        "wrk",
        "local n = 0; request = function() n = n + 1; return wrk.format():rep(n % 2 + 1) end",
    ),
    ("several requests", "wrk2", "request = function() return wrk.format() .. wrk.format() end"),
    ("delay()", "wrk", "local n = 0; delay = function() n = n + 1; return n % 2 end"),
    ("delay()", "wrk", "delay = function() return 10 * math.random(0, 1) end"),
    ("delay()", "wrk", "delay = function() return math.random(5) * math.random(5) end"),
    ("ffi.cdef", "wrk", "require('ffi').cdef[[ int getpid(void); ]]"),
    ("ffi.C", "wrk", "local ok = pcall(function() return require('ffi').C.getpid() end)"),
    ("thread.exdata", "wrk", "require('thread.exdata')"),
    ("package.loadlib", "wrk", "package.loadlib('x.so', 'luaopen_x')"),
    ("jit.v", "wrk", "require('jit.v').on()"),
    (
        "cycles",
        "wrk",
        "local k = 0; setup = function(t) k = k + 1; t:set('length', 4000 + k) end
             local n = 0; request = function() n = n % length + 1; return wrk.format(nil, '/' .. n) end",
    ),
];

#[test]
fn each_name_that_is_refused_is_refused_by_it() {
    let mut cases: Vec<_> =
        USES.iter().map(|(name, tool, text)| (*name, *tool, (*text).to_owned())).collect();
    for call in ["os.time()", "os.clock()", "os.date()"] {
        cases.push((
            &call[..call.len() - 2],
            "wrk",
            format!("request = function() return wrk.format(nil, '/' .. {call}) end"),
        ));
        cases.push((&call[..call.len() - 2], "wrk", format!("delay = function() {call}; return 1 end")));
    }
    for (name, call) in [
        ("print", "print('a')"),
        ("io.write", "io.write('a')"),
        ("io.write", "io.stderr:write('a')"),
        ("file:write", "io.output('/dev/null'):write('a')"),
        ("os.execute", "os.execute('true')"),
        ("os.remove", "os.remove('/no/such/file')"),
        ("os.rename", "os.rename('/no/such/file', '/no/such/folder/file')"),
        ("os.tmpname", "os.remove(os.tmpname())"),
        ("io.popen", "io.popen('true'):close()"),
        ("io.tmpfile", "io.tmpfile():close()"),
    ] {
        let name = if name == "os.tmpname" { "os." } else { name };
        cases.push((name, "wrk", format!("request = function() {call}; return wrk.format() end")));
    }
    for (name, _) in REFUSED.iter().filter(|(name, _)| name.starts_with("debug.")) {
        cases.push((name, "wrk", format!("{name}()")));
    }
    for method in ["close", "lines", "read", "seek"] {
        cases.push((method, "wrk", format!("io.stdout:{method}()")));
        cases.push((method, "wrk", format!("pcall(function() io.stderr:{method}() end)")));
    }
    for (name, tool, text) in &cases {
        let said = refused(tool, text);
        let by_name = said.starts_with(&format!("drome {tool}: -s ")) && said.contains(name);
        assert!(by_name && said.ends_with('\n'), "{name}: {text}: {said}");
    }
}

#[test]
fn a_module_in_c_is_refused_and_one_that_is_nowhere_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("inc.so"), "no library").expect("written");
    let place = folder.path().display();
    let said = refused("wrk", &format!("package.cpath = '{place}/?.so'; pcall(require, 'inc')"));
    assert!(said.contains("inc.so") && said.contains("C code"), "{said}");
    std::fs::write(folder.path().join("inlua.lua"), "return { path = '/from-lua' }").expect("written");
    let job = runs(&format!("package.path = '{place}/?.lua'; wrk.path = require('inlua').path"));
    assert_eq!(paths(job.as_ref()), ["/from-lua"]);
    let mut job = runs("require('nowhere.to.be.found')");
    assert!(job.begin().err.contains("module 'nowhere.to.be.found' not found"));
}

#[test]
fn what_luajit_has_is_there() {
    for (text, said) in [
        ("print(require('bit').bxor(5, 3), bit.band(7, 2), bit.tohex(255))", "6\t2\t000000ff\n"),
        ("print(type(jit.version), jit.arch ~= nil, pcall(jit.off))", "string\ttrue\ttrue\n"),
        ("print((pcall(require, 'ffi')))", "true\n"),
        ("print(#'\\x41\\z\n  b', 0x10, 1e3, 2^53)", "2\t16\t1000\t9.007199254741e+15\n"),
        ("goto over; print('never'); ::over:: print('there')", "there\n"),
        ("print(select('#', unpack({1, 2, 3})), table.getn({1}), loadstring('return 4')())", "3\t1\t4\n"),
        ("print(getfenv(1) == _G, setfenv(function() return x end, {x = 7})())", "true\t7\n"),
        ("print(coroutine.wrap(function() coroutine.yield(1) end)(), table.concat({1, 2}, '-'))", "1\t1-2\n"),
        ("print(#require('table.new')(1, 1), type(require('string.buffer')))", "0\ttable\n"),
        (
            "print(string.format('%5.1f|%q|%s', 1.25, 'a', nil), ('x'):rep(3, ','))",
            "  1.2|\"a\"|nil\tx,x,x\n",
        ),
        (
            "print(debug.getinfo(1).currentline, debug.getinfo(print).what, debug.traceback('m'):sub(1, 9))",
            "1\tLua\tm\nstack t\n",
        ),
        ("print(debug.getinfo(1, 'S').source:sub(1, 2), debug.getinfo(99))", "@/\tnil\n"),
        (
            "print(io.type(io.stdout), io.type(1), io.output() == io.stdout, type(io.stderr))",
            "file\tnil\ttrue\tuserdata\n",
        ),
        (
            "io.output('/dev/null'); io.write('x'); io.close(); io.output(io.stdout); io.write('y', 1, '\\n')",
            "y1\n",
        ),
        ("print(pcall(io.write, {}))", "false\tbad argument #1 to 'write' (string expected, got table)\n"),
        ("print(os.getenv('NO_SUCH_VARIABLE'), type(os.time()), os.difftime(2, 1))", "nil\tnumber\t1\n"),
        (
            "print(load('return ...')(3), pcall(loadfile, '/no/such/file'), pcall(dofile, '/no/such/file'))",
            "",
        ),
        (
            "print(wrk.thread, wrk.addrs, type(wrk.lookup), wrk.method, wrk.path, wrk.body)",
            "nil\tnil\tfunction\tGET\t/x\tnil\n",
        ),
        (
            "print(#wrk.lookup('127.0.0.1', '81'), tostring(wrk.lookup('127.0.0.1', 'http')[1]))",
            "1\t127.0.0.1:80\n",
        ),
        ("print(wrk.connect(wrk.lookup('127.0.0.1', '1')[1]))", "false\n"),
        ("print(gcinfo() > 0, collectgarbage('count') > 0, type(newproxy()))", "true\ttrue\tuserdata\n"),
    ] {
        let out = prints(text);
        assert!(said.is_empty() || out == said, "{text}: {out}");
    }
}

#[test]
fn os_exit_ends_the_tool_with_what_was_printed() {
    for (text, code, out) in [
        ("print('no paths'); os.exit(3)", 3, "no paths\n"),
        ("os.exit()", 0, ""),
        ("os.exit(false)", 1, ""),
        ("os.exit(true)", 0, ""),
        ("pcall(os.exit, 5)", 5, ""),
        ("init = function() io.write('a'); os.exit(256 + 7) end", 7, "a"),
        ("setup = function() os.exit(2) end", 2, ""),
        ("request = function() print('last'); os.exit(4) end", 4, "last\n"),
    ] {
        let printed = with("wrk", &["-t1"], text).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!((printed.exit, printed.out.as_str()), (Some(code), out), "{text}: {printed:?}");
    }
    let mut job = runs("done = function() print('d'); os.exit(6) end");
    let printed = job.print(&model::Tally::default());
    assert!(printed.exit == Some(6) && printed.out.ends_with("d\n"), "{printed:?}");
}

#[test]
fn threads_have_values_and_requests_of_their_own() {
    let ids =
        "local n = 0; function setup(t) n = n + 1; t:set('id', n); t:set('list', { 'a', { b = true } }) end
               function init() assert(list[2].b and wrk.thread:get('id') == id) end
               function request() return wrk.format(nil, '/' .. id) end";
    let job = with("wrk", &["-t3", "-c3"], ids).unwrap_or_else(|printed| panic!("{printed:?}"));
    assert_eq!(
        (paths(job.as_ref()), job.plan().order),
        (vec!["/1".into(), "/2".into(), "/3".into()], Order::ByThread)
    );
    let cycles = "local n, k = 0, 0; function setup(t) n = n + 1; t:set('length', n) end
                  function request() k = k % length + 1; return wrk.format(nil, '/' .. k) end";
    let job = with("wrk", &["-t2"], cycles).unwrap_or_else(|printed| panic!("{printed:?}"));
    assert_eq!(paths(job.as_ref()), ["/1", "/1", "/1", "/2"]);
    let fixed = "local n = 0; function setup(t) n = n + 1; t:set('path', '/' .. n) end; function init() wrk.path = path end";
    let job = with("wrk", &["-t2"], fixed).unwrap_or_else(|printed| panic!("{printed:?}"));
    assert_eq!(paths(job.as_ref()), ["/1", "/2"]);
    for harmless in [
        "t = {}; function setup(x) t[1] = x; x:stop() end; function init() wrk.thread:stop() end; function done() print(#t) end",
        "t = {}; function setup(x) t[1] = x end; s = 'same'; function done() print(t[1]:get('s')) end",
        "n = 0; function setup(x) x:set('id', 1) end; function request() n = n + 1; return wrk.format() end; function done() end",
    ] {
        assert_eq!(paths(runs(harmless).as_ref()), ["/x"], "{harmless}");
    }
    let mut job = runs(
        "t = {}; function setup(x) t[#t + 1] = x end; s = { 'same' }; function done() print(#t, t[2]:get('s')[1]) end",
    );
    assert!(job.print(&model::Tally::default()).out.ends_with("2\tsame\n"));
}

#[test]
fn a_thread_connects_to_its_address() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = other.local_addr().expect("an address");
    let job = runs(&format!("function setup(t) t.addr = wrk.lookup('127.0.0.1', '{}')[1] end", at.port()));
    assert_eq!(job.plan().target.address, Address::Tcp(at));
    assert_ne!(job.plan().target.host, at.to_string(), "what is asked for stays");
    let job = runs(
        "local a; function setup(t) a = a or wrk.lookup(wrk.host, wrk.port); t.addr = a[math.random(#a)] end
                    function init() assert(tostring(wrk.thread.addr):find(':' .. wrk.port)) end",
    );
    assert_eq!(paths(job.as_ref()), ["/x"]);
    let printed = with("wrk", &[], "wrk.lookup('no-such-host.invalid', '80')").err().expect("ended");
    assert_eq!(printed.exit, Some(1));
    assert!(printed.err.starts_with("unable to resolve no-such-host.invalid:80 "), "{printed:?}");
}

#[test]
fn requests_without_a_cycle_are_sent_again_from_the_first_and_that_is_told() {
    for (text, different) in [
        ("local n = 0; request = function() n = n + 1; return wrk.format(nil, '/' .. n) end", 50_000),
        ("request = function() return wrk.format(nil, '/' .. math.random(1e9)) end", 40_000),
    ] {
        let mut job = runs(text);
        let mut paths = paths(job.as_ref());
        assert_eq!(paths.len() % 50_000, 0, "{}", paths.len());
        paths.sort_unstable();
        paths.dedup();
        assert!(paths.len() >= different, "{}", paths.len());
        let err = job.begin().err;
        assert!(
            err.starts_with("drome: request() goes on without repeating itself; its first 50000"),
            "{err}"
        );
    }
    let mut job =
        runs("local n = 0; request = function() n = n % 20000 + 1; return wrk.format(nil, '/' .. n) end");
    assert_eq!(
        (paths(job.as_ref()).len(), job.begin().err.as_str()),
        (40_000, ""),
        "a long cycle is still one"
    );
}

#[test]
fn a_uniformly_random_delay_is_that() {
    let ms = Duration::from_millis;
    for (text, think) in [
        ("delay = function() return math.random(10, 50) end", Think::Between(ms(10), ms(50))),
        (
            "math.randomseed(os.time()); delay = function() return math.random(0, 1000) end",
            Think::Between(ms(0), ms(1000)),
        ),
        ("delay = function() return 0 end", Think::None),
        ("delay = function() return 7.9 end", Think::Between(ms(7), ms(7))),
    ] {
        assert_eq!(runs(text).plan().think, think, "{text}");
    }
}

#[test]
fn the_table_wrk_can_be_changed() {
    for (text, path) in [
        (
            "wrk.init = function(a) wrk.headers.Host = 'h'; local r = wrk.format(nil, '/own'); wrk.request = function() return r end end",
            "/own",
        ),
        ("local f = wrk.format; wrk.format = function(m, p) return f(m, '/changed') end", "/changed"),
        ("package.loaded.wrk.path = '/loaded'", "/loaded"),
        ("require('wrk').path = '/required'", "/required"),
        (
            "wrk.setup = function(t) t.addr = wrk.addrs[1]; t:set('p', '/setup') end; init = function() wrk.path = p end",
            "/setup",
        ),
        ("function init() _G.request = function() return wrk.format(nil, '/late') end end", "/late"),
        ("wrk.host, wrk.port = 'elsewhere', 8080", "/x"),
    ] {
        let job = runs(text);
        let mut all = paths(job.as_ref());
        all.dedup();
        assert_eq!(all, [path], "{text}");
    }
}

#[test]
fn scripts_say_what_is_asked() {
    let of = |text: &str, words: &[&str]| {
        let job = with_words("wrk", &["-t2"], text, words).unwrap_or_else(|printed| panic!("{printed:?}"));
        asked(job.as_ref())
    };
    assert_eq!(of("wrk.method = 'PUT'; wrk.path = '/y'", &[]), ["PUT /y"]);
    assert_eq!(of("init = function(a) wrk.path = a[1] .. #a end", &["--", "/z", "1"]), ["GET /z2"]);
    assert_eq!(of("request = function() return wrk.format('DELETE') end", &[]), ["DELETE /x"]);
    assert_eq!(
        of("local n = 0; request = function() n = n % 3 + 1; return wrk.format(nil, '/' .. n) end", &[]),
        ["GET /2", "GET /3", "GET /1", "GET /1", "GET /2", "GET /3"],
        "each thread has its own; the first one of the first thread only tells how many are sent at once, as in wrk"
    );
    let pipelined = "init = function() r = wrk.format(nil, '/a') .. wrk.format(nil, '/b') end
                     request = function() return r end";
    assert_eq!(of(pipelined, &[]), ["GET /a", "GET /b"]);
    let plan = runs(pipelined).plan().clone();
    assert_eq!((plan.pipeline, plan.bursts, plan.burst_latency), (2, true, true));
    assert_eq!(of("this is no Lua", &[]), ["GET /x"]);
}

#[test]
fn a_body_has_its_length() {
    let text = "wrk.method = 'POST'; wrk.body = 'a=b&c'; wrk.headers['X'] = 1; wrk.headers['Host'] = 'h'";
    let request = b"POST /x HTTP/1.1\r\nContent-Length: 5\r\nHost: h\r\nX: 1\r\n\r\na=b&c";
    assert_eq!(runs(text).plan().asks[0].request, request);
}

#[test]
fn a_script_that_fails_is_told_as_wrk_tells_it() {
    let ended = |text: &str| with("wrk", &[], text).err().unwrap_or_else(|| panic!("{text}"));
    let panics = [
        ("init = function() error('boo', 0) end", "PANIC: unprotected error in call to Lua API (boo)\n"),
        ("request = function() error('boo', 0) end", "PANIC: unprotected error in call to Lua API (boo)\n"),
        ("request = function() return 'GET / HTT' end", "incomplete request at 1:10\n"),
        ("request = function() return 'FETCH / HTTP/1.1\\r\\n\\r\\n' end", "invalid HTTP method at 1:1\n"),
    ];
    for (text, err) in panics {
        let printed = ended(text);
        assert_eq!((printed.err.as_str(), printed.exit), (err, Some(1)));
    }
    for nothing in
        ["request = function() end", "request = function() return {} end", "delay = function() return {} end"]
    {
        let printed = ended(nothing);
        assert!(printed.err.starts_with("PANIC: ") && printed.exit == Some(1), "{printed:?}");
    }
}

#[test]
fn done_is_told_what_was_measured_and_prints() {
    let text = "done = function(s, l, r)
                    print(s.duration, s.requests, s.bytes, s.errors.status, s.errors.timeout, s.errors.connect)
                    io.write(l.min, ' ', l:percentile(50), ' ', #l, ' ', r.max, '\\n')
                end";
    let out = runs(text).print(&tally(&[100, 200, 300], 2)).out;
    assert!(out.ends_with("2000000\t3\t300\t0\t0\t0\n100 200 3 0\n"), "{out}");
    let printed = runs("done = function() error('boo', 0) end").print(&tally(&[100], 1));
    assert!(
        printed.out.contains("Requests/sec") && printed.err.starts_with("PANIC") && printed.exit == Some(1),
        "{printed:?}"
    );
}
