//! The side that obeys: prepares contenders on this machine, and starts, watches and stops their servers, as drome on another machine asks.

mod contenders;
mod running;
mod watching;

use super::host;
use super::messages::{ContenderResult, Number};
use super::probe::Probe;
use crate::fault::Fault;
use agent::{Call, Handler};
use contenders::Contenders;
use running::Running;
use serde::Serialize;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use watching::Watching;

/// The servers on this machine that drome on another machine asks for.
#[derive(Default)]
pub struct Servers {
    numbers: Numbers,
    contenders: Contenders,
    running: Running,
    watching: Watching,
    probe: Mutex<Option<Probe>>,
}

/// Numbers that are never given twice.
#[derive(Debug, Default)]
struct Numbers(AtomicU64);

impl Numbers {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl Handler for Servers {
    fn answer(&self, call: &Call<'_>) -> Option<Result<Value, String>> {
        let request = call.name().strip_prefix("servers.")?;
        let Self { numbers, contenders, running, watching, .. } = self;
        Some(match request {
            "machine" => json(host::machine()),
            "write_sources" => question(call)
                .and_then(|q| json(contenders.write_sources(&q, call.blob(q.blob), numbers.next())?)),
            "bodies" => question(call).and_then(|q| json(contenders.make_bodies(&q)?)),
            "install" => question(call).and_then(|q| json(contenders.install(&q, call)?)),
            "start" => question(call).and_then(|q| {
                let (prepared, assets) = contenders.to_start(&q)?;
                json(contender_result(running.start(&q, &prepared, assets, numbers.next(), call.stop()))?)
            }),
            "prepare" => {
                question(call).and_then(|q| json(contender_result(running::prepare(&q, call.stop()))?))
            }
            "ended" => question(call).and_then(|Number { id }| json(running.ended(id)?)),
            "answers" => question(call).and_then(|q| json(running.answers(&q)?)),
            "ask_to_stop" => question(call).and_then(|Number { id }| json(running.ask_to_stop(id)?)),
            "stop" => question(call).and_then(|Number { id }| json(running.stop(id))),
            "snapshot" => {
                question(call).and_then(|Number { id }| json(watching::snapshot(&running.tree(id)?)))
            }
            "clocks" => question(call).and_then(|Number { id }| json(watching::clocks(&running.tree(id)?))),
            "names" => question(call).and_then(|Number { id }| json(watching::names(&running.tree(id)?))),
            "watch" => {
                question(call).and_then(|q| json(watching.begin_cpu_sampler(&q, running, numbers.next())?))
            }
            "look" => question(call).and_then(|Number { id }| json(watching.cpu_usage(id)?)),
            "sample" => {
                question(call).and_then(|q| json(watching.begin_sample(&q, running, numbers.next())?))
            }
            "sample_opened" => question(call).and_then(|Number { id }| {
                let _: () = watching.opened(id);
                json(())
            }),
            "sample_closed" => question(call).and_then(|Number { id }| {
                let _: () = watching.closed(id);
                json(())
            }),
            "sample_end" => question(call).and_then(|Number { id }| json(watching.end_sample(id))),
            "conditions" => json(watching.begin_conditions(numbers.next())),
            "conditions_end" => question(call).and_then(|Number { id }| json(watching.end_conditions(id))),
            "probe_open" => question(call).and_then(|host| {
                let probe = Probe::open(host)?;
                let opened = probe.opened();
                // If there was a probe before, replacing it closes it.
                *self.probe() = Some(probe);
                json(opened)
            }),
            "probe_datagrams" => json(self.probe().as_ref().map(Probe::datagrams).unwrap_or_default()),
            "probe_close" => {
                *self.probe() = None;
                json(())
            }
            _ => return None,
        })
    }

    fn end(&self) {
        *self.probe() = None;
        self.running.end();
    }
}

impl Servers {
    fn probe(&self) -> MutexGuard<'_, Option<Probe>> {
        locked(&self.probe)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn question<Q: serde::de::DeserializeOwned>(call: &Call<'_>) -> Result<Q, String> {
    call.question()
}

fn json(answer: impl Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|error| error.to_string())
}

/// Returns a contender's fault as an answer, and the lab's own as an error.
fn contender_result<T>(result: Result<T, Fault>) -> Result<ContenderResult<T>, String> {
    match result {
        Ok(value) => Ok(ContenderResult::Well(value)),
        Err(Fault::Contender(why)) => Ok(ContenderResult::Failed(why)),
        Err(Fault::Lab(why)) => Err(why),
    }
}

fn no_number(what: &str, id: u64) -> String {
    format!("there is no {what} {id}: the agent was started anew")
}

/// A name that can be a file's, and leads nowhere else.
fn file_name(name: &str) -> Result<&str, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    if !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(is_plain) {
        Ok(name)
    } else {
        Err(format!("`{}` can't be the name of a file", name.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_leads_nowhere() {
        for name in ["1-2-nginx@tuned-0.log", "a"] {
            assert_eq!(file_name(name), Ok(name));
        }
        let long = "a".repeat(201);
        for name in ["", ".", "..", "a/b", "/etc/passwd", "a\0", "ä", "a b", &long] {
            assert!(file_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_contenders_fault_is_an_answer_and_the_labs_own_an_error() {
        assert!(matches!(contender_result(Ok(1)), Ok(ContenderResult::Well(1))));
        let failed = contender_result::<()>(Err(Fault::Contender("x".to_owned())));
        assert!(matches!(failed, Ok(ContenderResult::Failed(why)) if why == "x"));
        let own = contender_result::<()>(Err(Fault::Lab("full".to_owned())));
        assert!(matches!(own, Err(why) if why == "full"));
    }
}
