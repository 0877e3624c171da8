//! One short-lived port on the servers' machine, by which the network between the two machines is measured. A connection or datagram must
//! begin with a token, which is sent only over the link. The port closes by itself after some seconds.

mod measure;

pub use measure::measure;

use super::messages::{Datagrams, Opened};
use crate::locked;
use crate::machine::ports;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long the port is open at most.
const OPEN: Duration = Duration::from_secs(8);

/// How often it is checked whether the probe is over.
const LOOK: Duration = Duration::from_millis(20);

/// The maximum number of connections in the life of a probe.
const MOST_CONNECTIONS: usize = 16;

/// How long a flow lasts from either side.
const FLOW: Duration = Duration::from_millis(800);

/// The part of a flow at its beginning that does not count: TCP has not found its rate then.
const RAMP: Duration = Duration::from_millis(250);

/// The length of the token, in bytes.
const TOKEN: usize = 16;

/// The byte after the token that asks for echoes.
const ECHO: u8 = b'e';

/// The byte after the token that asks to take bytes, and to answer with their rate.
const TAKE: u8 = b't';

/// The byte after the token that asks to be sent bytes.
const GIVE: u8 = b'g';

/// The byte after the token of a datagram that is only counted: nothing comes back.
const COUNT: u8 = b'c';

/// The size of a read or write of a flow.
const CHUNK: usize = 64 << 10;

/// A port that is open.
pub struct Probe {
    port: u16,
    token: [u8; TOKEN],
    shared: Arc<Shared>,
}

struct Shared {
    is_over: AtomicBool,
    deadline: Instant,
    datagrams: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    came: u64,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

impl Probe {
    /// Opens a port of TCP and UDP on this address.
    pub fn open(host: Ipv4Addr) -> Result<Self, String> {
        let unable = |e: std::io::Error| {
            format!(
                "can't open a port on {host} to measure the network: {e}; is it an address of this machine? Name another one with --server-address"
            )
        };
        let (listener, datagrams) = bind(host).map_err(unable)?;
        let port = listener.local_addr().map_err(unable)?.port();
        listener.set_nonblocking(true).map_err(unable)?;
        datagrams.set_read_timeout(Some(LOOK)).map_err(unable)?;
        let mut token = [0; TOKEN];
        File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut token)).map_err(unable)?;
        let shared = Arc::new(Shared {
            is_over: AtomicBool::new(false),
            deadline: Instant::now() + OPEN,
            datagrams: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || accept(&listener, token, &of_thread));
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || answer(&datagrams, token, &of_thread));
        Ok(Self { port, token, shared })
    }

    /// What the other side must know.
    pub fn opened(&self) -> Opened {
        Opened { port: self.port, token: self.token }
    }

    /// The datagrams that came since the last time that this was called.
    pub fn datagrams(&self) -> Datagrams {
        let seen = std::mem::take(&mut *locked(&self.shared.datagrams));
        let took = seen.first.zip(seen.last).map(|(first, last)| last.duration_since(first));
        let took_ns = took.unwrap_or_default().as_nanos() as u64;
        let dropped = std::fs::read_to_string("/proc/net/udp").ok().map(|text| dropped(&text, self.port));
        Datagrams { came: seen.came, took_ns, dropped_ever: dropped }
    }
}

/// The datagrams that a socket of this port had no room for, by the text of `/proc/net/udp`: they came, and were not read soon enough.
fn dropped(text: &str, port: u16) -> u64 {
    let end = format!(":{port:04X}");
    let of_socket = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        words.next()?.ends_with(&end).then(|| words.last()?.parse::<u64>().ok())?
    };
    text.lines().filter_map(of_socket).sum()
}

/// The same port of TCP and of UDP.
fn bind(host: Ipv4Addr) -> std::io::Result<(TcpListener, UdpSocket)> {
    let mut last = None;
    for _ in 0..10 {
        let port = ports::free_port_of(&[host.into()])?;
        match TcpListener::bind((host, port)).and_then(|tcp| Ok((tcp, UdpSocket::bind((host, port))?))) {
            Ok(both) => return Ok(both),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| ErrorKind::AddrInUse.into()))
}

