//! Clients of the local page that misbehave: slow heads, half requests, aborted downloads, wrong tokens, pages reloaded
//! again and again, event streams that nobody reads.

use anyhow::{Context, Result, bail};
use rand::{Rng, RngExt};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The longest time that an answer may take. A page may have to wait for a step of a heat, and for all slow heads before it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A misbehaving client waits no longer than this for anything.
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

    /// Sends a request as a browser does, and returns the status and the whole answer.
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

    /// Checks that the page still answers clients that behave.
    pub fn check(&self) -> Result<()> {
        match self.ask("GET /", "")? {
            (200, _) => Ok(()),
            (status, text) => bail!("the list of runs is answered with {status}: {text}"),
        }
    }
}

/// A kind of misbehaviour. It returns the connection if that is to stay open for a while.
type Misbehaviour = fn(&Site, &mut dyn Rng) -> Result<Option<TcpStream>>;

/// All kinds.
const ALL: [Misbehaviour; 10] = [
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

/// One misbehaving client of a random kind.
pub fn misbehave(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    ALL[random.random_range(0..ALL.len())](site, random)
}

/// Writes as much as the page takes. The page may close such a connection.
fn write(mut stream: &TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Reads a little, or nothing.
fn read(mut stream: &TcpStream) {
    let mut bytes = [0; 512];
    if let Err(error) = stream.read(&mut bytes) {
        // Nothing arrived in time, which is no fault of the page.
        debug_assert!(error.kind() != ErrorKind::InvalidInput);
    }
}

fn slow_head(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let (stream, head) = (site.connect()?, site.head("GET /", ""));
    write(&stream, &head.as_bytes()[..random.random_range(0..head.len())]);
    Ok(Some(stream))
}

fn half_request(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let (path, length) = [("/imports?name=f", 5 << 20), ("/studies/soak", 500)][random.random_range(0..2)];
    let fields = format!("Content-Length: {length}\r\n");
    write(&stream, site.head(&format!("POST {path}"), &fields).as_bytes());
    write(&stream, &vec![b'x'; length / 2]);
    Ok(random.random::<bool>().then_some(stream))
}

fn broken_download(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let path = ["/", "/studies", "/contenders", "/assets/ui.css", "/live"][random.random_range(0..5)];
    write(&stream, site.head(&format!("GET {path}"), "").as_bytes());
    read(&stream);
    Ok(None)
}

fn wrong_token(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let wrong = format!("{:032x}", random.random::<u128>());
    let head = format!("GET /?token={wrong} HTTP/1.1\r\nHost: {}\r\n", site.address);
    let cookie = format!("Cookie: drome-token-{}={wrong}\r\n\r\n", site.address.port());
    write(&stream, format!("{head}{cookie}").as_bytes());
    let mut first = [0; 12];
    match (&stream).read_exact(&mut first) {
        Ok(()) if &first != b"HTTP/1.1 403" => bail!("a wrong token was accepted"),
        _ => Ok(None),
    }
}

/// Requests the same page again and again, on one connection or on many, and does not wait for the answers.
fn reloads(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let head = site.head("GET /", "");
    if random.random() {
        let stream = site.connect()?;
        write(&stream, head.repeat(20).as_bytes());
        return Ok(None);
    }
    for _ in 0..20 {
        write(&site.connect()?, head.as_bytes());
    }
    Ok(None)
}

fn unread_events(site: &Site, _: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    write(&stream, site.head("GET /live/events", "").as_bytes());
    Ok(Some(stream))
}

fn unread_pages(site: &Site, _: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    write(&stream, site.head("GET /studies", "").repeat(200).as_bytes());
    Ok(Some(stream))
}

fn broken_upload(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    write(&stream, site.head("POST /imports?name=f", "Transfer-Encoding: chunked\r\n").as_bytes());
    let piece = [b"10000\r\n".as_slice(), &[b'x'; 65536], b"\r\n"].concat();
    for _ in 0..random.random_range(0..400) {
        if (&stream).write_all(&piece).is_err() {
            break;
        }
    }
    Ok(None)
}

fn no_http(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let stream = site.connect()?;
    let mut bytes = vec![0; random.random_range(0..20_000)];
    random.fill_bytes(&mut bytes);
    write(&stream, &bytes);
    read(&stream);
    Ok(None)
}

fn silent(site: &Site, _: &mut dyn Rng) -> Result<Option<TcpStream>> {
    Ok(Some(site.connect()?))
}
