//! Accepts connections of browsers and programs. Their number is limited, and so is the time for which an idle or stalled
//! connection is kept. Otherwise slow clients could block the page, and the Ctrl-C to recover it would also stop
//! the running study.

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

/// The pause before the next attempt after an error that no single peer caused, such as a lack of descriptors.
const PAUSE: Duration = Duration::from_millis(500);

/// Limits for clients.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once; further ones wait in the listener's queue.
    pub connections: usize,
    /// The time for a complete request head, from the connection's start or from the end of the previous answer.
    pub head: Duration,
    /// The time within which the client must accept what was sent.
    pub stalled: Duration,
}

impl Default for Limits {
    /// A browser has at most six connections to a host, and sends a head at once. It reopens a closed idle connection
    /// without a visible delay.
    fn default() -> Self {
        Self { connections: 128, head: Duration::from_secs(10), stalled: Duration::from_secs(30) }
    }
}

/// Answers with the pages of the router, for ever. One thread is enough for a few readers, and it disturbs measurements the least.
pub fn answer(listener: std::net::TcpListener, router: Router, limits: Limits) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(4)
        .build()?;
    runtime.block_on(async {
        serve(TcpListener::from_std(listener)?, router, limits).await;
        Ok(())
    })
}

/// Serves connections for ever.
async fn serve(listener: TcpListener, router: Router, limits: Limits) {
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
            // Errors of the peer are ignored.
            let _ = connection.await;
            drop(slot);
        });
    }
}

/// Whether the peer disconnected before it was accepted.
fn is_of_one_peer(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

/// Lets the kernel end a connection whose peer accepts nothing (`TCP_USER_TIMEOUT`, tcp(7)), be it gone or stalled.
fn prepare(stream: &TcpStream, limits: Limits) {
    let _ = stream.set_nodelay(true);
    let stalled_ms = u32::try_from(limits.stalled.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, stalled_ms);
}

#[cfg(test)]
#[path = "connections/tests.rs"]
mod tests;
