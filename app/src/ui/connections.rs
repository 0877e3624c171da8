//! Connections of browsers. However many peers there are and however slow, their number is bounded, and so is the time for
//! which one that says nothing, or takes nothing, is kept: a page that must be stopped with Ctrl-C to be had again would
//! take its study along.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// After an error that is not one peer's (no descriptor is left, say), so long until the next attempt.
const PAUSE: Duration = Duration::from_millis(500);

/// What a peer may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// So many connections at once; further ones wait in the listener's queue.
    pub connections: usize,
    /// The whole head of a request must come within this time from the connection's start, or from the end of the answer
    /// before.
    pub head: Duration,
    /// What was sent must be taken within this time.
    pub stalled: Duration,
}

impl Default for Limits {
    /// A browser has at most six connections to a host, and sends a head at once. An idle one is opened anew in less time
    /// than it takes to see.
    fn default() -> Self {
        Self { connections: 128, head: Duration::from_secs(10), stalled: Duration::from_secs(30) }
    }
}

/// Serves for ever.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits) {
    let slots = Arc::new(Semaphore::new(limits.connections));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) if is_of_one_peer(error.kind()) => continue,
            Err(_) => {
                sleep(PAUSE).await;
                continue;
            }
        };
        prepare(&stream, limits);
        let answers = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), answers);
        tokio::spawn(async move {
            // However it ends: what a peer does wrong is told to nobody.
            let _ = connection.await;
            drop(slot);
        });
    }
}

/// The peer went away before it was accepted.
fn is_of_one_peer(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

/// The kernel ends a connection whose peer takes nothing (`TCP_USER_TIMEOUT`, tcp(7)), be its machine gone or its window shut.
fn prepare(stream: &TcpStream, limits: Limits) {
    let _ = stream.set_nodelay(true);
    let stalled_ms = u32::try_from(limits.stalled.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, stalled_ms);
}

#[cfg(test)]
#[path = "connections/tests.rs"]
mod tests;
