//! wrk's Lua scripts. A script runs before the measurement and decides everything there, because no script runs while requests are in
//! flight (only `done()` runs after it). So `request()` is called ahead: its cycle, or so many requests that they are sent again and again.
//! What can't be decided beforehand is refused by its name ([`super::refused`]).

use super::ahead;
use super::options::Options;
use super::pieces::{self, NoRequest};
use super::refused::{self, refuse};
use super::state::LuaState;
use super::stats::Summary;
use super::threads::{self, Thread};
use crate::Printed;
use mlua::{AnyUserData, Function, Table};
use model::{Order, Think};
use std::net::SocketAddr;

/// The largest number of requests of all threads together.
const MOST_REQUESTS: usize = 200_000;

/// A script that has run as far as it runs before a measurement.
pub struct Script {
    main: LuaState,
    /// The threads, from which `done()` may get values.
    threads: Vec<LuaState>,
    /// The requests, in turn, or those of each thread after those of the thread before it.
    pub requests: Vec<Vec<u8>>,
    /// Which of the two.
    pub order: Order,
    /// How many requests are sent at once.
    pub at_once: usize,
    /// The wait between an answer and the next request.
    pub think: Think,
}

impl Script {
    /// Runs the script in the tool's own state, and finds the server's address there.
    pub fn begin(options: &Options, printed: &mut Printed) -> Result<Self, Printed> {
        let main = LuaState::new(options, printed)?;
        let url = &options.url;
        let resolved = main.of_wrk("resolve").and_then(|resolve| {
            resolve.call::<()>((url.host.as_str(), url.port.as_deref().unwrap_or(&url.scheme)))
        });
        main.checked(options, printed, resolved)?;
        let found = main.checked(options, printed, threads::addresses(&main.lua))?;
        if found.is_empty() {
            let why = main.heard.borrow_mut().connect.take();
            let why = why.unwrap_or_else(|| "Connection refused".to_owned());
            printed.err.push_str(&super::unable(url, &why));
            return Err(printed.clone().exit(1));
        }
        let (order, think) = (Order::InTurn, Think::None);
        Ok(Self { main, threads: Vec::new(), requests: Vec::new(), order, at_once: 1, think })
    }

    /// Runs the script in each thread's state, and finds out what the threads request. Returns the server's address.
    pub fn go_on(&mut self, options: &Options, printed: &mut Printed) -> Result<SocketAddr, Printed> {
        let kept = self.main.checked(options, printed, self.kept())?;
        let (mut address, mut lists) = (None, Vec::new());
        let has_script = options.script.is_some();
        for index in 0..if has_script { options.threads } else { 1 } {
            let state = LuaState::new(options, printed)?;
            let thread = Thread::of(&state.lua, &state.heard);
            self.set_up(&thread, &kept, options, printed)?;
            init(&state, thread.clone(), options, printed)?;
            if *address.get_or_insert(thread.address()) != thread.address() {
                return Err(refuse(options, refused::ADDRESS, ""));
            }
            if index == 0 {
                refuse_functions(&state, options)?;
                self.first(&state, options, printed)?;
            }
            lists.push(self.list(&state, &kept, options, printed)?);
            self.threads.push(state);
        }
        self.arrange(&lists, options, printed)?;
        let none = || printed.clone().exit(1);
        address.flatten().ok_or_else(none)
    }

    /// A table that has each thread which the script in the tool's own state has kept.
    fn kept(&self) -> mlua::Result<Table> {
        let (kept, weak) = (self.main.lua.create_table()?, self.main.lua.create_table()?);
        weak.set("__mode", "v")?;
        kept.set_metatable(Some(weak))?;
        Ok(kept)
    }

    fn set_up(
        &self,
        thread: &Thread,
        kept: &Table,
        options: &Options,
        printed: &mut Printed,
    ) -> Result<(), Printed> {
        let call = || {
            let thread = self.main.lua.create_userdata(thread.clone())?;
            kept.push(&thread)?;
            self.main.of_wrk("setup")?.call::<()>(thread)
        };
        self.main.checked(options, printed, call())
    }

    /// What wrk learns from its first thread: how many requests at once, and the wait.
    fn first(&mut self, state: &LuaState, options: &Options, printed: &mut Printed) -> Result<(), Printed> {
        // This request is not sent, in wrk either.
        let request = if state.has("request") {
            ahead::one_request(state, options, printed)?
        } else {
            fixed(state, options, printed)?
        };
        self.at_once = split(&request, printed)?.len();
        if self.at_once > 1 && options.is_wrk2 {
            return Err(refuse(options, refused::SEVERAL, ""));
        }
        if !options.is_wrk2 && state.has("delay") {
            self.think = ahead::delay(state, options, printed)?;
        }
        Ok(())
    }

