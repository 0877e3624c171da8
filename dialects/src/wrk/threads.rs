//! What scripts see of wrk's threads and addresses: `setup(thread)`, `wrk.thread`, `wrk.lookup()` and `wrk.connect()`.

use super::heard::Heard;
use super::refused;
use crate::number::strerror;
use mlua::{Error, Lua, MetaMethod, Table, UserData, UserDataMethods, UserDataRef, Value, WeakLua};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::rc::Rc;
use std::time::Duration;

/// The time after which an address counts as unreachable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How deep tables inside tables are copied. A table that contains itself has no end.
const DEPTH: usize = 100;

/// An address, as `wrk.lookup()` finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Addr(SocketAddr);

impl UserData for Addr {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, addr, ()| {
            Ok(format!("{}:{}", addr.0.ip(), addr.0.port()))
        });
    }
}

/// A thread, as a script sees it.
#[derive(Clone)]
pub struct Thread {
    state: WeakLua,
    heard: Rc<RefCell<Heard>>,
    address: Rc<Cell<Option<SocketAddr>>>,
}

impl Thread {
    /// The thread of this state.
    pub fn of(lua: &Lua, heard: &Rc<RefCell<Heard>>) -> Self {
        Self { state: lua.weak(), heard: Rc::clone(heard), address: Rc::default() }
    }

    /// The address to which it connects.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address.get()
    }

    fn stop(&self) -> mlua::Result<()> {
        // Before and after the measurement, there is nothing to stop.
        let mut heard = self.heard.borrow_mut();
        if !heard.is_asking {
            return Ok(());
        }
        heard.refused.get_or_insert((refused::STOP.to_owned(), String::new()));
        Err(Error::RuntimeError("thread:stop()".to_owned()))
    }
}

impl UserData for Thread {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, thread, name: mlua::String| {
            Ok(match &*name.as_bytes() {
                b"get" => Value::Function(lua.create_function(get)?),
                b"set" => Value::Function(lua.create_function(set)?),
                b"stop" => {
                    Value::Function(lua.create_function(|_, thread: UserDataRef<Self>| thread.stop())?)
                }
                b"addr" => match thread.address() {
                    Some(address) => Value::UserData(lua.create_userdata(Addr(address))?),
                    None => Value::Nil,
                },
                // wrk returns the name if it does not know it.
                _ => Value::String(name.clone()),
            })
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, thread, (name, value): (String, Value)| {
            if name != "addr" {
                let why = format!("cannot set '{}' on thread", value.type_name());
                return Err(Error::RuntimeError(why));
            }
            let address = value.as_userdata().and_then(|data| data.borrow::<Addr>().ok().map(|addr| addr.0));
            let wrong = || Error::RuntimeError("`addr' expected".to_owned());
            thread.address.set(Some(address.ok_or_else(wrong)?));
            Ok(())
        });
    }
}

fn get(lua: &Lua, (thread, name): (UserDataRef<Thread>, Value)) -> mlua::Result<Value> {
    let gone = || Error::RuntimeError("the thread has ended".to_owned());
    let state = thread.state.try_upgrade().ok_or_else(gone)?;
    copied(&state.globals().get(copied(&name, &state, 0)?)?, lua, 0)
}

fn set(_: &Lua, (thread, name, value): (UserDataRef<Thread>, Value, Value)) -> mlua::Result<()> {
    let gone = || Error::RuntimeError("the thread has ended".to_owned());
    let state = thread.state.try_upgrade().ok_or_else(gone)?;
    state.globals().set(copied(&name, &state, 0)?, copied(&value, &state, 0)?)
}

