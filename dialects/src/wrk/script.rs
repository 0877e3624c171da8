//! wrk's Lua scripts, as far as they only choose the requests beforehand. A script runs before the measurement and decides everything
//! there, because no script runs while requests are in flight (only `done()` runs after it). Anything that can't be decided then is refused, with the reason.

use super::options::Options;
use super::pieces::{self, NoRequest};
use super::stats::Stats;
use crate::Printed;
use mlua::{
    Error, Function, Lua, LuaOptions, MetaMethod, StdLib, Table, UserData, UserDataMethods, UserDataRef,
    Value,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// How often `request()` is called to find the cycle of its results. A cycle of up to half of this length is found.
const CALLS: usize = 10_000;

/// The calls end earlier when the results reach this size, in bytes.
const CALLS_BYTES: usize = 64 << 20;

/// How often `delay()` is called to check that its result is constant.
const DELAYS: usize = 100;

/// What a script prints and does.
#[derive(Debug, Default)]
struct Heard {
    out: String,
    err: String,
    /// What the script used that drome does not have.
    refused: Option<String>,
    /// What the script used that is different each time.
    noted: Option<String>,
}

/// A Lua state. The tool has one for itself and one for each thread.
struct State {
    lua: Lua,
    heard: Rc<RefCell<Heard>>,
}

/// A script that has run as far as it runs before a measurement.
pub struct Script {
    main: State,
    /// The requests, in turn.
    pub requests: Vec<Vec<u8>>,
    /// How many requests are sent at once.
    pub at_once: usize,
    /// The delay between an answer and the next request, in milliseconds.
    pub delay_ms: u64,
}

impl Script {
    /// Runs the script in the tool's own state.
    pub fn begin(options: &Options, printed: &mut Printed) -> Result<Self, Printed> {
        let main = State::new(options, printed)?;
        Ok(Self { main, requests: Vec::new(), at_once: 1, delay_ms: 0 })
    }

    /// Runs the script in each thread's state.
    pub fn go_on(&mut self, options: &Options, printed: &mut Printed) -> Result<(), Printed> {
        let threads = if options.script.is_some() { options.threads } else { 1 };
        for thread in 0..threads {
            let state = State::new(options, printed)?;
            if self.main.has("setup") {
                return Err(refuse(options, "setup() makes threads send different requests"));
            }
            state.init(options, printed)?;
            if thread == 0 {
                self.look(&state, options, printed)?;
            }
        }
        Ok(())
    }

    /// The requests and delays of the first thread; the others do the same.
    fn look(&mut self, state: &State, options: &Options, printed: &mut Printed) -> Result<(), Printed> {
        let is_dynamic = state.has("request");
        let requests = if is_dynamic {
            state.cycle(options, printed)?
        } else {
            let wrk = state.lua.globals().get::<Table>("wrk");
            let request = wrk.and_then(|wrk| wrk.get::<Function>("request")?.call::<mlua::String>(()));
            vec![state.checked(options, printed, request.map(|text| text.as_bytes().to_vec()))?]
        };
        let mut counts = Vec::new();
        for request in &requests {
            let pieces = pieces::split(request).map_err(|why| {
                let NoRequest { what, line, column } = why;
                printed.err.push_str(&format!("{what} at {line}:{column}\n"));
                printed.clone().exit(1)
            })?;
            counts.push(pieces.len());
            self.requests.extend(pieces.into_iter().map(<[u8]>::to_vec));
        }
        self.at_once = counts[0];
        if counts.iter().any(|count| *count != self.at_once) {
            return Err(refuse(options, "request() returns a varying number of requests at once"));
        }
        if self.at_once > 1 && options.is_wrk2 {
            return Err(refuse(
                options,
                "request() returns several at once, but each one is due at its own time",
            ));
        }
        if !options.is_wrk2 && state.has("delay") {
            self.delay_ms = state.delay_ms(options, printed)?;
        }
        if state.has("response") {
            let why = "response() would run for every answer, and no script runs while drome measures";
            return Err(refuse(options, why));
        }
        Ok(())
    }

    /// Whether the script has something to do at the end.
    pub fn has_done(&self) -> bool {
        self.main.has("done")
    }

    /// Runs the script's `done()`.
    pub fn done(&self, options: &Options, summary: &Summary, printed: &mut Printed) -> Result<(), Printed> {
        let result = self.main.done(summary);
        self.main.checked(options, printed, result)
    }
}

/// The arguments of a script's `done()`.
pub struct Summary {
    /// The duration, in microseconds.
    pub duration_us: u64,
    /// Complete answers.
    pub requests: u64,
    /// Bytes of answers.
    pub bytes: u64,
    /// The errors, by wrk's names.
    pub errors: [(&'static str, u64); 5],
    /// Latencies, in microseconds.
    pub latency: Stats,
    /// Requests per second, by thread.
    pub rates: Stats,
}

fn refuse(options: &Options, why: &str) -> Printed {
    let option = format!("-s {}", options.script.as_deref().unwrap_or_default());
    Printed::refuse(options.tool(), &option, why)
}

impl State {
    /// A state in which the script has run.
    fn new(options: &Options, printed: &mut Printed) -> Result<Self, Printed> {
        let heard = Rc::new(RefCell::new(Heard::default()));
        let made = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::default())
            .and_then(|lua| prepare(&lua, options, &heard).map(|()| lua));
        let lua = made.map_err(|why| {
            Printed::err(format!("drome wrk: Lua did not start: {}\n", cause(&why))).exit(1)
        })?;
        let state = Self { lua, heard };
        if let Some(file) = &options.script {
            let result = match std::fs::read(file) {
                Err(why) => Err(format!("cannot open {file}: {}", words(&why))),
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

    fn has(&self, name: &str) -> bool {
        self.lua.globals().get::<Function>(name).is_ok()
    }

    fn init(&self, options: &Options, printed: &mut Printed) -> Result<(), Printed> {
        let call = || {
            let args = self.lua.create_table()?;
            for (at, operand) in options.operands.iter().enumerate() {
                args.set(at, operand.as_str())?;
            }
            self.lua.globals().get::<Table>("wrk")?.get::<Function>("init")?.call::<()>(args)
        };
        self.checked(options, printed, call())
    }

    /// The cycle of requests that `request()` returns.
    fn cycle(&self, options: &Options, printed: &mut Printed) -> Result<Vec<Vec<u8>>, Printed> {
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut order = Vec::new();
        let mut bytes = 0;
        self.heard.borrow_mut().noted = None;
        while order.len() < CALLS && (order.len() < 2 || bytes < CALLS_BYTES) {
            let result =
                self.lua.globals().get::<Function>("request").and_then(|f| f.call::<mlua::String>(()));
            let request = self.checked(options, printed, result.map(|text| text.as_bytes().to_vec()))?;
            bytes += request.len();
            let next = known.len();
            order.push(*known.entry(request).or_insert(next));
        }
        if let Some(what) = &self.heard.borrow().noted {
            return Err(refuse(
                options,
                &format!("request() uses {what}, so no two runs would do the same work"),
            ));
        }
        let Some(length) = period(&order) else {
            let why = format!(
                "request() showed no cycle within {} calls, and drome must know all requests beforehand",
                order.len()
            );
            return Err(refuse(options, &why));
        };
        let mut requests: Vec<(usize, Vec<u8>)> =
            known.into_iter().map(|(request, at)| (at, request)).collect();
        requests.sort_unstable();
        Ok(order[..length].iter().map(|at| requests[*at].1.clone()).collect())
    }

    fn delay_ms(&self, options: &Options, printed: &mut Printed) -> Result<u64, Printed> {
        self.heard.borrow_mut().noted = None;
        let mut delays = Vec::new();
        for _ in 0..DELAYS {
            let result = self.lua.globals().get::<Function>("delay").and_then(|f| f.call::<Option<f64>>(()));
            delays.push(self.checked(options, printed, result)?.unwrap_or(0.0) as u64);
        }
        let is_constant = delays.windows(2).all(|pair| pair[0] == pair[1]);
        if !is_constant || self.heard.borrow().noted.is_some() {
            return Err(refuse(options, "delay() does not always return the same value"));
        }
        Ok(delays[0])
    }

    fn done(&self, summary: &Summary) -> mlua::Result<()> {
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

    /// The result of a call. A call that fails ends the tool.
    fn checked<T>(
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

    /// Takes over what the script printed.
    fn drain(&self, options: &Options, printed: &mut Printed) -> Result<(), Printed> {
        let mut heard = self.heard.borrow_mut();
        printed.out.push_str(&std::mem::take(&mut heard.out));
        printed.err.push_str(&std::mem::take(&mut heard.err));
        heard.refused.take().map_or(Ok(()), |why| Err(refuse(options, &why)))
    }
}

/// Fills a new state with the functions and tables for scripts.
fn prepare(lua: &Lua, options: &Options, heard: &Rc<RefCell<Heard>>) -> mlua::Result<()> {
    let drome = lua.create_table()?;
    let teller = |tell: fn(&mut Heard, String) -> mlua::Result<()>| {
        let heard = Rc::clone(heard);
        lua.create_function(move |_, text: mlua::String| {
            tell(&mut heard.borrow_mut(), text.to_string_lossy())
        })
    };
    drome.set(
        "say",
        teller(|heard, text| {
            heard.out.push_str(&text);
            Ok(())
        })?,
    )?;
    drome.set(
        "complain",
        teller(|heard, text| {
            heard.err.push_str(&text);
            Ok(())
        })?,
    )?;
    drome.set(
        "note",
        teller(|heard, text| {
            heard.noted.get_or_insert(text);
            Ok(())
        })?,
    )?;
    drome.set(
        "refuse",
        teller(|heard, text| {
            heard.refused.get_or_insert(text.clone());
            Err(Error::RuntimeError(text))
        })?,
    )?;
    lua.globals().set("drome", drome)?;
    lua.load(include_str!("prelude.lua")).set_name("=drome").exec()?;
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

/// Lua's error message, without the stack trace.
fn cause(error: &Error) -> String {
    let text = match error {
        Error::SyntaxError { message, .. } | Error::RuntimeError(message) => message.clone(),
        Error::CallbackError { cause: inner, .. } => cause(inner),
        other => other.to_string(),
    };
    text.split("\nstack traceback:").next().unwrap_or_default().to_owned()
}

/// The system's error message, without its number.
pub fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.rsplit(": ").next().unwrap_or_default().to_owned()
}

/// Removes a first line that is for the shell.
fn without_shebang(text: &[u8]) -> &[u8] {
    let is_one = text.starts_with(b"#");
    let length = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
    if is_one { &text[length..] } else { text }
}

/// The length after which a sequence repeats; `None` if it does not repeat twice. It uses the failure function of
/// Knuth, Morris and Pratt: the sequence's length without its longest border is its shortest period.
fn period(order: &[usize]) -> Option<usize> {
    let mut borders = vec![0; order.len()];
    let mut border = 0;
    for at in 1..order.len() {
        while border > 0 && order[at] != order[border] {
            border = borders[border - 1];
        }
        border += usize::from(order[at] == order[border]);
        borders[at] = border;
    }
    let length = order.len() - borders.last()?;
    (length <= order.len() / 2).then_some(length)
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

#[cfg(test)]
mod tests {
    use super::period;

    #[test]
    fn the_shortest_cycle_is_found_if_it_comes_twice() {
        assert_eq!(period(&[0, 0, 0, 0]), Some(1));
        assert_eq!(period(&[0, 1, 0, 1, 0]), Some(2));
        assert_eq!(period(&[0, 0, 1, 0, 0, 1, 0]), Some(3));
        for none in [&[][..], &[0], &[0, 1], &[0, 1, 2, 3], &[0, 1, 1, 1, 1], &[0, 1, 2, 0, 1]] {
            assert_eq!(period(none), None, "{none:?}");
        }
    }
}
