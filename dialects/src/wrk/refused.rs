//! What scripts can do in wrk and not in drome: the one list, from which messages and the documentation are made.

use super::options::Options;
use crate::Printed;

/// Each with the reason.
pub const REFUSED: &[(&str, &str)] = &[
    ("response()", "it would run for every answer, and no script runs while drome measures"),
    (
        "thread:stop() in request() and delay()",
        "no script runs while drome measures, so no thread ends early",
    ),
    ("thread.addr that differs between threads", "one server is measured"),
    (
        "thread:get() in done() of what request() changes",
        "drome calls request() before the measurement, not once for each request",
    ),
    (
        "os.time, os.clock, os.date in request() and delay()",
        "drome calls these functions before the measurement, so the time would be an old one",
    ),
    (
        "print, io.write, file:write, os.execute, os.remove, os.rename, os.tmpname, io.popen, io.tmpfile in request() and delay()",
        "drome calls these functions before the measurement, and not once for each request",
    ),
    ("request() that returns a varying number of requests", "drome sends equally many at once each time"),
    ("request() that returns several requests, in wrk2", "each request is due at a time of its own"),
    ("delay() that is neither constant nor uniformly random", "drome knows no other waits"),
    ("requests whose cycles differ in length between threads", "drome keeps 200,000 requests at most"),
    ("ffi", "its functions could overwrite drome's own memory"),
    ("package.loadlib", "C code could overwrite drome's own memory"),
    ("C modules", "C code could overwrite drome's own memory"),
    ("jit.*", "LuaJIT's own modules in Lua belong to another LuaJIT than drome's"),
    ("thread.exdata", "it is a place for the data of a program that runs Lua, and drome has none"),
    ("debug.debug", DEBUG_WHY),
    ("debug.getfenv", DEBUG_WHY),
    ("debug.gethook", DEBUG_WHY),
    ("debug.getlocal", DEBUG_WHY),
    ("debug.getmetatable", DEBUG_WHY),
    ("debug.getregistry", DEBUG_WHY),
    ("debug.getupvalue", DEBUG_WHY),
    ("debug.setfenv", DEBUG_WHY),
    ("debug.sethook", DEBUG_WHY),
    ("debug.setlocal", DEBUG_WHY),
    ("debug.setmetatable", DEBUG_WHY),
    ("debug.setupvalue", DEBUG_WHY),
    ("debug.upvalueid", DEBUG_WHY),
    ("debug.upvaluejoin", DEBUG_WHY),
    ("file:close", STREAM_WHY),
    ("file:lines", STREAM_WHY),
    ("file:read", STREAM_WHY),
    ("file:seek", STREAM_WHY),
];

const DEBUG_WHY: &str = "of this library, drome has only getinfo and traceback";
const STREAM_WHY: &str = "io.stdout and io.stderr can only be written to";

pub const RESPONSE: &str = REFUSED[0].0;
pub const STOP: &str = REFUSED[1].0;
pub const ADDRESS: &str = REFUSED[2].0;
pub const COUNTED: &str = REFUSED[3].0;
pub const CLOCK: &str = REFUSED[4].0;
pub const ACT: &str = REFUSED[5].0;
pub const VARYING: &str = REFUSED[6].0;
pub const SEVERAL: &str = REFUSED[7].0;
pub const DELAY: &str = REFUSED[8].0;
pub const CYCLES: &str = REFUSED[9].0;

/// The names of a library's functions that are refused.
pub fn of_library(library: &str) -> String {
    let names = REFUSED.iter().filter_map(|(name, _)| name.strip_prefix(library)?.strip_prefix('.'));
    names.collect::<Vec<_>>().join(" ")
}

/// The refusal of a script: what of the list it does, and how it does it.
pub fn refuse(options: &Options, name: &str, how: &str) -> Printed {
    let option = format!("-s {}", options.script.as_deref().unwrap_or_default());
    let why = REFUSED.iter().find(|(listed, _)| *listed == name).map_or("", |(_, why)| why);
    let how = if how.is_empty() { name } else { how };
    Printed::refuse(options.tool(), &option, &format!("{how}: {why}"))
}
