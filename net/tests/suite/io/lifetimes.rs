//! What is closed is gone at once, and what is received is asked for as it is wanted.

use super::retiring::state;
use super::{BackEnd, PATIENCE, Side, connected};
use net::{Endpoint, Event, Slot};
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// A listener of the system's own, and where: it shows when a connection really ends.
pub fn plain_listener() -> (TcpListener, Endpoint) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address.into())
}

/// Reads to the end, which is an end or a reset, while the other side takes its turns.
fn ends<I: BackEnd>(stream: &mut TcpStream, client: &mut Side<I>) -> bool {
    stream.set_nonblocking(true).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let mut memory = vec![0; 1 << 20];
    while Instant::now() < deadline {
        client.turn();
        match stream.read(&mut memory) {
            Ok(0) => return true,
            Err(error) if error.kind() != ErrorKind::WouldBlock => return true,
            Ok(_) | Err(_) => {}
        }
    }
    false
}

pub fn a_connection_that_is_closed_while_it_waits_for_room_ends<I: BackEnd>() {
    let (listener, address) = plain_listener();
    let mut client = Side::<I>::new();
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    let (mut stream, _) = listener.accept().unwrap();
    assert!(!client.io.send(0, &vec![1; 30_000_000]), "no socket buffer holds 30 MB");
    client.turn();
    client.io.close(0);
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    client.turn();
    let state = state(stream.peer_addr().unwrap().port(), stream.local_addr().unwrap().port());
    assert_ne!(state.as_deref(), Some("01"), "the kernel still holds a connection that the client gave up");
    assert!(ends(&mut stream, &mut client), "the server still has a connection that the client gave up");
}

pub fn a_connection_that_takes_the_place_of_one_being_read_ends_when_it_is_closed<I: BackEnd>() {
    let (listener, address) = plain_listener();
    let mut client = Side::<I>::new();
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    let (first, _) = listener.accept().unwrap();
    // After a body that was dropped, receives are asked for one by one.
    client.io.skip(0, 4);
    std::io::Write::write_all(&mut &first, b"body").unwrap();
    until_skipped(&mut client, 4);
    std::io::Write::write_all(&mut &first, b"head").unwrap();
    let deadline = Instant::now() + PATIENCE;
    'received: loop {
        client.io.wait(Some(Duration::from_millis(5))).unwrap();
        while let Some(completion) = client.io.next() {
            if completion.event == Event::Received {
                client.io.close(0);
                client.io.connect(0, &address);
                break 'received;
            }
        }
        assert!(Instant::now() < deadline, "the head never came");
    }
    client.until(0, Event::Connected);
    client.received[0].clear();
    let (mut second, _) = listener.accept().unwrap();
    std::io::Write::write_all(&mut &second, b"once").unwrap();
    client.until_received(0, 4);
    client.turn();
    assert_eq!(client.received[0], b"once");
    client.io.close(0);
    assert!(ends(&mut second, &mut client), "something of it is still open");
}

pub fn a_connection_takes_a_port_of_its_own_range<I: BackEnd>() {
    let (listener, address) = plain_listener();
    let ports = net::Ports::of(20_000, 0, 1).unwrap();
    let mut client = Side::<I>::new();
    client.io.choose_ports(ports.clone());
    for slot in [0, 7, 63] {
        client.io.connect(slot, &address);
        client.until(slot, Event::Connected);
        let port = listener.accept().unwrap().1.port();
        // Linux 6.3 brought the option; an older kernel takes any port.
        assert!(ports.range(slot).contains(&port) || kernel() < (6, 3), "{port} for slot {slot}");
    }
}

fn kernel() -> (u32, u32) {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap(), numbers.next().unwrap())
}

fn until_skipped<I: BackEnd>(client: &mut Side<I>, bytes: u64) {
    let deadline = Instant::now() + PATIENCE;
    while client.skipped + (client.received[0].len() as u64) < bytes {
        client.turn();
        assert!(Instant::now() < deadline, "{} of {bytes}", client.skipped);
    }
}

pub fn a_body_that_is_looked_at_after_one_that_was_not_comes_in_large_pieces<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let body = vec![7; 200_000];
    let send = |server: &mut Side<I>| {
        server.io.send(0, &[9; 100]);
        server.io.send(0, &body);
    };
    let mut receive = |skips| {
        send(&mut server);
        pieces(&mut server, &mut client, skips)
    };
    // A machine that does something else meanwhile can make more pieces of it, but not each time.
    let mut all = Vec::new();
    while all.len() < 8 {
        let looked_at = receive(false);
        receive(true);
        let again = receive(false);
        if again <= 2 * looked_at + 2 {
            return;
        }
        all.push((looked_at, again));
    }
    panic!("pieces without and after a body that was dropped: {all:?}");
}

