//! Measures the network from the side with the load generator, within four seconds: round trips, what TCP carries, packets a second, loss.

use super::{CHUNK, COUNT, ECHO, FLOW, Flow, GIVE, TAKE, TOKEN};
use crate::fault::Fault;
use crate::remote::RemoteMachine;
use crate::remote::messages::{Datagrams, Opened, RemoteRequest};
use crate::remote::remote_server::cut_off;
use model::Network;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, SocketAddrV4, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// How long a connection may take. Behind a firewall that drops packets, the attempt would not end.
const REACH: Duration = Duration::from_secs(3);

/// How long round trips are measured.
const ROUND_TRIPS: Duration = Duration::from_millis(350);

/// The maximum number of round trips.
const MOST_ROUND_TRIPS: usize = 500;

/// With fewer round trips there is no 99th percentile.
const FOR_P99: usize = 100;

/// The bytes of an echo.
const ECHO_BYTES: usize = 32;

/// How long as many datagrams as possible are sent.
const BURST: Duration = Duration::from_millis(250);

/// How long datagrams are sent at a rate so low that it causes no loss by itself.
const PACED: Duration = Duration::from_secs(1);

/// The maximum of that rate, in datagrams a second.
const MOST_PACED_PER_S: f64 = 20_000.0;

/// The number of datagrams that are sent together at that rate.
const AT_ONCE: u64 = 4;

/// How long the last datagrams may be under way, beside the round trips of the network.
const DRAIN: Duration = Duration::from_millis(200);

/// The size of a datagram.
const DATAGRAM_BYTES: usize = 64;

/// If fewer than this share of the datagrams of a burst arrive, that is the network's limit and not the sender's.
const ARRIVED: f64 = 0.95;

/// Opens the probe there, measures, and closes it.
pub fn measure(there: &RemoteMachine) -> Result<Network, Fault> {
    let Opened { port, token } = there.ask(&RemoteRequest::OpenProbe(there.host()))?;
    let at = SocketAddr::V4(SocketAddrV4::new(there.host(), port));
    let found = all(there, at, token);
    let _: Result<(), Fault> = there.ask(&RemoteRequest::CloseProbe);
    found
}

fn all(there: &RemoteMachine, at: SocketAddr, token: [u8; TOKEN]) -> Result<Network, Fault> {
    let unreached = |e: std::io::Error| Fault::Lab(cut_off(there, at, &e.to_string()));
    let mut round_trips = round_trips(at, token).map_err(unreached)?;
    round_trips.sort_unstable();
    let n = round_trips.len();
    let drain = DRAIN + 2 * Duration::from_nanos(round_trips.get(n / 2).copied().unwrap_or(0));
    let (sent, burst) = burst(there, at, token, drain)?;
    let per_s = packets_per_s(sent, burst);
    let paced_per_s =
        per_s.map_or(MOST_PACED_PER_S, |per_s| (per_s as f64 / 5.0).clamp(100.0, MOST_PACED_PER_S));
    let [to, from] = losses(there, at, token, paced_per_s, drain)?;
    Ok(Network {
        round_trip_ns: round_trips.get(n / 2).copied(),
        round_trip_p99_ns: round_trips.get(n * 99 / 100).copied().filter(|_| n >= FOR_P99),
        lost_to_servers_ppm: to,
        lost_from_servers_ppm: from,
        tcp_to_servers_bytes_per_s: to_servers(at, token).ok().flatten(),
        tcp_from_servers_bytes_per_s: from_servers(at, token).ok().flatten(),
        packets_per_s: per_s,
    })
}

/// Opens a connection and sends the token, and the byte that says what the connection is for.
fn connected(at: SocketAddr, token: [u8; TOKEN], what: u8) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&at, REACH)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(REACH))?;
    stream.set_write_timeout(Some(REACH))?;
    stream.write_all(&token)?;
    stream.write_all(&[what])?;
    Ok(stream)
}

