use axum::body::Bytes;
use axum::extract::ws::{self, WebSocket, WebSocketUpgrade};
use axum::extract::{DefaultBodyLimit, Query};
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::RustlsConfig;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use tower_http::services::ServeDir;

/// The largest body that `/echo` sends back, in bytes.
const MAX_BODY_LEN: usize = 1 << 20;

#[derive(Deserialize)]
struct Parameters {
    n: u64,
}

#[derive(Serialize)]
struct Message {
    message: &'static str,
    number: u64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(port), Some(assets)) = (arguments.next(), arguments.next()) else {
        return Err("usage: server PORT ASSETS [tuned] [--tls PORT CERTIFICATE KEY]".into());
    };
    let rest: Vec<String> = arguments.collect();
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let tuned = rest.first() == Some(&"tuned");

    // Read once: the run measures the server, not the file system.
    let page = Bytes::from(std::fs::read(format!("{assets}/html-228.html"))?);

    let app = Router::new()
        .route("/", get(async move || Html(page)))
        .route("/hello", get(async || "Hello World\n"))
        .route("/pong", get(async || "PONG"))
        .route("/json", get(json))
        .route("/echo", post(echo).layer(DefaultBodyLimit::max(MAX_BODY_LEN)))
        .route("/websocket", get(async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(echo_messages)))
        .fallback_service(ServeDir::new(assets));
    let host = std::env::var("DROME_HOST").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let listener = tokio::net::TcpListener::bind(format!("{host}:{port}")).await?;
    if let ["--tls", port, cert, key] = rest[usize::from(tuned)..] {
        let config = RustlsConfig::from_pem_file(cert, key).await?;
        let address: SocketAddr = format!("{host}:{port}").parse()?;
        let (server, app) = (axum_server::bind_rustls(address, config), app.clone().into_make_service());
        if tuned {
            tokio::spawn(server.map(|tls| tls.acceptor(NoDelayAcceptor::new())).serve(app));
        } else {
            tokio::spawn(server.serve(app));
        }
    }
    // As it comes, the kernel may hold back a small file until the client has
    // acknowledged its head, which is written first.
    let listener = listener.tap_io(move |stream| {
        if tuned {
            let _ = stream.set_nodelay(true);
        }
    });
    axum::serve(listener, app).await?;
    Ok(())
}

async fn json(Query(parameters): Query<Parameters>) -> Json<Message> {
    Json(Message { message: "Hello World", number: parameters.n })
}

async fn echo(body: Bytes) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/octet-stream")], body)
}

async fn echo_messages(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        // axum itself answers pings and closes.
        let is_content = matches!(message, ws::Message::Text(_) | ws::Message::Binary(_));
        if is_content && socket.send(message).await.is_err() {
            break;
        }
    }
}