/// Receives one answer, head and body; with `skips`, drops its body. In how many pieces it came.
fn pieces<I: BackEnd>(server: &mut Side<I>, client: &mut Side<I>, skips: bool) -> usize {
    let (mut pieces, mut received, mut has_skipped) = (0, 0, false);
    let deadline = Instant::now() + PATIENCE;
    std::thread::sleep(Duration::from_millis(10)); // As much is there as the sockets hold.
    while received < 200_100 {
        server.turn();
        client.io.wait(Some(Duration::from_millis(1))).unwrap();
        while let Some(completion) = client.io.next() {
            match completion.event {
                Event::Received => {
                    pieces += 1;
                    received += client.io.bytes().len() as u64;
                    if skips && !has_skipped && received >= 100 {
                        has_skipped = true;
                        client.io.skip(0, 200_100 - received);
                    }
                }
                Event::Skipped(bytes) => received += bytes,
                other => panic!("{other:?}"),
            }
            // Less is there at once than at the start.
            std::thread::sleep(Duration::from_micros(200));
        }
        assert!(Instant::now() < deadline, "{received} bytes came");
    }
    assert_eq!(received, 200_100);
    pieces
}

/// Many connections, sockets that are full, a ring that is too small: everything that arrives is in order, belongs to
/// the connection on which it arrives, and is whole where the connection was not closed.
pub fn under_pressure_bytes_stay_in_order<I: BackEnd>() {
    const SLOTS: usize = 12;
    let (mut server, address) = Side::listening_on(I::make_small());
    let mut client = Side::on(I::make_small());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut sent = [0_usize; SLOTS];
    let mut life = [0_u8; SLOTS];
    (0..SLOTS).for_each(|slot| open(&mut client, &address, slot as Slot));
    for step in 0..4_000_u32 {
        let slot = random.below(SLOTS as u64) as usize;
        match random.below(40) {
            0 => {
                client.io.close(slot as Slot);
                client.seen.retain(|completion| completion.slot != slot as Slot);
                (sent[slot], life[slot]) = (0, life[slot].wrapping_add(1));
                open(&mut client, &address, slot as Slot);
            }
            1..=30 => {
                let most = if random.below(4) == 0 { 60_000 } else { 900 };
                let length = 1 + random.below(most) as usize;
                let bytes: Vec<u8> =
                    (sent[slot]..sent[slot] + length).map(|at| byte(slot, life[slot], at)).collect();
                client.io.send(slot as Slot, &bytes);
                sent[slot] += length;
            }
            31 => client.io.flush().unwrap(),
            32..=34 => {
                // What is sent between a turn's wait and its first completion must not overtake what is left of the last one's.
                client.io.wait(Some(Duration::ZERO)).unwrap();
                let bytes: Vec<u8> =
                    (sent[slot]..sent[slot] + 700).map(|at| byte(slot, life[slot], at)).collect();
                client.io.send(slot as Slot, &bytes);
                sent[slot] += bytes.len();
                client.take();
            }
            _ => {
                client.turn();
            }
        }
        let failed = client.seen.iter().find(|completion| matches!(completion.event, Event::Failed(..)));
        assert_eq!(failed, None);
        if step % 7 == 0 {
            server.turn();
            check(&mut server);
        }
    }
    let deadline = Instant::now() + PATIENCE;
    let whole = |server: &Side<I>| {
        (0..SLOTS).all(|slot| {
            let is_this = |received: &Vec<u8>| {
                received.len() == sent[slot] && received.get(..2) == Some(&[slot as u8, life[slot]])
            };
            sent[slot] == 0 || server.received.iter().any(is_this)
        })
    };
    while !whole(&server) {
        client.turn();
        // It has room for little at a time.
        (0..100).for_each(|_| drop(server.turn()));
        check(&mut server);
        let failed = client.seen.iter().find(|completion| matches!(completion.event, Event::Failed(..)));
        assert_eq!(failed, None);
        assert!(Instant::now() < deadline, "not all of it arrived");
    }
    server.received.iter().for_each(|received| right(received));
}

fn open<I: BackEnd>(client: &mut Side<I>, address: &Endpoint, slot: Slot) {
    client.io.connect(slot, address);
    client.until(slot, Event::Connected);
}

/// Every connection says first which it is; the rest follows from that and from its place.
fn byte(slot: usize, life: u8, at: usize) -> u8 {
    match at {
        0 => slot as u8,
        1 => life,
        _ => (at as u64).wrapping_mul(2_654_435_761).wrapping_add(slot as u64 * 77 + u64::from(life)) as u8,
    }
}

/// A connection that ended leaves its place, and what came of it is right.
fn check<I: BackEnd>(server: &mut Side<I>) {
    for completion in std::mem::take(&mut server.seen) {
        let slot = completion.slot as usize;
        match completion.event {
            Event::Ended | Event::Failed(..) if completion.slot != net::LISTENER => {
                server.io.close(completion.slot);
                right(&std::mem::take(&mut server.received[slot]));
            }
            _ => {}
        }
    }
}

fn right(received: &[u8]) {
    if let [slot, life, ..] = *received {
        let wrong = (0..received.len()).find(|at| received[*at] != byte(slot.into(), life, *at));
        assert_eq!(wrong, None, "of {} bytes of connection {slot}.{life}", received.len());
    }
}

/// Marsaglia's xorshift: the same course every time.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}
