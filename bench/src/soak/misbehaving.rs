//! Clients of the local page that misbehave: slow heads, half requests, aborted downloads, wrong tokens, pages reloaded
//! again and again, event streams that nobody reads.

use anyhow::{Context, Result, bail};
use rand::{Rng, RngExt};
use std::io::{Read, Write};
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

/// What a misbehaving client does when it has sent what it sends.
enum Then {
    Leave,
    ReadALittle,
    Stay,
}

/// The number of kinds in [`misbehave`].
const KINDS: u32 = 10;

/// One misbehaving client of a random kind; returns its connection if that is to stay open for a while.
pub fn misbehave(site: &Site, random: &mut dyn Rng) -> Result<Option<TcpStream>> {
    let get = |path: &str| site.head(&format!("GET {path}"), "").into_bytes();
    let (bytes, then) = match random.random_range(0..KINDS) {
        // A slow head.
        0 => {
            let head = get("/");
            (head[..random.random_range(0..head.len())].to_vec(), Then::Stay)
        }
        // Half of a body.
        1 => {
            let (path, length) =
                [("/imports?name=f", 5 << 20), ("/studies/soak", 500)][random.random_range(0..2)];
            let head = site.head(&format!("POST {path}"), &format!("Content-Length: {length}\r\n"));
            let then = if random.random() { Then::Stay } else { Then::Leave };
            ([head.as_bytes(), &vec![b'x'; length / 2]].concat(), then)
        }
        // A broken download.
        2 => {
            let paths = ["/", "/studies", "/contenders", "/assets/ui.css", "/live"];
            (get(paths[random.random_range(0..paths.len())]), Then::ReadALittle)
        }
        3 => {
            check_wrong_token(site, random)?;
            return Ok(None);
        }
        // Reloads on one connection or on many. Nobody waits for the answers.
        4 if random.random() => (get("/").repeat(20), Then::Leave),
        4 => {
            for _ in 1..20 {
                write(&site.connect()?, &get("/"));
            }
            (get("/"), Then::Leave)
        }
        // Events and pages that nobody reads.
        5 => (get("/live/events"), Then::Stay),
        6 => (get("/studies").repeat(200), Then::Stay),
        // A broken upload.
        7 => {
            let head = site.head("POST /imports?name=f", "Transfer-Encoding: chunked\r\n");
            let chunk = [b"10000\r\n".as_slice(), &[b'x'; 65536], b"\r\n"].concat();
            ([head.as_bytes(), &chunk.repeat(random.random_range(0..400))].concat(), Then::Leave)
        }
        // No HTTP.
        8 => {
            let mut bytes = vec![0; random.random_range(0..20_000)];
            random.fill_bytes(&mut bytes);
            (bytes, Then::ReadALittle)
        }
        // Nothing.
        _ => (Vec::new(), Then::Stay),
    };
    let stream = site.connect()?;
    write(&stream, &bytes);
    if let Then::ReadALittle = then {
        // Nothing may arrive in time, which is no fault of the page.
        let _ = (&stream).read(&mut [0; 512]);
    }
    Ok(matches!(then, Then::Stay).then_some(stream))
}

/// Writes as much as the page takes. The page may close such a connection.
fn write(mut stream: &TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

fn check_wrong_token(site: &Site, random: &mut dyn Rng) -> Result<()> {
    let stream = site.connect()?;
    let wrong = format!("{:032x}", random.random::<u128>());
    let head = format!("GET /?token={wrong} HTTP/1.1\r\nHost: {}\r\n", site.address);
    let cookie = format!("Cookie: drome-token-{}={wrong}\r\n\r\n", site.address.port());
    write(&stream, format!("{head}{cookie}").as_bytes());
    let mut first = [0; 12];
    match (&stream).read_exact(&mut first) {
        Ok(()) if &first != b"HTTP/1.1 403" => bail!("a wrong token was accepted"),
        _ => Ok(()),
    }
}
