//! A Lua state as wrk makes one for itself and one for each thread: the script has run in it, and its functions can be called.

use super::heard::Heard;
use super::options::Options;
use super::refused::{self, refuse};
use super::stats::{Stats, Summary};
use super::threads;
use crate::Printed;
use crate::number::strerror;
use mlua::{
    Error, Function, Lua, LuaOptions, MetaMethod, StdLib, Table, UserData, UserDataMethods, UserDataRef,
    Value,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Where Debian keeps C modules.
const C_MODULES: &str = concat!(
    "/usr/local/lib/lua/5.1/?.so;/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;",
    "/usr/lib/aarch64-linux-gnu/lua/5.1/?.so;/usr/lib/lua/5.1/?.so"
);

/// A Lua state.
pub struct LuaState {
    pub lua: Lua,
    pub heard: Rc<RefCell<Heard>>,
}

impl LuaState {
    /// A state in which the script has run.
    pub fn new(options: &Options, printed: &mut Printed) -> Result<Self, Printed> {
        let heard = Rc::new(RefCell::new(Heard::default()));
        let made = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::default())
            .and_then(|lua| prepare(&lua, options, &heard).map(|()| lua));
        let lua = made.map_err(|why| {
            Printed::err(format!("drome wrk: Lua did not start: {}\n", cause(&why))).exit(1)
        })?;
        let state = Self { lua, heard };
        if let Some(file) = &options.script {
            let result = match std::fs::read(file) {
                Err(why) => Err(format!("cannot open {file}: {}", strerror(&why))),
                Ok(text) => {
                    let text = without_shebang(&text);
                    state.lua.load(text).set_name(format!("@{file}")).exec().map_err(|why| cause(&why))
                }
            };
            state.drain(options, printed)?;
            if let Err(why) = result {
                // The tool continues without the script, and so does drome.
                printed.err.push_str(&format!("{file}: {why}\n"));
            }
        }
        Ok(state)
    }

    /// Whether the script has such a function.
    pub fn has(&self, name: &str) -> bool {
        self.lua.globals().get::<Function>(name).is_ok()
    }

    /// A function of the table `wrk`.
    pub fn of_wrk(&self, name: &str) -> mlua::Result<Function> {
        self.lua.globals().get::<Table>("wrk")?.get(name)
    }

    /// The result of a call. A call that fails ends the tool.
    pub fn checked<T>(
        &self,
        options: &Options,
        printed: &mut Printed,
        result: mlua::Result<T>,
    ) -> Result<T, Printed> {
        self.drain(options, printed)?;
        result.map_err(|why| {
            printed.err.push_str(&format!("PANIC: unprotected error in call to Lua API ({})\n", cause(&why)));
            printed.clone().exit(1)
        })
    }

    /// Takes over what the script printed. `Err`: the script ended the tool, or did what drome refuses.
    fn drain(&self, options: &Options, printed: &mut Printed) -> Result<(), Printed> {
        let mut heard = self.heard.borrow_mut();
        printed.out.push_str(&std::mem::take(&mut heard.out));
        printed.err.push_str(&std::mem::take(&mut heard.err));
        if let Some((name, how)) = heard.refused.take() {
            return Err(refuse(options, &name, &how));
        }
        heard.exit.take().map_or(Ok(()), |code| Err(printed.clone().exit(code)))
    }

    /// Calls a function as wrk does while requests are in flight, where drome allows less.
    pub fn asks<T>(
        &self,
        options: &Options,
        printed: &mut Printed,
        call: impl FnOnce() -> mlua::Result<T>,
    ) -> Result<T, Printed> {
        self.heard.borrow_mut().is_asking = true;
        let result = call();
        let mut heard = self.heard.borrow_mut();
        heard.is_asking = false;
        // A call that fails or ends the tool is the last one in wrk, too.
        if result.is_ok() {
            let spoke = !heard.out.is_empty() || !heard.err.is_empty();
            let did = heard.act.take().or_else(|| spoke.then(|| "print or io.write".to_owned()));
            let looked = heard.clock.take().map(|what| (refused::CLOCK, what));
            if let Some((name, how)) = looked.or_else(|| did.map(|what| (refused::ACT, what))) {
                let where_to = "in request() or delay()";
                heard.refused.get_or_insert((name.to_owned(), format!("{how} {where_to}")));
                heard.out.clear();
            }
        }
        drop(heard);
        self.checked(options, printed, result)
    }

    /// Runs the script's `done()`.
    pub fn done(&self, summary: &Summary) -> mlua::Result<()> {
        let table = self.lua.create_table()?;
        table.set("duration", summary.duration_us as f64)?;
        table.set("requests", summary.requests as f64)?;
        table.set("bytes", summary.bytes as f64)?;
        let errors = self.lua.create_table()?;
        for (name, n) in summary.errors {
            errors.set(name, n as f64)?;
        }
        table.set("errors", errors)?;
        let done = self.lua.globals().get::<Function>("done")?;
        done.call((table, summary.latency.clone(), summary.rates.clone()))
    }
}

