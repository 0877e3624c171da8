use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use serde::Serialize;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The largest body that `/echo` sends back, in bytes.
const MAX_BODY_LEN: usize = 1 << 20;

struct App {
    assets: PathBuf,
    page: Bytes,
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
        return Err("usage: server PORT ASSETS [--tls PORT CERTIFICATE KEY]".into());
    };
    let assets = PathBuf::from(assets);

    // Read once: the run measures the server, not the file system.
    let page = Bytes::from(std::fs::read(assets.join("html-228.html"))?);

    let app = Arc::new(App { assets, page });
    let host = std::env::var("DROME_HOST").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let listener = TcpListener::bind(format!("{host}:{port}")).await?;
    if arguments.next().is_some_and(|word| word == "--tls") {
        let (Some(port), Some(cert), Some(key)) = (arguments.next(), arguments.next(), arguments.next())
        else {
            return Err("--tls needs PORT CERTIFICATE KEY".into());
        };
        let listener = TcpListener::bind(format!("{host}:{port}")).await?;
        tokio::spawn(serve_tls(listener, acceptor(&cert, &key)?, Arc::clone(&app)));
    }
    loop {
        let stream = accept(&listener).await;
        let app = Arc::clone(&app);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let app = Arc::clone(&app);
                async move { Ok::<_, Infallible>(app.answer(request).await) }
            });
            // A client that hangs up early concerns nobody else.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // No descriptors left, most likely: others may close theirs soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

fn acceptor(cert: &str, key: &str) -> Result<TlsAcceptor, Box<dyn std::error::Error>> {
    let chain = CertificateDer::pem_file_iter(cert)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve_tls(listener: TcpListener, acceptor: TlsAcceptor, app: Arc<App>) {
    loop {
        let stream = accept(&listener).await;
        let (acceptor, app) = (acceptor.clone(), Arc::clone(&app));
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(move |request| {
                let app = Arc::clone(&app);
                async move { Ok::<_, Infallible>(app.answer(request).await) }
            });
            let mut builder = auto::Builder::new(TokioExecutor::new());
            builder.http1().timer(TokioTimer::new());
            builder.http2().timer(TokioTimer::new());
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl App {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/") => reply("text/html", self.page.clone()),
            (&Method::GET, "/hello") => reply("text/plain", "Hello World\n"),
            (&Method::GET, "/pong") => reply("text/plain", "PONG"),
            (&Method::GET, "/json") => json(request.uri().query()),
            (&Method::POST, "/echo") => echo(request).await,
            // hyper brings no file server, so the files are named and read here.
            (&Method::GET, "/html-147.html") => self.file("html-147.html", "text/html").await,
            (&Method::GET, "/png-50k.png") => self.file("png-50k.png", "image/png").await,
            (&Method::GET, "/jpeg-200k.jpg") => self.file("jpeg-200k.jpg", "image/jpeg").await,
            (&Method::GET, "/download-1m.bin") => {
                self.file("download-1m.bin", "application/octet-stream").await
            }
            _ => error(StatusCode::NOT_FOUND),
        }
    }

    async fn file(&self, name: &str, content_type: &'static str) -> Response<Full<Bytes>> {
        match tokio::fs::read(self.assets.join(name)).await {
            Ok(body) => reply(content_type, body),
            Err(_) => error(StatusCode::NOT_FOUND),
        }
    }
}

fn json(query: Option<&str>) -> Response<Full<Bytes>> {
    let number = form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(name, _)| name == "n")
        .and_then(|(_, value)| value.parse().ok());
    let Some(number) = number else { return error(StatusCode::BAD_REQUEST) };
    match serde_json::to_vec(&Message { message: "Hello World", number }) {
        Ok(body) => reply("application/json", body),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

async fn echo(request: Request<Incoming>) -> Response<Full<Bytes>> {
    match Limited::new(request.into_body(), MAX_BODY_LEN).collect().await {
        Ok(body) => reply("application/octet-stream", body.to_bytes()),
        Err(_) => error(StatusCode::PAYLOAD_TOO_LARGE),
    }
}

fn reply(content_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn error(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}
