use actix_files::Files;
use actix_web::http::header::ContentType;
use actix_web::web::{self, Bytes, PayloadConfig, Query};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, Responder, get, post, rt};
use actix_ws::AggregatedMessage;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};

/// The largest body that `/echo` sends back, in bytes.
const MAX_BODY_LEN: usize = 1 << 20;

/// The largest frame of a message that `/websocket` sends back, in bytes. The default is 64 KiB, less than
/// the messages of a verification.
const MAX_FRAME_LEN: usize = 1 << 20;

struct Page(Bytes);

#[derive(Deserialize)]
struct Parameters {
    n: u64,
}

#[derive(Serialize)]
struct Message {
    message: &'static str,
    number: u64,
}

#[actix_web::main]
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
    let page = web::Data::new(Page(page));

    let app = move || {
        App::new()
            .app_data(page.clone())
            .app_data(PayloadConfig::new(MAX_BODY_LEN))
            .service(index)
            .service(hello)
            .service(pong)
            .service(json)
            .service(echo)
            .service(messages)
            .service(Files::new("/", &assets))
    };
    let mut server = HttpServer::new(app);
    // As it comes, the kernel may hold back a small file until the client has
    // acknowledged its head, which is written first.
    if tuned {
        server = server.tcp_nodelay(true);
    }
    let host = std::env::var("DROME_HOST").unwrap_or_else(|_| "127.0.0.1".to_owned());
    if let ["--tls", port, cert, key] = rest[usize::from(tuned)..] {
        let chain = CertificateDer::pem_file_iter(cert)?.collect::<Result<_, _>>()?;
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
        // Actix Web itself offers HTTP/2.
        server = server.bind_rustls_0_23(format!("{host}:{port}"), config)?;
    }
    server.bind(format!("{host}:{port}"))?.run().await?;
    Ok(())
}

#[get("/")]
async fn index(page: web::Data<Page>) -> impl Responder {
    HttpResponse::Ok().content_type(ContentType::html()).body(page.0.clone())
}

#[get("/hello")]
async fn hello() -> impl Responder {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body("Hello World\n")
}

#[get("/pong")]
async fn pong() -> impl Responder {
    HttpResponse::Ok().content_type(ContentType::plaintext()).body("PONG")
}

#[get("/json")]
async fn json(parameters: Query<Parameters>) -> impl Responder {
    web::Json(Message { message: "Hello World", number: parameters.n })
}

#[post("/echo")]
async fn echo(body: Bytes) -> impl Responder {
    HttpResponse::Ok().content_type(ContentType::octet_stream()).body(body)
}

#[get("/websocket")]
async fn messages(request: HttpRequest, body: web::Payload) -> actix_web::Result<impl Responder> {
    let (response, mut session, stream) = actix_ws::handle(&request, body)?;
    let mut stream = stream.max_frame_size(MAX_FRAME_LEN).aggregate_continuations();
    rt::spawn(async move {
        while let Some(Ok(message)) = stream.recv().await {
            let sent = match message {
                AggregatedMessage::Text(text) => session.text(text).await,
                AggregatedMessage::Binary(bytes) => session.binary(bytes).await,
                AggregatedMessage::Ping(bytes) => session.pong(&bytes).await,
                AggregatedMessage::Pong(_) => Ok(()),
                AggregatedMessage::Close(reason) => {
                    let _ = session.close(reason).await;
                    return;
                }
            };
            if sent.is_err() {
                return;
            }
        }
    });
    Ok(response)
}
