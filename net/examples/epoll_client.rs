//! The simplest closed-loop HTTP client: it asks `epoll` for sockets with answers and never sleeps, and sends the next request on each
//! one at once. It assumes that every answer is as long as the first. It is the baseline for the rate of a server whose client adds no
//! delay.
//!
//! usage: `epoll_client PORT PATH CONNECTIONS SECONDS`; prints JSON with `requests` and `rate_per_s`

mod common;
#[path = "common/connected.rs"]
mod connected;

use common::{Options, Result};
use connected::{answer_bytes, connect};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::Timespec;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Instant;

/// Sockets that one wait may report.
const BATCH: usize = 256;

fn main() -> ExitCode {
    common::main("epoll_client", run)
}

fn run(options: &Options) -> Result<(usize, f64)> {
    let request = format!("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", options.path, options.port);
    let request = request.as_bytes();
    let sockets = connect(options)?;
    let mut memory = vec![0; 64 * 1024];
    let answer_bytes = first_answer(&sockets[0], request, &mut memory)?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (at, socket) in sockets.iter().enumerate() {
        epoll::add(&poll, socket, EventData::new_u64(at as u64), EventFlags::IN)?;
        ask(socket, request)?;
    }
    let mut received = vec![0; sockets.len()];
    let mut ready = Vec::with_capacity(BATCH);
    let (mut done, start) = (0, Instant::now());
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    while start.elapsed() < options.time {
        ready.clear();
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut ready), Some(&at_once)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &ready {
            let at = event.data.u64() as usize;
            let (n, _) = recv(&sockets[at], &mut memory[..], RecvFlags::empty())?;
            received[at] += if n > 0 { n } else { return Err("the server closed a connection".into()) };
            if received[at] >= answer_bytes {
                received[at] -= answer_bytes;
                done += 1;
                ask(&sockets[at], request)?;
            }
        }
    }
    Ok((done, done as f64 / start.elapsed().as_secs_f64()))
}

fn ask(socket: &OwnedFd, request: &[u8]) -> Result<()> {
    match send(socket, request, SendFlags::NOSIGNAL)? {
        n if n == request.len() => Ok(()),
        _ => Err("a request did not leave in one piece".into()),
    }
}

/// Sends one request, and returns the length of its answer, head and body, as the head says.
fn first_answer(socket: &OwnedFd, request: &[u8], memory: &mut [u8]) -> Result<usize> {
    ask(socket, request)?;
    let mut filled = 0;
    loop {
        let (n, _) = recv(socket, &mut memory[filled..], RecvFlags::empty())?;
        filled += if n > 0 { n } else { return Err("no whole first answer came".into()) };
        if let Some(whole) = answer_bytes(&memory[..filled])?.filter(|whole| filled >= *whole) {
            return Ok(whole);
        }
    }
}
