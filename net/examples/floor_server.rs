//! The least work that an HTTP server on one core can do, as a baseline for the reference server and as the server that all
//! clients are compared on: it counts blank lines and answers each with the same bytes.
//!
//! With `leave`, every answer says `Connection: close`, and the closing is left to the client.
//!
//! usage: `floor_server PORT [BODY_BYTES] [leave]`; serves until it is killed

use rustix::event::epoll;
use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, accept_with, bind, listen, recv, send,
    socket,
};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const DEFAULT_BODY_BYTES: usize = 12;

/// The most answers to pipelined requests that leave in one send.
const GATHERED: usize = 64;

/// The size of the table of connections, which is indexed by descriptor.
const CONNECTIONS: usize = 64 * 1024;

const BACKLOG: i32 = 4096;

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let port = args.first().and_then(|text| text.parse().ok());
    let body_bytes = args.get(1).map_or(Some(DEFAULT_BODY_BYTES), |text| text.parse().ok());
    let field = match args.get(2).map(String::as_str) {
        None => Some(""),
        Some("leave") => Some("Connection: close\r\n"),
        Some(_) => None,
    };
    let (Some(port), Some(body_bytes), Some(field)) = (port, body_bytes, field) else {
        eprintln!("usage: floor_server PORT [BODY_BYTES] [leave]");
        return ExitCode::from(2);
    };
    match serve(port, body_bytes, field) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("floor_server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(port: u16, body_bytes: usize, field: &str) -> Result<()> {
    let mut server = Server::new(port, body_bytes, field)?;
    let mut ready = Vec::with_capacity(512);
    loop {
        ready.clear();
        match epoll::wait(&server.poll, rustix::buffer::spare_capacity(&mut ready), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &ready {
            match event.data.u64() as usize {
                LISTENER => server.accept(),
                at => server.answer(at),
            }
        }
    }
}

const LISTENER: usize = usize::MAX;

struct Server {
    poll: OwnedFd,
    listener: OwnedFd,
    /// By the number of the descriptor.
    connections: Vec<Option<OwnedFd>>,
    received: Box<[u8]>,
    /// As many answers, one behind the other, as are ever sent at once.
    answers: Vec<u8>,
    answer_bytes: usize,
}

impl Server {
    fn new(port: u16, body_bytes: usize, field: &str) -> Result<Self> {
        let head = format!(
            "HTTP/1.1 200 OK\r\n{field}Content-Type: text/plain\r\nContent-Length: {body_bytes}\r\n\r\n"
        );
        let answer = [head.as_bytes(), &vec![b'x'; body_bytes]].concat();
        let listener = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        set_socket_reuseaddr(&listener, true)?;
        bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
            .map_err(|e| format!("can't listen on port {port} ({e}): is another server there?"))?;
        listen(&listener, BACKLOG)?;
        rustix::io::ioctl_fionbio(&listener, true)?;
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&poll, &listener, epoll::EventData::new_u64(LISTENER as u64), epoll::EventFlags::IN)?;
        Ok(Self {
            poll,
            listener,
            connections: (0..CONNECTIONS).map(|_| None).collect(),
            received: vec![0; 64 * 1024].into_boxed_slice(),
            answer_bytes: answer.len(),
            answers: answer.repeat(GATHERED),
        })
    }

    fn accept(&mut self) {
        // Only the listener does not block, so a send to a connection takes all that it is given. Receiving never waits, because it is tried
        // only when epoll has announced data.
        while let Ok(socket) = accept_with(&self.listener, SocketFlags::CLOEXEC) {
            let at = socket.as_raw_fd() as usize;
            let data = epoll::EventData::new_u64(at as u64);
            let added = epoll::add(&self.poll, &socket, data, epoll::EventFlags::IN);
            if let (Some(place), Ok(()), Ok(())) =
                (self.connections.get_mut(at), set_tcp_nodelay(&socket, true), added)
            {
                *place = Some(socket);
            }
        }
    }

    #[inline]
    fn answer(&mut self, at: usize) {
        let Some(Some(socket)) = self.connections.get(at) else {
            return;
        };
        let asked = match recv(socket, &mut *self.received, RecvFlags::empty()) {
            Ok((bytes, _)) if bytes > 0 => blank_lines(&self.received[..bytes]),
            _ => return self.connections[at] = None,
        };
        if send_answers(socket, asked, &self.answers, self.answer_bytes).is_err() {
            self.connections[at] = None;
        }
    }
}

#[inline]
fn send_answers(
    socket: &OwnedFd,
    mut asked: usize,
    answers: &[u8],
    answer_bytes: usize,
) -> rustix::io::Result<()> {
    while asked > 0 {
        let gathered = asked.min(GATHERED);
        let mut left = &answers[..gathered * answer_bytes];
        while !left.is_empty() {
            left = &left[send(socket, left, SendFlags::NOSIGNAL)?..];
        }
        asked -= gathered;
    }
    Ok(())
}

/// How many requests end in these bytes. One that comes in pieces is lost with its blank line cut in two, which
/// no client here does.
#[inline]
#[allow(unsafe_code)]
fn blank_lines(mut bytes: &[u8]) -> usize {
    let mut found = 0;
    loop {
        // SAFETY: both are valid for the lengths that are given.
        let at = unsafe {
            libc::memmem(bytes.as_ptr().cast(), bytes.len(), b"\r\n\r\n".as_ptr().cast(), 4).cast::<u8>()
        };
        if at.is_null() {
            return found;
        }
        found += 1;
        bytes = &bytes[at as usize - bytes.as_ptr() as usize + 4..];
    }
}
