//! Clients of a page that do not behave: slow heads, half requests, downloads that are broken off, wrong tokens, pages that
//! are loaded again and again, event streams that nobody reads.

use super::random::Random;
use anyhow::{Context, Result, bail};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer that takes longer does not come: more than a whole page waits for a trial, and all slow heads before it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A careless client does not wait longer for anything.
const IMPATIENCE: Duration = Duration::from_millis(200);

/// The page under test.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    token: String,
}

impl Site {
    /// From the line that `drome ui` prints.
    pub fn of(url: &str) -> Result<Self> {
        let (authority, token) = url
            .trim()
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once("/?token="))
            .with_context(|| format!("{url:?} is no address with a token"))?;
        Ok(Self { address: authority.parse()?, token: token.to_owned() })
    }

    fn cookie(&self) -> String {
        format!("Cookie: drome-token-{}={}\r\n", self.address.port(), self.token)
    }

    fn head(&self, line: &str, more: &str) -> String {
        let at = self.address;
        format!("{line} HTTP/1.1\r\nHost: {at}\r\nOrigin: http://{at}\r\n{}{more}\r\n", self.cookie())
    }

    fn connect(&self) -> Result<TcpStream> {
        let stream =
            TcpStream::connect_timeout(&self.address, PATIENCE).context("no connection to the page")?;
        stream.set_read_timeout(Some(IMPATIENCE))?;
        stream.set_write_timeout(Some(IMPATIENCE))?;
        Ok(stream)
    }

    /// As a browser asks: the status and the text.
    pub fn ask(&self, line: &str, form: &str) -> Result<(u16, String)> {
        let length = format!(
            "Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            form.len()
        );
        let mut stream = self.connect()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(format!("{}{form}", self.head(line, &length)).as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).with_context(|| format!("no answer to {line}"))?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((status.with_context(|| format!("{line}: {answer:?} is no answer"))?, answer))
    }

    /// The page answers peers that behave.
    pub fn is_well(&self) -> Result<()> {
        match self.ask("GET /", "")? {
            (200, _) => Ok(()),
            (status, text) => bail!("the list of runs is answered with {status}: {text}"),
        }
    }
}

/// Something that is done wrong; a connection that stays open is given back, to be kept for a while.
type Act = fn(&Site, &mut Random) -> Result<Option<TcpStream>>;

/// What can be done wrong.
const WAYS: [Act; 10] = [
    slow_head,
    half_request,
    broken_download,
    wrong_token,
    reloads,
    unread_events,
    unread_pages,
    broken_upload,
    no_http,
    silent,
];

/// Does one of them.
pub fn misbehave(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    WAYS[random.below(WAYS.len() as u64) as usize](site, random)
}

/// Writes as much as is taken. That a page ends a connection like these is its right.
fn say(mut stream: &TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Reads a little, or nothing.
fn hear(mut stream: &TcpStream) {
    let mut bytes = [0; 512];
    if let Err(error) = stream.read(&mut bytes) {
        // Nothing came in time: a careless client does not mind.
        debug_assert!(error.kind() != ErrorKind::InvalidInput);
    }
}

fn slow_head(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    let (stream, head) = (site.connect()?, site.head("GET /", ""));
    say(&stream, &head.as_bytes()[..random.below(head.len() as u64) as usize]);
    Ok(Some(stream))
}

fn half_request(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let (path, length) = [("/imports", 5 << 20), ("/studies/soak", 500)][random.below(2) as usize];
    let fields = format!("Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n");
    say(&stream, site.head(&format!("POST {path}"), &fields).as_bytes());
    say(&stream, &vec![b'x'; length / 2]);
    Ok((random.below(2) == 0).then_some(stream))
}

fn broken_download(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let path = ["/", "/studies", "/contenders", "/assets/ui.css", "/live"][random.below(5) as usize];
    say(&stream, site.head(&format!("GET {path}"), "").as_bytes());
    hear(&stream);
    Ok(None)
}

fn wrong_token(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let wrong = format!("{:016x}{:016x}", random.next(), random.next());
    let head = format!("GET /?token={wrong} HTTP/1.1\r\nHost: {}\r\n", site.address);
    let cookie = format!("Cookie: drome-token-{}={wrong}\r\n\r\n", site.address.port());
    say(&stream, format!("{head}{cookie}").as_bytes());
    let mut first = [0; 12];
    match (&stream).read_exact(&mut first) {
        Ok(()) if &first != b"HTTP/1.1 403" => bail!("a wrong token was let in"),
        _ => Ok(None),
    }
}

/// The same page, over and over, on one connection or on many; nobody waits for the answers.
fn reloads(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    let head = site.head("GET /", "");
    if random.below(2) == 0 {
        let stream = site.connect()?;
        say(&stream, head.repeat(20).as_bytes());
        return Ok(None);
    }
    for _ in 0..20 {
        say(&site.connect()?, head.as_bytes());
    }
    Ok(None)
}

fn unread_events(site: &Site, _: &mut Random) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    say(&stream, site.head("GET /live/events", "").as_bytes());
    Ok(Some(stream))
}

fn unread_pages(site: &Site, _: &mut Random) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    say(&stream, site.head("GET /studies", "").repeat(200).as_bytes());
    Ok(Some(stream))
}

fn broken_upload(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let fields = "Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n";
    say(&stream, site.head("POST /imports", fields).as_bytes());
    let start = "--b\r\nContent-Disposition: form-data; filename=\"f\"\r\n\r\n";
    say(&stream, format!("{:x}\r\n{start}\r\n", start.len()).as_bytes());
    let piece = [b"10000\r\n".as_slice(), &[b'x'; 65536], b"\r\n"].concat();
    for _ in 0..random.below(400) {
        if (&stream).write_all(&piece).is_err() {
            break;
        }
    }
    Ok(None)
}

fn no_http(site: &Site, random: &mut Random) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let bytes: Vec<u8> = (0..random.below(20_000)).map(|_| random.next() as u8).collect();
    say(&stream, &bytes);
    hear(&stream);
    Ok(None)
}

fn silent(site: &Site, _: &mut Random) -> Result<Option<TcpStream>> {
    Ok(Some(site.connect()?))
}