fn accept(listener: &TcpListener, token: [u8; TOKEN], shared: &Arc<Shared>) {
    let mut served = 0;
    while !shared.is_over() && served < MOST_CONNECTIONS {
        match listener.accept() {
            Ok((stream, _)) => {
                served += 1;
                let shared = Arc::clone(shared);
                std::thread::spawn(move || serve(stream, token, &shared));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(LOOK),
            Err(_) => return,
        }
    }
}

/// Serves one connection. A connection without the token is closed.
fn serve(mut stream: TcpStream, token: [u8; TOKEN], shared: &Shared) -> Option<()> {
    stream.set_nonblocking(false).ok()?;
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.set_write_timeout(Some(Duration::from_secs(2))).ok()?;
    let mut greeting = [0; TOKEN + 1];
    stream.read_exact(&mut greeting).ok()?;
    if greeting[..TOKEN] != token {
        return None;
    }
    match greeting[TOKEN] {
        ECHO => echo(&mut stream, shared),
        TAKE => {
            let rate = take(&mut stream, shared)?;
            stream.write_all(&rate.to_le_bytes()).ok()
        }
        GIVE => give(&mut stream),
        _ => None,
    }
}

fn echo(stream: &mut TcpStream, shared: &Shared) -> Option<()> {
    let mut bytes = [0; 256];
    while !shared.is_over() {
        let n = net::read_some(stream, &mut bytes).ok().filter(|n| *n > 0)?;
        stream.write_all(bytes.get(..n)?).ok()?;
    }
    None
}

/// Reads until the other side ends; returns the rate after the ramp, in bytes per second.
fn take(stream: &mut TcpStream, shared: &Shared) -> Option<u64> {
    let mut flow = Flow::begin();
    let mut bytes = vec![0; CHUNK];
    while !shared.is_over() {
        match net::read_some(stream, &mut bytes).ok()? {
            0 => return flow.rate(),
            n => flow.add(n),
        }
    }
    None
}

fn give(stream: &mut TcpStream) -> Option<()> {
    let (bytes, begun) = (vec![0; CHUNK], Instant::now());
    while begun.elapsed() < FLOW {
        stream.write_all(&bytes).ok()?;
    }
    Some(())
}

/// Counts datagrams, and sends back those that are to come back.
fn answer(socket: &UdpSocket, token: [u8; TOKEN], shared: &Shared) {
    let mut bytes = [0; 256];
    while !shared.is_over() {
        let Ok((n, from)) = socket.recv_from(&mut bytes) else { continue };
        let Some((own, rest)) = bytes[..n].split_at_checked(TOKEN) else { continue };
        if own != token {
            continue;
        }
        let now = Instant::now();
        {
            let mut seen = locked(&shared.datagrams);
            seen.came += 1;
            seen.first = seen.first.or(Some(now));
            seen.last = Some(now);
        }
        if rest.first() != Some(&COUNT) {
            let _ = socket.send_to(&bytes[..n], from);
        }
    }
}

/// The bytes of a flow over time.
struct Flow {
    begun: Instant,
    counted: u64,
    from: Option<Instant>,
    to: Option<Instant>,
}

impl Flow {
    fn begin() -> Self {
        Self { begun: Instant::now(), counted: 0, from: None, to: None }
    }

    fn add(&mut self, bytes: usize) {
        let now = Instant::now();
        if now.duration_since(self.begun) < RAMP {
            return;
        }
        // The bytes of the first counted read arrived before the time that counts began.
        if self.from.is_none() {
            self.from = Some(now);
        } else {
            self.counted += bytes as u64;
            self.to = Some(now);
        }
    }

    fn rate(&self) -> Option<u64> {
        let took = self.to?.duration_since(self.from?).as_secs_f64();
        (took > 0.0).then(|| (self.counted as f64 / took) as u64)
    }
}
