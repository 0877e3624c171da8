//! The simplest closed-loop HTTP client: it asks `epoll` for sockets with answers and never sleeps, and sends the next request on each
//! one at once. It assumes that every answer is as long as the first. It is the baseline for the rate of a server whose client adds no
//! delay.
//!
//! usage: `epoll_client PORT PATH CONNECTIONS SECONDS`; prints JSON with `requests` and `rate_per_s`

mod common;

use common::{Options, Result};
use net::Ports;
use net::socket::{self, Blocking};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::Timespec;
use std::net::SocketAddr;
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

fn connect(options: &Options) -> Result<Vec<OwnedFd>> {
    let to = SocketAddr::from(([127, 0, 0, 1], options.port));
    let ports = Ports::of(options.connections, 0, 1);
    let one = |slot| {
        let ports = ports.as_ref().map(|ports| ports.range(slot as u32));
        let socket = socket::unconnected(&to.into(), ports, Blocking::Yes)?;
        rustix::net::connect(&socket, &to)?;
        Ok(socket)
    };
    let all: std::io::Result<Vec<OwnedFd>> = (0..options.connections).map(one).collect();
    Ok(all.map_err(|e| format!("can't connect to port {} ({e}): is a server there?", options.port))?)
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
        let text = String::from_utf8_lossy(&memory[..filled]);
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        let mut fields = head.lines().filter_map(|line| line.split_once(':'));
        let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let (_, length) = length.ok_or("the first answer has no Content-Length")?;
        let whole = head.len() + 4 + length.trim().parse::<usize>()?;
        if filled >= whole {
            return Ok(whole);
        }
    }
}
