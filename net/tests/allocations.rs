//! The hot path does not allocate: a hundred thousand requests more cost no allocation more.

#![allow(
    clippy::unwrap_used,
    unsafe_code,
    reason = "a test may panic, and an allocator is unsafe by its nature"
)]

mod uring;

use load::{Generator, Progress, SlicePlan, run};
use model::{Ask, IoChoice, Load, Plan, Target, Until};
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Counts what all threads ask for, except those of the test's own server.
struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_SERVER: AtomicBool = const { AtomicBool::new(false) };
}

// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IS_SERVER.try_with(|is| is.load(Ordering::Relaxed)).unwrap_or(true) {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World\n";

/// Answers as many requests as it reads, on as many threads as there are connections.
fn serve(listener: &TcpListener) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        std::thread::spawn(move || {
            IS_SERVER.with(|is| is.store(true, Ordering::Relaxed));
            let mut buffer = vec![0; 65536];
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                let asked = buffer[..n].windows(4).filter(|w| w == b"\r\n\r\n").count();
                if stream.write_all(&ANSWER.repeat(asked)).is_err() {
                    return;
                }
            }
        });
    }
}

fn plan(io: IoChoice, pipeline: usize, until: Until, port: u16) -> Plan {
    let target = Target::resolve(&format!("http://127.0.0.1:{port}/")).unwrap();
    let ask = Ask::get(&target);
    let load = Load::Closed { connections: 8, per_connection: None };
    Plan { io, pipeline, ..Plan::new(target, ask, load, until) }
}

/// Allocations of one measurement of `requests`.
fn allocations(io: IoChoice, pipeline: usize, requests: u64, port: u16) -> u64 {
    let plan = plan(io, pipeline, Until::Answered(requests), port);
    let before = COUNT.load(Ordering::Relaxed);
    let tally = run(&plan, &Progress::default(), &()).unwrap();
    assert_eq!((tally.completed, tally.errors.total()), (requests, 0));
    COUNT.load(Ordering::Relaxed) - before
}

/// Allocations of so many slices by turns, on a generator that has had some before.
fn allocations_of_slices(generator: &mut Generator, slices: usize, ms: u64) -> u64 {
    let before = COUNT.load(Ordering::Relaxed);
    for nth in 0..slices {
        let slice = SlicePlan { length: Duration::from_millis(ms), ..SlicePlan::of(nth % 3) };
        let outcome = generator.slice(&slice).unwrap();
        assert!(outcome.tally.completed > 0 && outcome.tally.errors.total() == 0);
    }
    COUNT.load(Ordering::Relaxed) - before
}

/// A server in the background, on its port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        IS_SERVER.with(|is| is.store(true, Ordering::Relaxed));
        serve(&listener);
    });
    port
}

/// One after the other in one test: allocations of both would be counted together.
#[test]
fn a_request_costs_no_allocation() {
    let port = server();
    let usable = if uring::is_usable() { 2 } else { 1 };
    for io in [IoChoice::Epoll, IoChoice::Uring].into_iter().take(usable) {
        for pipeline in [1, 16] {
            allocations(io, pipeline, 1_000, port);
            let few = allocations(io, pipeline, 1_000, port);
            let many = allocations(io, pipeline, 101_000, port);
            // A thread's start is not to the allocation the same each time; a request would make 100,000.
            assert!(many <= few + 50, "{io:?}, {pipeline} at once: {few} for 1,000, {many} for 101,000");
        }
    }
    for (io, threads) in [(IoChoice::Epoll, 1), (IoChoice::Uring, 2)].into_iter().take(usable) {
        let plan = Plan { threads, ..plan(io, 1, Until::Answered(1), port) };
        let mut generator = Generator::start(vec![plan.clone(), plan.clone(), plan], Arc::default()).unwrap();
        allocations_of_slices(&mut generator, 6, 5);
        let short = allocations_of_slices(&mut generator, 15, 5);
        let long = allocations_of_slices(&mut generator, 15, 100);
        // Whoever orders a slice makes a few of them: names, and answers by status.
        assert!(short <= 15 * 8 && long <= 15 * 8, "{io:?}: {short} in short slices, {long} in long ones");
    }
}
