//! What a worker needs is refused to the first, the second or the last of three: its ring, its poll set, its thread, a local port, memory
//! in the middle of the load. The load falls back, or it ends at once with the cause; it never waits for the others, or they for it.

use super::faults::plain;
use super::*;
use crate::crew::{self, Chosen, SharedByThreads};
use crate::means::Means;
use crate::{Generator, LoadError};
use model::IoChoice;
use net::{BackEnd, Errno, Operation};
use std::io::Result as IoResult;
use std::slice::from_ref;
use std::thread::Builder;

const THREADS: usize = 3;

/// Longer than any test may take: only an early end passes.
const FOR_EVER: Duration = Duration::from_hours(24 * 365);

type Made = IoResult<Fake<'static>>;

fn works() -> Fake<'static> {
    Fake::new(REQUEST.len(), Box::new(plain(MS)))
}

/// Makes back ends for all workers but one, whose is as `other` says.
fn all_but(at: usize, other: fn() -> Made) -> impl Fn(usize, usize) -> Made + Clone + Send + Sync + 'static {
    move |index, _| if index == at { other() } else { Ok(works()) }
}

fn lacks_memory() -> Made {
    Err(Errno::NOMEM.into())
}

fn lacks_a_descriptor() -> Made {
    Err(Errno::MFILE.into())
}

fn panics() -> Made {
    panic!("a back end that can't be made panics in this test")
}

fn lacks_a_port() -> Fake<'static> {
    let refuse = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Failed(Operation::Local, Errno::ADDRNOTAVAIL))],
        Call::Send { .. } => vec![],
    };
    Fake::new(REQUEST.len(), Box::new(refuse))
}

fn breaks_later() -> Fake<'static> {
    let mut io = works();
    io.breaks_ns = fake::START + SECOND;
    io
}

fn panics_later() -> Fake<'static> {
    let mut sends = 0;
    let script = move |call| {
        sends += 1;
        assert!(sends < 100, "a worker panics in this test");
        plain(MS)(call)
    };
    Fake::new(REQUEST.len(), Box::new(script))
}

/// A thread whose stack has no room in the address space can't be started.
fn no_thread<const AT: usize>(index: usize) -> Builder {
    if index == AT { Builder::new().stack_size(1 << 60) } else { Builder::new() }
}

fn any_thread(_: usize) -> Builder {
    Builder::new()
}

fn plan_of(io: IoChoice, length: Duration) -> Plan {
    let load = Load::Closed { connections: THREADS, per_connection: None };
    Plan { io, threads: THREADS, probe: false, until: Until::Elapsed(length), ..plan(load, length) }
}

/// The back end to begin with where a ring can be had.
fn chosen(io: IoChoice) -> Chosen {
    (if io == IoChoice::Epoll { BackEnd::Epoll } else { BackEnd::Uring }, None)
}

type Measured = Result<(Vec<Tally>, Chosen), LoadError>;

/// Measures with these back ends, in a thread that may not take long.
fn measured(
    io: IoChoice,
    length: Duration,
    make: impl Fn(usize, usize) -> Made + Clone + Send + Sync + 'static,
    thread: fn(usize) -> Builder,
) -> Measured {
    let (to, ended) = channel();
    std::thread::spawn(move || {
        let (plan, progress) = (plan_of(io, length), Progress::default());
        let (plans, progress) = (from_ref(&plan), from_ref(&progress));
        let shared = SharedByThreads { plans, progress, tls: &[None], threads: THREADS };
        let (uring, epoll) = (make.clone(), make);
        let ended = if io == IoChoice::Best {
            let epoll = |_: usize, _: usize| IoResult::Ok(works());
            crew::measure(shared, chosen(io), &Means { uring, epoll, thread }, &())
        } else {
            crew::measure(shared, chosen(io), &Means { uring, epoll, thread }, &())
        };
        to.send(ended)
    });
    ended.recv_timeout(Duration::from_mins(1)).expect("the load ends at once")
}

