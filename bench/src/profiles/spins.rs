//! A server that knows what its answers cost, as `spins.c` describes it; one thread for each connection. It is measured, and no part of
//! drome-bench: `rustc -O -g` compiles it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ROUNDS: u32 = 60_000;

/// CLOCK_THREAD_CPUTIME_ID of Linux.
const THREAD_CLOCK: i32 = 3;

static SINK: AtomicU64 = AtomicU64::new(1);
static ANSWERS: AtomicU64 = AtomicU64::new(0);
static CALLS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
static NS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

#[inline(always)]
fn busy_work(mut x: u64) {
    for _ in 0..ROUNDS {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    SINK.store(x, Relaxed);
}

#[inline(never)]
fn caller_a() {
    busy_work(SINK.load(Relaxed) | 1);
}

#[inline(never)]
fn caller_b() {
    busy_work(SINK.load(Relaxed) | 2);
}

fn clock_ns() -> u64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(THREAD_CLOCK, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

fn work() {
    let which = usize::from(ANSWERS.fetch_add(1, Relaxed) % 3 == 2);
    let begun = clock_ns();
    if which == 1 {
        caller_b();
    } else {
        caller_a();
    }
    NS[which].fetch_add(clock_ns() - begun, Relaxed);
    CALLS[which].fetch_add(1, Relaxed);
}

/// Answers a connection's requests. Each comes whole, because it is small.
fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    // Not on the stack, of which a sample has only the top.
    let mut data = vec![0; 65536];
    loop {
        let n = stream.read(&mut data)?;
        if n == 0 {
            return Ok(());
        }
        let body = if data[..n].starts_with(b"GET /truth ") {
            let [a, b] = [0, 1].map(|which| format!("{} {}", CALLS[which].load(Relaxed), NS[which].load(Relaxed)));
            format!("{a} {b}\n")
        } else {
            work();
            "Hello\n".to_owned()
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes())?;
    }
}

fn main() {
    let port = std::env::args_os().nth(1).and_then(|word| word.to_str()?.parse::<u16>().ok()).expect("the port");
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port to be free");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve(stream));
    }
}
