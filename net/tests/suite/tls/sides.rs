//! A client and a server in one thread, and what each has heard.

use crate::back_ends::{ANY, BackEnd};
use net::tls::{ClientTls, Tls};
use net::{Completion, Epoll, Event, Io, Operation, Slot, socket};
use rustls::ServerConfig;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(1);

/// One side, what it has received, and what else it was told.
pub struct Side<I> {
    pub io: I,
    pub received: HashMap<Slot, Vec<u8>>,
    pub told: Vec<Completion>,
}

impl<I: Io> Side<I> {
    pub fn new(io: I) -> Self {
        Self { io, received: HashMap::new(), told: Vec::new() }
    }

    pub fn listen(&mut self) -> SocketAddr {
        let listener = socket::listener(&ANY).unwrap();
        let address = socket::local_address(&listener).unwrap();
        self.io.listen(listener).unwrap();
        address
    }

    /// Takes what completes within a millisecond.
    pub fn turn(&mut self) {
        self.io.wait(Some(Duration::from_millis(1))).unwrap();
        while let Some(completion) = self.io.next() {
            match completion.event {
                Event::Received => {
                    assert!(!self.io.bytes().is_empty(), "nothing was received");
                    self.received.entry(completion.slot).or_default().extend_from_slice(self.io.bytes());
                }
                _ => self.told.push(completion),
            }
        }
    }

    /// Turns until this has come true.
    pub fn until(&mut self, what: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !what(self) {
            self.turn();
            assert!(Instant::now() < deadline, "it never came: told {:?}", self.told);
        }
    }

    /// Takes one completion after the other until this is the last one, and nothing that follows from it.
    pub fn until_next(&mut self, slot: Slot, event: Event) {
        while !self.was_told(slot, event) {
            self.io.wait(Some(PATIENCE)).unwrap();
            self.told.push(self.io.next().expect("nothing completed"));
        }
    }

    pub fn was_told(&self, slot: Slot, event: Event) -> bool {
        self.told.contains(&Completion { slot, event })
    }

    /// The slots of connections that were accepted, in order.
    pub fn accepted(&self) -> Vec<Slot> {
        self.told.iter().filter(|c| c.event == Event::Accepted).map(|c| c.slot).collect()
    }

    pub fn has(&self, slot: Slot) -> &[u8] {
        self.received.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// What failed on this slot.
    pub fn failure(&self, slot: Slot) -> Option<Operation> {
        self.told.iter().find_map(|completion| match completion.event {
            Event::Failed(operation, _) if completion.slot == slot => Some(operation),
            _ => None,
        })
    }

    pub fn reason(&self, slot: Slot) -> String {
        self.io.reason(slot).unwrap_or_default().to_owned()
    }
}

/// Both sides, and where the server listens.
pub struct Pair<C, S> {
    pub client: Side<C>,
    pub server: Side<S>,
    pub address: SocketAddr,
}

pub fn epoll() -> Epoll {
    Epoll::new().unwrap()
}

impl<I: BackEnd> Pair<Tls<I>, Tls<I>> {
    pub fn between(client: &ClientTls, server: &Arc<ServerConfig>) -> Self {
        Self::over(I::make(), client, I::make(), server)
    }
}

impl Pair<Tls<Epoll>, Tls<Epoll>> {
    pub fn new(client: &ClientTls, server: &Arc<ServerConfig>) -> Self {
        Self::over(epoll(), client, epoll(), server)
    }
}

impl<C: Io, S: Io> Pair<Tls<C>, Tls<S>> {
    pub fn over(below: C, client: &ClientTls, below_server: S, server: &Arc<ServerConfig>) -> Self {
        Pair::of(Tls::client(below, client.clone()), Tls::server(below_server, server.clone()))
    }

    /// The same with a connection on slot 0 of both sides, its handshake whole.
    pub fn connected(mut self) -> Self {
        self.secure(0);
        self
    }

    /// Opens a connection of the client.
    pub fn secure(&mut self, slot: Slot) {
        self.client.io.connect(slot, &net::Endpoint::from(self.address));
        self.until(|client, _| client.was_told(slot, Event::Secured));
        assert!(self.client.io.handshake(slot).is_some());
    }

    /// A handshake that must fail on the client's side: what it says.
    pub fn refused(&mut self) -> String {
        self.client.io.connect(0, &net::Endpoint::from(self.address));
        self.until(|client, _| client.failure(0).is_some());
        assert_eq!(self.client.failure(0), Some(Operation::Handshake));
        self.client.reason(0)
    }
}

impl<C: Io, S: Io> Pair<C, S> {
    pub fn of(client: C, server: S) -> Self {
        let (client, mut server) = (Side::new(client), Side::new(server));
        let address = server.listen();
        Self { client, server, address }
    }

    pub fn turn(&mut self) {
        self.client.turn();
        self.server.turn();
    }

    /// Turns until this has come true.
    pub fn until(&mut self, what: impl Fn(&Side<C>, &Side<S>) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !what(&self.client, &self.server) {
            self.turn();
            assert!(
                Instant::now() < deadline,
                "it never came: the client was told {:?}, the server {:?}",
                self.client.told,
                self.server.told
            );
        }
    }
}

/// Bytes in which a missing, doubled or moved piece shows.
pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
}