/// The same with a load generator for two targets, up to the end of a slice.
fn started(
    io: IoChoice,
    make: impl Fn(usize, usize) -> Made + Clone + Send + Sync + 'static,
    thread: fn(usize) -> Builder,
) -> Result<(Option<String>, Vec<i32>), LoadError> {
    let (to, ended) = channel();
    std::thread::spawn(move || {
        let (plans, tls) = (vec![plan_of(io, FOR_EVER); 2], vec![None, None]);
        let (uring, epoll) = (make.clone(), make);
        let ended = if io == IoChoice::Best {
            let epoll = |_: usize, _: usize| IoResult::Ok(works());
            Generator::start_on(plans, tls, Arc::default(), chosen(io), &Means { uring, epoll, thread })
        } else {
            Generator::start_on(plans, tls, Arc::default(), chosen(io), &Means { uring, epoll, thread })
        };
        to.send(ended.and_then(|mut generator| {
            let tally = generator.slice(&SlicePlan::of(1))?;
            assert!(tally.tally.completed > 0, "{tally:?}");
            Ok((tally.tally.io_fallback.clone(), generator.threads()))
        }))
    });
    ended.recv_timeout(Duration::from_mins(1)).expect("the load generator ends at once")
}

#[test]
fn a_ring_that_only_some_workers_can_have_is_used_by_none() {
    for at in 0..THREADS {
        let make = all_but(at, lacks_memory);
        let (tallies, (io, why)) =
            measured(IoChoice::Best, Duration::from_secs(1), make.clone(), any_thread).unwrap();
        assert_eq!((tallies.len(), io.name()), (THREADS, "epoll"));
        assert!(tallies.iter().all(|tally| tally.completed > 100), "all workers measured");
        assert!(why.unwrap().contains("for each of 3 threads"));
        let (why, threads) = started(IoChoice::Best, make.clone(), any_thread).unwrap();
        assert!(why.unwrap().contains("2 targets and 3 threads"));
        // Only of threads that live is CPU time known.
        assert!(threads.len() == THREADS && threads.iter().all(|id| *id > 0), "{threads:?}");
        let by_name = [
            measured(IoChoice::Uring, FOR_EVER, make.clone(), any_thread).err(),
            started(IoChoice::Uring, make, any_thread).err(),
        ];
        for error in by_name {
            assert!(matches!(error, Some(LoadError::NoUring(_))), "{at}: {error:?}");
        }
    }
}

#[test]
fn what_is_refused_to_one_worker_before_the_load_ends_it_with_the_cause() {
    let threads = [no_thread::<0>, no_thread::<1>, no_thread::<2>];
    for (at, refuse) in (0..THREADS).zip(threads) {
        for (other, thread, cause) in [
            (
                lacks_a_descriptor as fn() -> Made,
                any_thread as fn(usize) -> Builder,
                "ran out of descriptors",
            ),
            (lacks_memory, any_thread, "ran out of memory"),
            (panics, any_thread, "a worker thread of the load engine died"),
            (|| Ok(works()), refuse, "can't start another thread"),
        ] {
            let make = all_but(at, other);
            let errors = [
                measured(IoChoice::Epoll, FOR_EVER, make.clone(), thread).err(),
                started(IoChoice::Epoll, make, thread).err(),
            ];
            for error in errors {
                let words = error.map_or(String::new(), |error| error.to_string());
                assert!(words.contains(cause), "{at}: {words:?} is not about {cause:?}");
            }
        }
    }
}

#[test]
fn a_worker_that_fails_later_ends_the_others() {
    for at in 0..THREADS {
        let broken = measured(IoChoice::Epoll, FOR_EVER, all_but(at, || Ok(breaks_later())), any_thread);
        assert!(matches!(broken, Err(LoadError::Io(_))), "{at}");
        let died = measured(IoChoice::Epoll, FOR_EVER, all_but(at, || Ok(panics_later())), any_thread);
        assert!(matches!(died, Err(LoadError::Worker)), "{at}");
        let (tallies, ..) =
            measured(IoChoice::Epoll, FOR_EVER, all_but(at, || Ok(lacks_a_port())), any_thread).unwrap();
        let why: Vec<&str> = tallies.iter().filter_map(|tally| tally.halted.as_deref()).collect();
        assert!(why.len() == 1 && why[0].contains("ran out of local ports"), "{at}: {why:?}");
    }
}
