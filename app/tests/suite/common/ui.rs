//! `drome ui` with a small study, and what is asked of it.

use crate::common::http::{self, Answer};
use crate::common::{Home, PATIENCE, Server, catalog, process, run, wait_for};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A study of two servers that can be had everywhere: drome's own, one of them slower.
const STUDY: &str = r#"
title = "A small <b>study</b>"
source = "nowhere & never"
contenders = ["plain", "spins"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 4 } }
[design]
rounds = [ROUNDS]
slice = "20ms"
warmup = "50ms"
measure = "160ms"
precision = 0.001
budget = "10min"
"#;

/// A page under test; it is killed with the test.
pub struct Ui {
    pub home: Home,
    pub server: Server,
    /// As it was printed.
    pub url: String,
    /// What the address that was printed ends in.
    pub token: String,
}

/// A home with the study `small` of so many rounds.
pub fn home(rounds: &str) -> Home {
    let home = Home::new();
    home.write_study("small", &STUDY.replace("ROUNDS", rounds));
    let contender = |name: &str, title: &str, spin: &str| {
        let serves = format!(r#"["{{drome}}", "serve", "--port", "{{port}}", "--spin", "{spin}"]"#);
        let text = catalog::contender(title, &serves).replace("http://127.0.0.1/", "javascript:alert(1)");
        home.write_contender(name, &text);
    };
    contender("plain", "Plain <script>alert(1)</script>", "0s");
    contender("spins", "Spins & spins", "20us");
    home
}

/// A home in which `small` was run twice, and the names of these runs, the latest first. It is really run only once for all tests.
pub fn with_runs() -> (Home, Vec<String>) {
    static STORE: OnceLock<Vec<u8>> = OnceLock::new();
    let store = STORE.get_or_init(|| {
        let home = home("6, 6");
        for _ in 0..2 {
            let finished = run(&mut home.with_catalog(&["run", "small", "--seed", "7"]));
            assert_eq!(finished.code, 0, "{}", finished.err);
        }
        std::fs::read(home.store()).unwrap()
    });
    let home = home("6, 6");
    std::fs::write(home.store(), store).unwrap();
    let listed = run(&mut home.drome(&["list", "runs"])).out;
    let ids = listed.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    (home, ids)
}

/// The page in this home.
pub fn open(home: Home, args: &[&str]) -> Ui {
    open_with(home, args, &[])
}

/// The same with these variables.
pub fn open_with(home: Home, args: &[&str], variables: &[(&str, &str)]) -> Ui {
    let has_catalog = home.path().join("own").exists();
    let words = ["ui", "--port", "0"];
    let mut command = if has_catalog { home.with_catalog(&words) } else { home.drome(&words) };
    command.envs(variables.iter().copied());
    let mut child = process::spawn(command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let url = url.trim().to_owned();
    let authority = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
    let port = authority.rsplit(':').next().unwrap().parse().unwrap_or_else(|e| panic!("{e}: {url:?}"));
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let token = url.split_once("/?token=").unwrap_or_else(|| panic!("no token in {url:?}")).1.to_owned();
    Ui { home, server: Server { child, address }, url, token }
}

impl Ui {
    pub fn host(&self) -> String {
        self.server.address.to_string()
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.host())
    }

    /// The cookie of who has been here with the token.
    pub fn cookie(&self) -> String {
        format!("drome-token-{}={}", self.server.address.port(), self.token)
    }

    /// A request of this line with these fields, and with the token.
    pub fn ask(&self, line: &str, fields: &[(&str, &str)], body: &[u8]) -> Answer {
        self.ask_without_token(line, &[fields, &[("Cookie", &self.cookie())]].concat(), body)
    }

    /// The same as a stranger.
    pub fn ask_without_token(&self, line: &str, fields: &[(&str, &str)], body: &[u8]) -> Answer {
        let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("{line} HTTP/1.1\r\nConnection: close\r\n{fields}\r\n");
        http::ask(self.server.address, &[head.as_bytes(), body].concat())
    }

    /// As a browser asks.
    pub fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &[("Host", &self.host())], b"")
    }

    /// A form that is sent from our own page.
    pub fn post(&self, path: &str, form: &str) -> Answer {
        let length = form.len().to_string();
        let fields = [
            ("Host", self.host()),
            ("Origin", self.origin()),
            ("Content-Type", "application/x-www-form-urlencoded".to_owned()),
            ("Content-Length", length),
        ];
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.ask(&format!("POST {path}"), &fields, form.as_bytes())
    }

    /// A file that is chosen on our own page.
    pub fn import(&self, name: &str, text: &str) -> Answer {
        let name: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let (host, origin, length) = (self.host(), self.origin(), text.len().to_string());
        let fields = [("Host", host.as_str()), ("Origin", &origin), ("Content-Length", &length)];
        self.ask(&format!("POST /imports?name={name}"), &fields, text.as_bytes())
    }

    /// Events as they come, until `enough` of them have.
    pub fn events(&self, mut enough: impl FnMut(&str) -> bool) -> String {
        let mut stream = TcpStream::connect(self.server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!("Host: {}\r\nCookie: {}\r\n\r\n", self.host(), self.cookie());
        write!(stream, "GET /live/events HTTP/1.1\r\n{head}").unwrap();
        let (mut text, mut bytes) = (String::new(), vec![0; 65536]);
        while !enough(&text) {
            let n = stream.read(&mut bytes).unwrap();
            assert!(n > 0, "the events ended: {text}");
            text.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
        text
    }

    /// How many trials the store has.
    pub fn trials(&self) -> usize {
        super::trials(&self.home)
    }

    /// Ctrl-C, and how it ends.
    pub fn interrupt(mut self) -> (Option<i32>, String, Home) {
        process::signal(&self.server.child, "-INT");
        let mut err = String::new();
        self.server.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let code = process::wait(&mut self.server.child).code();
        (code, err, self.home)
    }

    /// Waits until the page says that the study is over.
    pub fn wait_for_end(&self) -> String {
        let mut page = String::new();
        wait_for(
            || {
                page = self.get("/live").text();
                page.contains("data-over")
            },
            "the study to end",
        );
        page
    }
}

/// More runs of so many starts each, copies of those of the first; the last one has ten contenders.
const FILL: &str = r"
import sqlite3, sys, json
db = sqlite3.connect(sys.argv[1])
id, name, started, ended, text = db.execute('select id, name, started_at, ended, json from run').fetchone()
heats = db.execute('select round, number, json from heat where run = ?', [id]).fetchall()
starts = list(map(json.loads, (row[0] for row in db.execute('select json from start where run = ?', [id]))))
def keep(copy, text, heats, starts):
    db.execute('insert into run values (?, ?, ?, ?, ?)', (copy, name, started, ended, text.replace(id, copy)))
    for round, number, heat in heats:
        db.execute('insert into heat values (?, ?, ?, ?)', (copy, round, number, heat))
    for start in starts:
        row = (copy, start['round'], start['heat'], start['contender'], start['copy'], len(start['cells']), 1, json.dumps(start))
        db.execute('insert into start (run, round, heat, contender, copy, cells, is_over, json) values (?, ?, ?, ?, ?, ?, ?, ?)', row)
first, own = heats[0], [start for start in starts if start['contender'] != 'hub' and start['round'] == 0]
for k in range(int(sys.argv[2])):
    n = int(sys.argv[3])
    rounds = range(-(-n // len(own)))
    of_round = lambda round: dict(json.loads(first[2]), round=round, number=0)
    more = [dict(start, round=round, heat=0) for round in rounds for start in own][:n]
    keep('run-%04d' % k, text, [(round, 0, json.dumps(of_round(round))) for round in rounds], more)
run, all = json.loads(text), []
for k in range(8):
    run['contenders']['c%d' % k] = dict(run['contenders']['plain'], title='Contender %d' % k)
for start in starts:
    all.append(start)
    if start['contender'] == 'plain':
        all += [dict(start, contender='c%d' % k) for k in range(8)]
keep('run-of-ten', json.dumps(run), heats, all)
db.commit()";

pub fn fill(home: &Home, runs: usize, starts: usize) {
    let (store, runs, starts) = (home.store().display().to_string(), runs.to_string(), starts.to_string());
    let finished = run(Command::new("python3").args(["-c", FILL, &store, &runs, &starts]));
    assert_eq!(finished.code, 0, "{}", finished.err);
}
