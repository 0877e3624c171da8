//! A real browser: Debian's chromium, driven through chromedriver by the `WebDriver` protocol (W3C, 2018), which is JSON
//! over HTTP: a client of a few lines does.

use crate::common::{PATIENCE, process, wait_for};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many at a time: each is many processes. Two tests that wait for their browsers are not in each other's way.
const MOST: usize = 2;

/// How many there are, and who waits for one to end.
static OPEN: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// The right to have a browser.
struct Place;

impl Place {
    fn take() -> Self {
        let (open, ended) = &OPEN;
        let open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |open: &mut usize| *open >= MOST;
        let mut open = ended.wait_while(open, is_full).unwrap_or_else(PoisonError::into_inner);
        *open += 1;
        Self
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (open, ended) = &OPEN;
        *open.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ended.notify_one();
    }
}

/// The key under which `WebDriver` names an element (W3C `WebDriver`, section 12).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub const TAB: &str = "\u{e004}";
pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";
pub const LEFT: &str = "\u{e012}";
pub const UP: &str = "\u{e013}";
pub const RIGHT: &str = "\u{e014}";
pub const DOWN: &str = "\u{e015}";

/// A browser with one window; it is ended with the test.
pub struct Browser {
    driver: Child,
    at: SocketAddr,
    session: String,
    _place: Place,
}

/// How the page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    pub is_dark: bool,
}

pub const WIDE: Look = Look { width: 1440, height: 900, is_dark: false };
pub const PHONE: Look = Look { width: 390, height: 844, is_dark: false };

impl Browser {
    pub fn open() -> Self {
        let place = Place::take();
        let mut command = Command::new("chromedriver");
        command.args(["--port=0"]).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut driver = process::spawn(&mut command);
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let started =
            lines.by_ref().map(Result::unwrap).find(|line| line.contains("started successfully on port"));
        let digits: String = started.unwrap().chars().filter(char::is_ascii_digit).collect();
        // What it says later is of no use, but it must be able to say it.
        std::thread::spawn(move || lines.for_each(drop));
        let at = SocketAddr::from(([127, 0, 0, 1], digits.parse().unwrap()));
        let mut browser = Self { driver, at, session: String::new(), _place: place };
        let args = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--window-size=1440,900",
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": args}}}});
        let session = browser.ask("POST", "/session", &wanted);
        session["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        browser.timeouts();
        browser
    }

    fn timeouts(&self) {
        let ms = PATIENCE.as_millis() as u64;
        self.command("timeouts", &json!({"script": ms, "pageLoad": ms, "implicit": 0}));
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, json) = self.try_to_ask(method, path, body).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(status, 200, "{path}: {}", json["value"]["message"]);
        json["value"].clone()
    }

    /// It keeps its connections open, whatever it is asked, so an answer ends where its length says.
    fn try_to_ask(&self, method: &str, path: &str, body: &Value) -> std::io::Result<(u16, Value)> {
        let (body, at) = (body.to_string(), self.at);
        let mut stream = TcpStream::connect(at)?;
        stream.set_read_timeout(Some(2 * PATIENCE))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let (mut line, mut status, mut length) = (String::new(), 0, 0);
        while reader.read_line(&mut line)? > 2 {
            let lower = line.trim().to_ascii_lowercase();
            if let Some(number) = lower.strip_prefix("http/1.1 ") {
                status = number[..3].parse().unwrap();
            } else if let Some(number) = lower.strip_prefix("content-length:") {
                length = number.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes)?;
        Ok((status, serde_json::from_slice(&bytes)?))
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{name}", self.session), body)
    }

    /// Chrome's own commands.
    pub fn chrome(&self, command: &str, params: &Value) -> Value {
        self.command("goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// Opens a page and waits until all of it is there.
    pub fn go(&self, url: &str) {
        self.command("url", &json!({"url": url}));
    }

    /// Runs a script; what it returns.
    pub fn script(&self, script: &str, args: &[Value]) -> Value {
        self.command("execute/sync", &json!({"script": script, "args": args}))
    }

    /// Runs a script that calls its last argument when it is done.
    pub fn script_that_waits(&self, script: &str) -> Value {
        self.command("execute/async", &json!({"script": script, "args": []}))
    }

    /// All text that can be seen.
    pub fn text(&self) -> String {
        self.script("return document.body.innerText", &[]).as_str().unwrap().to_owned()
    }

    pub fn path(&self) -> String {
        self.script("return location.pathname + location.search", &[]).as_str().unwrap().to_owned()
    }

    fn element(&self, css: &str) -> String {
        let found = self.command("element", &json!({"using": "css selector", "value": css}));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    pub fn click(&self, css: &str) {
        let element = self.element(css);
        self.command(&format!("element/{element}/click"), &json!({}));
    }

    /// Types into an element; a file's path into a file's button chooses it.
    pub fn fill(&self, css: &str, text: &str) {
        let element = self.element(css);
        self.command(&format!("element/{element}/value"), &json!({"text": text}));
    }

    /// Presses keys, wherever the focus is.
    pub fn press(&self, keys: &str) {
        let each = keys.chars().flat_map(|key| {
            let key = key.to_string();
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        });
        let actions: Vec<Value> = each.collect();
        self.command("actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
    }

    pub fn wait_until(&self, script: &str, what: &str) {
        wait_for(|| self.script(&format!("return !!({script})"), &[]) == true, what);
    }

    /// Waits, but a minute at most.
    pub fn wait_a_minute(&self, script: &str) {
        let deadline = Instant::now() + Duration::from_mins(1);
        let is_there = || self.script(&format!("return !!({script})"), &[]) == true;
        while !is_there() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Changes the window, and whether the reader likes it dark.
    pub fn look(&self, look: Look) {
        let Look { width, height, is_dark } = look;
        let is_phone = width < 500;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": if is_phone { 2 } else { 1 }, "mobile": is_phone});
        self.chrome("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.chrome("Emulation.setEmulatedMedia", &media);
    }

    /// A picture of the page from its top, `height` at most.
    pub fn picture(&self, file: &Path, most: u32) {
        use base64::Engine;
        let size = self.script("return [innerWidth, document.documentElement.scrollHeight]", &[]);
        let height = size[1].as_u64().unwrap().min(most.into());
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": height, "scale": 1});
        let params = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let shot = self.chrome("Page.captureScreenshot", &params);
        let bytes = base64::prelude::BASE64_STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    /// The page is not wider than its window.
    pub fn assert_fits(&self, what: &str) {
        let widths = self.script("return [document.documentElement.scrollWidth, innerWidth]", &[]);
        assert!(widths[0].as_u64() <= widths[1].as_u64(), "{what}: {widths}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.try_to_ask("DELETE", &format!("/session/{}", self.session), &json!({}));
        // Whatever the browser has started is in the driver's group.
        let _ = Command::new("kill").args(["-9", "--", &format!("-{}", self.driver.id())]).status();
        let _ = self.driver.wait();
    }
}