/// Fills a new state with the functions and tables for scripts.
fn prepare(lua: &Lua, options: &Options, heard: &Rc<RefCell<Heard>>) -> mlua::Result<()> {
    let drome = lua.create_table()?;
    let say = Rc::clone(heard);
    let print = move |_: &Lua, text: mlua::String| {
        say.borrow_mut().out.push_str(&text.to_string_lossy());
        Ok(())
    };
    drome.set("say", lua.create_function(print)?)?;
    let complain = Rc::clone(heard);
    let print = move |_: &Lua, text: mlua::String| {
        complain.borrow_mut().err.push_str(&text.to_string_lossy());
        Ok(())
    };
    drome.set("complain", lua.create_function(print)?)?;
    let noting = Rc::clone(heard);
    let note = move |_: &Lua, (sort, what): (String, String)| {
        let mut heard = noting.borrow_mut();
        match sort.as_str() {
            "clock" => heard.clock = Some(what),
            "act" => heard.act = Some(what),
            _ => heard.is_random = true,
        }
        Ok(())
    };
    drome.set("note", lua.create_function(note)?)?;
    let refusing = Rc::clone(heard);
    let refuse = move |_: &Lua, (name, how): (String, Option<String>)| -> mlua::Result<()> {
        refusing.borrow_mut().refused.get_or_insert((name.clone(), how.unwrap_or_default()));
        Err(Error::RuntimeError(name))
    };
    drome.set("refuse", lua.create_function(refuse)?)?;
    let exiting = Rc::clone(heard);
    let exit = move |_: &Lua, code: f64| -> mlua::Result<()> {
        // As a process's status: the lowest byte.
        exiting.borrow_mut().exit.get_or_insert((code as i64).cast_unsigned().to_le_bytes()[0]);
        Err(Error::RuntimeError("os.exit".to_owned()))
    };
    drome.set("exit", lua.create_function(exit)?)?;
    drome.set("debug", refused::of_library("debug"))?;
    drome.set("cpath", C_MODULES)?;
    drome.set("getinfo", lua.create_function(info)?)?;
    let trace = |lua: &Lua, text: Option<String>| lua.traceback(text.as_deref(), 1);
    drome.set("traceback", lua.create_function(trace)?)?;
    threads::add(lua, &drome, heard)?;
    lua.globals().set("drome", drome)?;
    lua.load(include_str!("prelude.lua")).set_name("=drome").exec()?;
    fill(lua, options)
}

/// Sets the fields of `wrk` that the command line decides.
fn fill(lua: &Lua, options: &Options) -> mlua::Result<()> {
    let wrk = lua.globals().get::<Table>("wrk")?;
    wrk.set("scheme", options.url.scheme.as_str())?;
    wrk.set("host", options.url.host.as_str())?;
    wrk.set("port", options.url.port.as_deref())?;
    wrk.set("path", options.url.path.as_str())?;
    let headers = wrk.get::<Table>("headers")?;
    for (name, value) in options.headers.iter().filter_map(|header| header.split_once(':')) {
        if let Some(value) = value.strip_prefix(' ') {
            headers.set(name, value)?;
        }
    }
    Ok(())
}

/// `debug.getinfo`: what is known of a function, or of a level of the stack.
fn info(lua: &Lua, (what, _fields): (Value, Option<String>)) -> mlua::Result<Option<Table>> {
    let table = lua.create_table()?;
    match &what {
        Value::Function(function) => {
            let info = function.info();
            table.set("source", info.source)?;
            table.set("short_src", info.short_src)?;
            table.set("what", info.what)?;
            table.set("linedefined", info.line_defined.map_or(-1, |line| line as i64))?;
            table.set("lastlinedefined", info.last_line_defined.map_or(-1, |line| line as i64))?;
            table.set("func", function)?;
            return Ok(Some(table));
        }
        Value::Integer(level) => {
            let level = usize::try_from(*level).unwrap_or(usize::MAX).min(1 << 20);
            let fill = |debug: &mlua::Debug<'_>| -> mlua::Result<()> {
                let (source, names) = (debug.source(), debug.names());
                table.set("source", source.source.as_deref())?;
                table.set("short_src", source.short_src.as_deref())?;
                table.set("what", source.what)?;
                table.set("linedefined", source.line_defined.map_or(-1, |line| line as i64))?;
                table.set("lastlinedefined", source.last_line_defined.map_or(-1, |line| line as i64))?;
                table.set("currentline", debug.current_line().map_or(-1, |line| line as i64))?;
                table.set("name", names.name.as_deref())?;
                table.set("namewhat", names.name_what)
            };
            return lua.inspect_stack(level, fill).transpose().map(|known| known.map(|()| table));
        }
        _ => {}
    }
    Err(Error::RuntimeError("bad argument #1 to 'getinfo' (function or level expected)".to_owned()))
}

/// Lua's error message, without the stack trace.
fn cause(error: &Error) -> String {
    let text = match error {
        Error::SyntaxError { message, .. } | Error::RuntimeError(message) => message.clone(),
        Error::CallbackError { cause: inner, .. } => cause(inner),
        other => other.to_string(),
    };
    text.split("\nstack traceback:").next().unwrap_or_default().to_owned()
}

/// Removes a first line that is for the shell.
fn without_shebang(text: &[u8]) -> &[u8] {
    let is_one = text.starts_with(b"#");
    let length = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
    if is_one { &text[length..] } else { text }
}

impl UserData for Stats {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Len, |_, stats, ()| Ok(stats.different()));
        methods.add_meta_method(MetaMethod::Call, |_, stats, k: f64| {
            let (number, n) = stats.at((k as usize).wrapping_sub(1));
            Ok((number as f64, n as f64))
        });
        methods.add_meta_method(MetaMethod::Index, |lua, stats, name: mlua::String| {
            Ok(match &*name.as_bytes() {
                b"min" => Value::Number(stats.min().unwrap_or(u64::MAX) as f64),
                b"max" => Value::Number(stats.max as f64),
                b"mean" => Value::Number(stats.mean()),
                b"stdev" => Value::Number(stats.sd()),
                b"percentile" => {
                    Value::Function(lua.create_function(|_, (stats, p): (UserDataRef<Self>, f64)| {
                        Ok(stats.percentile(p) as f64)
                    })?)
                }
                // wrk returns the name if it does not know it.
                _ => Value::String(name.clone()),
            })
        });
    }
}
