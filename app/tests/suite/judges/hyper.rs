//! hyper as a judge of HTTP/2, in this process: it counts what it is asked.

use super::judge::BODY;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// The number of requests by their targets.
type Counts = Arc<Mutex<BTreeMap<String, u64>>>;

/// hyper at work, until the test ends.
pub struct Hyper {
    pub address: SocketAddr,
    counts: Counts,
}

impl Hyper {
    pub fn sit() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (address, counts) = (listener.local_addr().unwrap(), Counts::default());
        let served = counts.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(serve(listener, served));
        });
        Self { address, counts }
    }

    pub fn counted(&self, target: &str) -> u64 {
        self.counts.lock().unwrap().get(target).copied().unwrap_or(0)
    }
}

async fn serve(listener: std::net::TcpListener, counts: Counts) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let counts = counts.clone();
        let answer = service_fn(move |request: Request<Incoming>| {
            let target = request.uri().path_and_query().unwrap().to_string();
            *counts.lock().unwrap().entry(target).or_default() += 1;
            async { Ok::<_, Infallible>(Response::new(BODY.to_owned())) }
        });
        let http2 = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        tokio::spawn(http2.serve_connection(TokioIo::new(stream), answer));
    }
}
