//! A web server of the standard library alone: a thread for each connection.

use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let page = Arc::new(std::fs::read(format!("{}/html-228.html", args[2]))?);
    let host = std::env::var("DROME_HOST").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let listener = TcpListener::bind(format!("{host}:{}", args[1]))?;
    for stream in listener.incoming() {
        let (stream, page) = (stream?, Arc::clone(&page));
        std::thread::spawn(move || serve(stream, &page));
    }
    Ok(())
}

/// Answers one request after the other, until the client closes or asks for it.
fn serve(mut stream: TcpStream, page: &[u8]) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut closes = false;
        loop {
            let mut field = String::new();
            if reader.read_line(&mut field)? == 0 {
                return Ok(());
            }
            if field.trim_end().is_empty() {
                break;
            }
            closes |= field.trim_end().eq_ignore_ascii_case("connection: close");
        }
        let target = first.split(' ').nth(1).unwrap_or("");
        let (status, kind, body) = match target.split('?').next() {
            Some("/") => ("200 OK", "text/html", page),
            Some("/hello") => ("200 OK", "text/plain", &b"Hello World\n"[..]),
            _ => ("404 Not Found", "text/plain", &b"not found\n"[..]),
        };
        let end = if closes { "Connection: close\r\n" } else { "" };
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{end}\r\n");
        stream.write_all(&[head.as_bytes(), body].concat())?;
        if closes {
            return Ok(());
        }
    }
}