/// Round trips over TCP, in ns.
fn round_trips(at: SocketAddr, token: [u8; TOKEN]) -> std::io::Result<Vec<u64>> {
    let mut stream = connected(at, token, ECHO)?;
    let (begun, mut all) = (Instant::now(), Vec::new());
    let mut bytes = [0; ECHO_BYTES];
    while all.len() < MOST_ROUND_TRIPS && (begun.elapsed() < ROUND_TRIPS || all.is_empty()) {
        let sent = Instant::now();
        stream.write_all(&bytes)?;
        stream.read_exact(&mut bytes)?;
        all.push(sent.elapsed().as_nanos() as u64);
    }
    // The first one waits until the other side has a thread for the connection.
    if all.len() > 1 {
        all.remove(0);
    }
    Ok(all)
}

/// What TCP carries to the servers, in bytes per second, as it arrives there.
fn to_servers(at: SocketAddr, token: [u8; TOKEN]) -> std::io::Result<Option<u64>> {
    let mut stream = connected(at, token, TAKE)?;
    let (bytes, begun) = (vec![0; CHUNK], Instant::now());
    while begun.elapsed() < FLOW {
        stream.write_all(&bytes)?;
    }
    stream.shutdown(Shutdown::Write)?;
    let mut rate = [0; 8];
    stream.read_exact(&mut rate)?;
    Ok(Some(u64::from_le_bytes(rate)).filter(|rate| *rate > 0))
}

/// What TCP carries from the servers, in bytes per second.
fn from_servers(at: SocketAddr, token: [u8; TOKEN]) -> std::io::Result<Option<u64>> {
    let mut stream = connected(at, token, GIVE)?;
    let (mut flow, mut bytes) = (Flow::begin(), vec![0; CHUNK]);
    loop {
        match net::read_some(&mut stream, &mut bytes)? {
            0 => return Ok(flow.rate()),
            n => flow.add(n),
        }
    }
}

/// A socket for datagrams to there.
fn datagrams(at: SocketAddr) -> Result<UdpSocket, Fault> {
    let unable = |e: std::io::Error| Fault::unable("can't send datagrams", &e);
    let socket = UdpSocket::bind(("0.0.0.0", 0)).map_err(unable)?;
    socket.connect(at).map_err(unable)?;
    socket.set_nonblocking(true).map_err(unable)?;
    Ok(socket)
}

fn datagram(token: [u8; TOKEN], what: u8) -> [u8; DATAGRAM_BYTES] {
    let mut bytes = [0; DATAGRAM_BYTES];
    bytes[..TOKEN].copy_from_slice(&token);
    bytes[TOKEN] = what;
    bytes
}

/// Sends as many datagrams as possible; returns how many were sent, and what arrived.
fn burst(
    there: &RemoteMachine,
    at: SocketAddr,
    token: [u8; TOKEN],
    drain: Duration,
) -> Result<(u64, Datagrams), Fault> {
    let (socket, bytes) = (datagrams(at)?, datagram(token, COUNT));
    let before: Datagrams = there.ask(&RemoteRequest::Datagrams)?;
    let (begun, mut sent) = (Instant::now(), 0);
    while begun.elapsed() < BURST {
        // If a queue of this machine is full, it takes no datagram: then the network is slower than the sender.
        sent += u64::from(socket.send(&bytes).is_ok());
    }
    std::thread::sleep(drain);
    let after: Datagrams = there.ask(&RemoteRequest::Datagrams)?;
    Ok((sent, after.since(&before)))
}

/// The packets a second that arrive where more are sent; `None` where all that were sent arrived at the sender's own pace.
fn packets_per_s(sent: u64, burst: Datagrams) -> Option<u64> {
    // The other side was slower than the network, or may have been.
    if burst.dropped_ever != Some(0) {
        return None;
    }
    let sent_per_s = sent as f64 / BURST.as_secs_f64();
    let took_s = burst.took_ns as f64 / 1e9;
    let came_per_s = (burst.came > 1 && took_s > 0.0).then(|| (burst.came - 1) as f64 / took_s)?;
    (came_per_s < ARRIVED * sent_per_s).then_some(came_per_s as u64)
}

