//! The least work with which a client can open a connection for every request, as a baseline for the load engine. Socket, connect,
//! send and receive are one chain of `io_uring` entries on a direct descriptor, each answer is one completion, and nothing is
//! parsed: whatever the server sends before it closes the connection counts as an answer.
//!
//! usage: `floor_connector PORT PATH CONNECTIONS SECONDS`; prints JSON with `requests` and `rate_per_s`

mod common;

use common::{Options, Result};
use io_uring::types::{DestinationSlot, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use net::Endpoint;
use net::socket::Peer;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// An answer, head and body, must fit.
const ANSWER_BYTES: usize = 1024;

/// The user data of entries that have a completion only if they fail.
const SILENT: u64 = u64::MAX;

/// The longest time to wait for completions, so that the client ends in time even if the server sends nothing.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    common::main("floor_connector", run)
}

fn run(options: &Options) -> Result<(usize, f64)> {
    let entries = (8 * options.connections).next_power_of_two() as u32;
    let ring =
        IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries).map_err(|e| {
            format!("can't set up io_uring with the features of Linux 6.1 ({e}): is the kernel older, or is io_uring forbidden here?")
        })?;
    ring.submitter().register_files_sparse(options.connections as u32)?;
    let to = SocketAddr::from(([127, 0, 0, 1], options.port));
    let mut client = Client {
        ring,
        peer: Peer::of(&Endpoint::from(to))?,
        request: format!(
            "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
            options.path, options.port
        ),
        memory: vec![[0; ANSWER_BYTES]; options.connections],
        answered: Vec::with_capacity(options.connections),
    };
    client.run(options.time)
}

struct Client {
    ring: IoUring,
    peer: Peer,
    request: String,
    memory: Vec<[u8; ANSWER_BYTES]>,
    /// Connections that have an answer now.
    answered: Vec<u32>,
}

impl Client {
    fn run(&mut self, time: Duration) -> Result<(usize, f64)> {
        let wait = Timespec::from(LONGEST_WAIT);
        let args = SubmitArgs::new().timespec(&wait);
        (0..self.memory.len()).try_for_each(|slot| self.ask(slot as u32))?;
        let (start, mut elapsed, mut done) = (Instant::now(), Duration::ZERO, 0);
        while elapsed < time {
            match self.ring.submitter().submit_with_args(1, &args) {
                Err(e) if !matches!(e.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => {
                    return Err(e.into());
                }
                _ => {}
            }
            self.take()?;
            done += self.answered.len();
            while let Some(slot) = self.answered.pop() {
                self.push(&silent(opcode::Close::new(Fixed(slot)).build()))?;
                self.ask(slot)?;
            }
            elapsed = start.elapsed();
        }
        Ok((done, done as f64 / elapsed.as_secs_f64()))
    }

    fn take(&mut self) -> Result<()> {
        for entry in self.ring.completion() {
            match (entry.user_data(), entry.result()) {
                (SILENT, error) => return Err(format!("can't ask (error {})", -error).into()),
                (slot, 1..) => self.answered.push(slot as u32),
                (_, 0) => return Err("the server closed a connection without an answer".into()),
                (_, error) => return Err(format!("can't receive (error {})", -error).into()),
            }
        }
        Ok(())
    }

    /// Opens a connection, sends a request on it, and receives until the server closes it.
    fn ask(&mut self, slot: u32) -> Result<()> {
        let place = DestinationSlot::try_from_slot_target(slot).map_err(|_| "too many connections")?;
        let (request, length) = (self.request.as_ptr(), self.request.len() as u32);
        let memory = self.memory[slot as usize].as_mut_ptr();
        let socket = opcode::Socket::new(libc::AF_INET, libc::SOCK_STREAM, 0).file_index(Some(place));
        let connect = opcode::Connect::new(Fixed(slot), self.peer.as_ptr(), self.peer.length());
        let send = opcode::Send::new(Fixed(slot), request, length).flags(libc::MSG_NOSIGNAL);
        for entry in [socket.build(), connect.build(), send.build()] {
            self.push(&silent(entry).flags(squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS))?;
        }
        let receive = opcode::Recv::new(Fixed(slot), memory, ANSWER_BYTES as u32).flags(libc::MSG_WAITALL);
        self.push(&receive.build().user_data(u64::from(slot)))
    }

    #[allow(unsafe_code)]
    fn push(&mut self, entry: &squeue::Entry) -> Result<()> {
        // SAFETY: what an entry points to is the peer, the request and a connection's own memory, none of which moves; that
        // memory is read by nobody, and written for one receive at a time.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }
}

fn silent(entry: squeue::Entry) -> squeue::Entry {
    entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(SILENT)
}
