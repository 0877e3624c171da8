//! `drome load --metrics ADDRESS`: serves the measurement while it runs, as `OpenMetrics` text. The figures are
//! updated four times a second from what the workers publish anyway, so a request costs nothing more. Only clients
//! on this machine are served, and only requests whose Host is a name of this machine, so that no web page can read
//! them by DNS rebinding.

use crate::failure::WrongInput;
use crate::live::LiveSum;
use crate::web::connections::{self, Limits};
use crate::web::{host_name, only_value};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use control::processes::usage::UsageSoFar;
use judge::verdict::{Case, Policy};
use model::{Interval, Plan};
use report::open_metrics::{self, SoFar};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A few scrapers; none keeps others waiting.
const LIMITS: Limits =
    Limits { connections: 16, head: Duration::from_secs(2), stalled: Duration::from_secs(2) };

/// Reads `127.0.0.1:9469`, `[::1]:9469`, `localhost:9469`, or a port alone.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        |why: &str| format!("{why}: use an address of this machine with a port, such as 127.0.0.1:9469");
    let port = text.strip_prefix(':').or_else(|| text.strip_prefix("localhost:")).unwrap_or(text);
    let address = match port.parse::<u16>() {
        Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Err(_) => text.parse().map_err(|_| wrong("not an address"))?,
    };
    if !address.ip().is_loopback() {
        return Err(wrong("other machines could read it"));
    }
    Ok(address)
}

/// The server of metrics.
#[derive(Debug)]
pub struct Metrics(Arc<Mutex<Gathered>>);

/// The measurement so far.
#[derive(Debug)]
struct Gathered {
    plan: Plan,
    sum: LiveSum,
    /// What a server on this machine has used.
    server: Option<UsageSoFar>,
}

impl Metrics {
    /// Listens and answers until drome ends.
    pub fn serve(address: SocketAddr, plan: &Plan) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).map_err(|e| {
            WrongInput(format!("--metrics: can't listen on {address} ({e}): choose another port"))
        })?;
        let address = listener.local_addr()?;
        note!("metrics: http://{address}/metrics");
        let gathered = Arc::new(Mutex::new(Gathered::new(plan)));
        let shared = Arc::clone(&gathered);
        std::thread::spawn(move || {
            if let Err(error) = connections::answer(listener, router(shared), LIMITS) {
                alert!("drome: --metrics: nobody is answered any more: {error}");
            }
        });
        Ok(Self(gathered))
    }

    /// Adds what the workers have published since the last call, and takes what a server on this machine has used so far.
    pub fn take(&self, intervals: &[Interval], server: Option<UsageSoFar>) {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gathered.sum.take(intervals);
        gathered.server = server;
    }
}

impl Gathered {
    fn new(plan: &Plan) -> Self {
        Self { plan: plan.clone(), sum: LiveSum::new(plan), server: None }
    }

    fn text(&self) -> String {
        let usage = self.server.as_ref().map(|server| &server.usage);
        let case = Case { usage, ..Case::new(Policy::single(false), &self.plan, &self.sum.tally) };
        let verdict = (self.sum.tally.duration_ns > 0).then(|| judge::verdict::judge(&case));
        open_metrics::text(&SoFar {
            plan: &self.plan,
            tally: &self.sum.tally,
            verdict: verdict.as_ref(),
            usage,
            server_rss_bytes: self.server.as_ref().and_then(|server| server.rss_bytes),
            connections_open: self.sum.connections_open,
            version: env!("CARGO_PKG_VERSION"),
        })
    }
}

fn router(gathered: Arc<Mutex<Gathered>>) -> Router {
    Router::new()
        .route("/metrics", get(show))
        .fallback(|| async { (StatusCode::NOT_FOUND, "only /metrics exists\n") })
        .layer(from_fn(ensure_for_this_machine))
        .with_state(gathered)
}

#[allow(clippy::unused_async, reason = "axum accepts only async handlers")]
async fn show(State(gathered): State<Arc<Mutex<Gathered>>>) -> ([(HeaderName, &'static str); 3], String) {
    let text = gathered.lock().unwrap_or_else(PoisonError::into_inner).text();
    let fields = [
        (header::CONTENT_TYPE, open_metrics::CONTENT_TYPE),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (fields, text)
}

/// Refuses a request whose Host is not this machine.
async fn ensure_for_this_machine(request: Request, next: Next) -> Response {
    let mut response = match only_value(request.headers(), &header::HOST) {
        Some(host) if is_this_machine(host) => next.run(request).await,
        Some(_) => (StatusCode::FORBIDDEN, "use the address that drome printed\n").into_response(),
        None => (StatusCode::BAD_REQUEST, "a request must have exactly one Host header\n").into_response(),
    };
    // A scraper asks so seldom that its connection would only be in the way of others.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn is_this_machine(host: &str) -> bool {
    let Some(name) = host_name(host) else { return false };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use axum::body::Body;
    use model::{Ask, Load, Target, Until};
    use tower::ServiceExt;

    #[test]
    fn only_addresses_of_this_machine_are_listened_on() {
        let of = |text: &str| address(text).map(|a| a.to_string());
        for text in ["9469", ":9469", "localhost:9469", "127.0.0.1:9469"] {
            assert_eq!(of(text).as_deref(), Ok("127.0.0.1:9469"));
        }
        assert_eq!(of("[::1]:1").as_deref(), Ok("[::1]:1"));
        for text in ["0.0.0.0:9469", "192.0.2.1:9469", "[::]:9469"] {
            assert!(of(text).unwrap_err().starts_with("other machines could read it"), "{text}");
        }
        for text in ["", "x", "127.0.0.1", "70000", "example.org:80"] {
            assert!(of(text).unwrap_err().starts_with("not an address"), "{text}");
        }
    }

    async fn status(router: &Router, method: &str, path: &str, hosts: &[&str]) -> u16 {
        let request = Request::builder().method(method).uri(path);
        let request = hosts.iter().fold(request, |request, host| request.header("hOst", *host));
        router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status().as_u16()
    }

    #[tokio::test]
    async fn only_requests_for_this_machine_are_answered() {
        let target = Target::resolve("http://127.0.0.1:1/").unwrap();
        let load = Load::Closed { connections: 1, per_connection: None };
        let plan = Plan::new(target, Ask::default(), load, Until::Answered(1));
        let router = router(Arc::new(Mutex::new(Gathered::new(&plan))));
        for host in ["localhost", "LOCALHOST:9469", "127.0.0.1:9469", "[::1]:9469", "127.0.0.53"] {
            assert_eq!(status(&router, "GET", "/metrics", &[host]).await, 200, "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example:9469",
            "localhost.evil.example",
            "evil.example@localhost",
            "192.0.2.1",
            "",
        ] {
            assert_eq!(status(&router, "GET", "/metrics", &[host]).await, 403, "{host}");
        }
        assert_eq!(status(&router, "GET", "/metrics", &[]).await, 400);
        assert_eq!(status(&router, "GET", "/metrics", &["localhost", "localhost"]).await, 400);
        assert_eq!(status(&router, "HEAD", "/metrics?x=1", &["localhost"]).await, 200);
        assert_eq!(status(&router, "GET", "/", &["localhost"]).await, 404);
        assert_eq!(status(&router, "POST", "/metrics", &["localhost"]).await, 405);
    }
}