/// The shares of datagrams that are lost on the way there and on the way back, in millionths. Answers are waited for as long as `drain`
/// after the last datagram.
fn losses(
    there: &RemoteMachine,
    at: SocketAddr,
    token: [u8; TOKEN],
    per_s: f64,
    drain: Duration,
) -> Result<[Option<u64>; 2], Fault> {
    let (socket, bytes) = (datagrams(at)?, datagram(token, 0));
    let before: Datagrams = there.ask(&RemoteRequest::Datagrams)?;
    let (begun, mut sent, mut back) = (Instant::now(), 0_u64, 0_u64);
    let mut answer = [0; DATAGRAM_BYTES];
    let mut take = |back: &mut u64| {
        while socket.recv(&mut answer).is_ok_and(|n| n == DATAGRAM_BYTES && answer[..TOKEN] == token) {
            *back += 1;
        }
    };
    while begun.elapsed() < PACED {
        let due = (begun.elapsed().as_secs_f64() * per_s) as u64;
        if sent + AT_ONCE <= due {
            for _ in 0..AT_ONCE {
                sent += u64::from(socket.send(&bytes).is_ok());
            }
        } else {
            std::thread::sleep(Duration::from_micros(100));
        }
        take(&mut back);
    }
    let ended = Instant::now();
    while back < sent && ended.elapsed() < drain {
        take(&mut back);
        std::thread::sleep(Duration::from_millis(1));
    }
    let after: Datagrams = there.ask(&RemoteRequest::Datagrams)?;
    let came = after.since(&before);
    Ok([lost_ppm(sent, came.came + came.dropped_ever.unwrap_or(0)), lost_ppm(came.came, back)])
}

fn lost_ppm(sent: u64, came: u64) -> Option<u64> {
    (sent.saturating_sub(came.min(sent)) * 1_000_000).checked_div(sent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::probe::{Probe, dropped};
    use std::net::Ipv4Addr;

    #[test]
    fn a_rate_of_packets_is_a_limit_only_where_more_were_sent() {
        let came = |came| Datagrams { came, took_ns: 250_000_000, dropped_ever: Some(0) };
        assert_eq!(
            packets_per_s(100_001, Datagrams { dropped_ever: Some(1), ..came(25_001) }),
            None,
            "a slow reader"
        );
        assert_eq!(packets_per_s(100_001, came(25_001)), Some(100_000));
        assert_eq!(packets_per_s(100_000, came(99_000)), None);
        assert_eq!(packets_per_s(100_000, Datagrams::default()), None);
        assert_eq!((lost_ppm(1000, 990), lost_ppm(10, 11), lost_ppm(0, 0)), (Some(10_000), Some(0), None));
    }

    #[test]
    fn datagrams_that_the_socket_had_no_room_for_are_found_by_the_port() {
        let text = "  sl  local_address rem_address   st drops\n 1: 0100007F:1F90 00000000:0000 07 12\n 2: 0100007F:1F91 00000000:0000 07 5\n";
        assert_eq!((dropped(text, 8080), dropped(text, 80), dropped("", 80)), (12, 0, 0));
    }

    #[test]
    fn the_probe_measures_for_who_knows_the_token_and_nobody_else() {
        let probe = Probe::open(Ipv4Addr::LOCALHOST).unwrap();
        let Opened { port, token } = probe.opened();
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        assert!(!round_trips(at, token).unwrap().is_empty());
        assert!(round_trips(at, [0; TOKEN]).is_err());
        assert!(to_servers(at, token).unwrap().is_some_and(|rate| rate > 0));
        assert!(from_servers(at, token).unwrap().is_some_and(|rate| rate > 0));
        let socket = datagrams(at).unwrap();
        for token in [token, [0; TOKEN]] {
            socket.send(&datagram(token, COUNT)).unwrap();
        }
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(probe.datagrams().came, 1);
        drop(probe);
        std::thread::sleep(Duration::from_millis(200));
        assert!(TcpStream::connect(at).is_err(), "the port is closed");
    }
}
