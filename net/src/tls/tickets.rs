//! A client's memory of earlier sessions, which the next handshakes can resume.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The largest number of tickets that are kept. A TLS 1.3 ticket is good for one handshake. rustls's own memory keeps 8 for a server, so of
/// many connections that open at once most would need a full handshake; these are enough for as many connections.
const MOST_TICKETS: usize = 4096;

/// A memory for one server. Each worker has its own, so the lock is never contended.
#[derive(Debug, Default)]
pub struct Tickets(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    tls13: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _server: ServerName<'static>, group: NamedGroup) {
        self.lock().group = Some(group);
    }

    fn kx_hint(&self, _server: &ServerName<'_>) -> Option<NamedGroup> {
        self.lock().group
    }

    fn set_tls12_session(&self, _server: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.lock().tls12 = Some(session);
    }

    fn tls12_session(&self, _server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.lock().tls12.clone()
    }

    fn remove_tls12_session(&self, _server: &ServerName<'static>) {
        self.lock().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _server: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut remembered = self.lock();
        if remembered.tls13.len() == MOST_TICKETS {
            remembered.tls13.pop_front();
        }
        remembered.tls13.push_back(ticket);
    }

    /// Takes the newest ticket, which is good for the longest.
    fn take_tls13_ticket(&self, _server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.lock().tls13.pop_back()
    }
}