/// A copy of a value for another state: all but functions and the like.
fn copied(value: &Value, to: &Lua, depth: usize) -> mlua::Result<Value> {
    Ok(match value {
        Value::Nil => Value::Nil,
        Value::Boolean(truth) => Value::Boolean(*truth),
        Value::Integer(number) => Value::Integer(*number),
        Value::Number(number) => Value::Number(*number),
        Value::String(text) => Value::String(to.create_string(text.as_bytes())?),
        Value::Table(table) if depth < DEPTH => {
            let copy = to.create_table()?;
            for pair in table.pairs::<Value, Value>() {
                let (key, value) = pair?;
                copy.raw_set(copied(&key, to, depth + 1)?, copied(&value, to, depth + 1)?)?;
            }
            Value::Table(copy)
        }
        other => {
            return Err(Error::RuntimeError(format!("cannot transfer '{}' to thread", other.type_name())));
        }
    })
}

/// Adds the functions for addresses to the table for the prelude.
pub fn add(lua: &Lua, drome: &Table, heard: &Rc<RefCell<Heard>>) -> mlua::Result<()> {
    let looking = Rc::clone(heard);
    let lookup = move |lua: &Lua, (host, service): (String, String)| {
        let found = lookup(&host, &service).map_err(|why| {
            let mut heard = looking.borrow_mut();
            heard.err.push_str(&format!("unable to resolve {host}:{service} {why}\n"));
            heard.exit.get_or_insert(1);
            Error::RuntimeError("wrk.lookup".to_owned())
        })?;
        lua.create_sequence_from(found.into_iter().map(Addr))
    };
    drome.set("lookup", lua.create_function(lookup)?)?;
    let connecting = Rc::clone(heard);
    let connect = move |_: &Lua, addr: UserDataRef<Addr>| {
        let connected = TcpStream::connect_timeout(&addr.0, CONNECT_TIMEOUT);
        let is_there = connected.is_ok();
        connecting.borrow_mut().connect = connected.err().map(|why| strerror(&why));
        Ok(is_there)
    };
    drome.set("connect", lua.create_function(connect)?)
}

/// The addresses of a host and service.
fn lookup(host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
    let port = match service {
        "http" => Some(80),
        "https" => Some(443),
        number => number.parse::<u16>().ok(),
    };
    let port = port.ok_or("Servname not supported for ai_socktype")?;
    (host, port).to_socket_addrs().map(Iterator::collect).map_err(|why| strerror(&why))
}

/// The addresses in `wrk.addrs`.
pub fn addresses(lua: &Lua) -> mlua::Result<Vec<SocketAddr>> {
    let list = lua.globals().get::<Table>("wrk")?.get::<Vec<UserDataRef<Addr>>>("addrs")?;
    Ok(list.iter().map(|addr| addr.0).collect())
}

/// The globals of a state that another state could get, each as text.
pub fn readable(lua: &Lua) -> BTreeMap<String, String> {
    let globals = lua.globals();
    let standard: BTreeSet<&str> =
        "_G package string table math io os debug bit jit coroutine wrk".split(' ').collect();
    let mut known = BTreeMap::new();
    for (name, value) in globals.pairs::<Value, Value>().flatten() {
        let Ok(name) = name.to_string() else { continue };
        let mut text = String::new();
        if !standard.contains(name.as_str()) && !value.is_function() && describe(&value, &mut text, 0) {
            known.insert(name, text);
        }
    }
    known
}

/// Writes a value as text. Returns false if it is none that can be copied.
fn describe(value: &Value, text: &mut String, depth: usize) -> bool {
    match value {
        Value::Table(table) if depth < DEPTH && text.len() < 1 << 20 => {
            let mut rows = Vec::new();
            for (key, value) in table.pairs::<Value, Value>().flatten() {
                let mut row = String::new();
                if !describe(&key, &mut row, depth + 1) || !describe(&value, &mut row, depth + 1) {
                    return false;
                }
                rows.push(row);
            }
            rows.sort_unstable();
            text.push_str(&format!("{{{}}}", rows.join(",")));
            true
        }
        Value::String(string) => {
            text.push_str(&format!("{:?}", string.as_bytes()));
            true
        }
        Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => {
            text.push_str(&format!("{value:?};"));
            true
        }
        _ => false,
    }
}