    /// The requests of one thread.
    fn list(
        &self,
        state: &LuaState,
        kept: &Table,
        options: &Options,
        printed: &mut Printed,
    ) -> Result<ahead::Requests, Printed> {
        if !state.has("request") {
            return Ok(ahead::Requests { in_turn: vec![fixed(state, options, printed)?], is_cycle: true });
        }
        let before = threads::readable(&state.lua);
        let list = ahead::requests(state, options, printed)?;
        let after = threads::readable(&state.lua);
        let changed = before.keys().chain(after.keys()).find(|name| before.get(*name) != after.get(*name));
        if let Some(name) = changed.filter(|_| self.has_done() && self.keeps_threads(kept)) {
            let how = format!("done() could get `{name}` of a thread, which request() changes");
            return Err(refuse(options, refused::COUNTED, &how));
        }
        Ok(list)
    }

    /// Whether a thread can still be reached by the script in the tool's own state.
    fn keeps_threads(&self, kept: &Table) -> bool {
        // What has a finalizer goes in the second pass.
        let collected = self.main.lua.gc_collect().and_then(|()| self.main.lua.gc_collect());
        collected.is_err() || kept.pairs::<usize, AnyUserData>().next().is_some()
    }

    /// Makes one list of the requests of all threads.
    fn arrange(
        &mut self,
        lists: &[ahead::Requests],
        options: &Options,
        printed: &mut Printed,
    ) -> Result<(), Printed> {
        let endless = lists.iter().filter(|list| !list.is_cycle).map(|list| list.in_turn.len()).min();
        if let Some(length) = endless {
            printed.err.push_str(&format!(
                "drome: request() goes on without repeating itself; its first {length} results in each thread are sent in turn, over and over\n"
            ));
        }
        let is_one_list = lists.iter().all(|list| list.in_turn == lists[0].in_turn);
        let multiple = lists.iter().map(|list| list.in_turn.len()).reduce(least_common_multiple).unwrap_or(1);
        let length = if is_one_list { lists[0].in_turn.len() } else { endless.unwrap_or(multiple) };
        let count = if is_one_list { 1 } else { lists.len() };
        if length.saturating_mul(count) > MOST_REQUESTS {
            let how = "the threads' requests have cycles that are too long together";
            return Err(refuse(options, refused::CYCLES, how));
        }
        self.order = if is_one_list { Order::InTurn } else { Order::ByThread };
        for list in &lists[..count] {
            for request in list.in_turn.iter().cycle().take(length) {
                let pieces = split(request, printed)?;
                if pieces.len() != self.at_once {
                    return Err(refuse(options, refused::VARYING, ""));
                }
                self.requests.extend(pieces.into_iter().map(<[u8]>::to_vec));
            }
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

/// Runs `init()` in a thread's state.
fn init(state: &LuaState, thread: Thread, options: &Options, printed: &mut Printed) -> Result<(), Printed> {
    let call = || {
        let args = state.lua.create_table()?;
        for (at, operand) in options.operands.iter().enumerate() {
            args.set(at, operand.as_str())?;
        }
        state.lua.globals().get::<Table>("wrk")?.set("thread", thread)?;
        state.of_wrk("init")?.call::<()>(args)
    };
    state.checked(options, printed, call())?;
    let mut heard = state.heard.borrow_mut();
    (heard.clock, heard.act) = (None, None);
    Ok(())
}

/// Refuses a script for a function that it has.
fn refuse_functions(state: &LuaState, options: &Options) -> Result<(), Printed> {
    if state.has("response") { Err(refuse(options, refused::RESPONSE, "")) } else { Ok(()) }
}

/// The request of a script without `request()`.
fn fixed(state: &LuaState, options: &Options, printed: &mut Printed) -> Result<Vec<u8>, Printed> {
    let request = state.of_wrk("request").and_then(|request: Function| request.call::<mlua::String>(()));
    state.checked(options, printed, request.map(|text| text.as_bytes().to_vec()))
}

fn split<'r>(request: &'r [u8], printed: &mut Printed) -> Result<Vec<&'r [u8]>, Printed> {
    pieces::split(request).map_err(|NoRequest { what, line, column }| {
        printed.err.push_str(&format!("{what} at {line}:{column}\n"));
        printed.clone().exit(1)
    })
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}
