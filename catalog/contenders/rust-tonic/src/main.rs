use std::net::SocketAddr;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

mod service {
    include!(concat!(env!("OUT_DIR"), "/drome.Bench.rs"));
}

use service::bench_server::{Bench, BenchServer};

struct Echo;

#[tonic::async_trait]
impl Bench for Echo {
    async fn echo(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, Status> {
        Ok(Response::new(request.into_inner()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let plain = Server::builder().add_service(BenchServer::new(Echo));
    match arguments[..] {
        [port] => plain.serve(address(port)?).await?,
        [port, "--tls", tls_port, cert, key] => {
            let identity = Identity::from_pem(std::fs::read(cert)?, std::fs::read(key)?);
            let tls = Server::builder()
                .tls_config(ServerTlsConfig::new().identity(identity))?
                .add_service(BenchServer::new(Echo));
            tokio::try_join!(plain.serve(address(port)?), tls.serve(address(tls_port)?))?;
        }
        _ => return Err("usage: server PORT [--tls PORT CERTIFICATE KEY]".into()),
    }
    Ok(())
}

/// The address to listen on.
fn address(port: &str) -> Result<SocketAddr, std::net::AddrParseError> {
    let host = std::env::var("DROME_HOST").unwrap_or_else(|_| "127.0.0.1".to_owned());
    format!("{host}:{port}").parse()
}
