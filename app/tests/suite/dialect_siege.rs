//! siege itself and drome in its place, at the same time, with the same arguments against the same server: what both say must
//! have the same form on both streams, and whatever is no time must be equal.

use crate::common::counted::Counted;
use crate::common::tools::{Ears, Ended, run, shape, together};
use crate::common::{Home, process, serve};
use dialects::read;
use std::process::{Command, Stdio};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello world\n";

/// As Debian writes it, but for the report as text, a line for each transaction, and no colors.
const PLAIN: &str = "verbose = true\ncolor = off\nlimit = 255\nprotocol = HTTP/1.1\nchunked = true\nconnection = close\n\
    concurrent = 25\ndelay = 0.0\ngmethod = HEAD\nparser = true\naccept-encoding = gzip, deflate\nshow-logfile = true\n";

/// A folder with a resource file, in which both run.
struct Camp(Home);

impl Camp {
    fn new(rc: &str) -> Self {
        let camp = Self(Home::new());
        camp.0.write(".siege/siege.conf", rc);
        camp
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn command(&self, program: &str, first: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(first).args(args).env("HOME", self.0.path()).env_remove("SIEGERC").env("TZ", "UTC");
        command.current_dir(self.0.path());
        command
    }

    fn siege(&self, args: &[&str]) -> Ended {
        run(&mut self.command("siege", &[], args))
    }

    fn drome(&self, args: &[&str]) -> Ended {
        run(&mut self.command(env!("CARGO_BIN_EXE_drome"), &["siege"], args))
    }

    /// Both with the same arguments, at the same time: siege's, and drome's.
    fn both(&self, args: &[&str]) -> (Ended, Ended) {
        together(|| self.siege(args), || self.drome(args))
    }

    /// A siege that its time ends: before 4.1.4, siege at times never comes back from the end of its time (a fault of its
    /// own, <https://github.com/JoeDog/siege/issues/66>). One that hangs there is ended and asked once more; whatever else it
    /// does, it has done.
    fn timed_siege(&self, args: &[&str]) -> Ended {
        let limited = [&["--signal=KILL", "20", "siege"], args].concat();
        for _ in 0..5 {
            let finished = run(&mut self.command("timeout", &[], &limited));
            if finished.code.is_some_and(|code| code != 137)
                || !finished.err.ends_with("Lifting the server siege...")
            {
                return finished;
            }
        }
        panic!("siege {args:?} hung at the end of its time five times");
    }
}

/// Without what only drome says: that a measurement is void, and what siege would have done further.
fn without_drome(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("drome")).collect()
}

/// Lines in any order where they come from many users.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Siege ends what it says of a name without an address by whatever the machine's resolver left in `errno`, which depends on the
/// modules that are installed for it, and says nothing of the name.
fn without_errno(text: &str) -> String {
    let finished = ["following error:", "Name or service not known"];
    let cut = |line: &str| {
        let end = finished.iter().find_map(|finished| Some(line.find(finished)? + finished.len()));
        format!("{}\n", &line[..end.unwrap_or(line.len())])
    };
    text.lines().map(cut).collect()
}

/// Both say the same, and count the same.
fn assert_alike(real: &Ended, ours: &Ended, what: &str) {
    let shown =
        || format!("{what}\n--- siege\n{}{}\n--- drome\n{}{}", real.out, real.err, ours.out, ours.err);
    assert_eq!(real.code, ours.code, "{}", shown());
    let own = without_drome(&ours.err);
    assert_eq!(sorted(&shape(&real.out)), sorted(&shape(&ours.out)), "{}", shown());
    assert_eq!(
        sorted(&shape(&without_errno(&real.err))),
        sorted(&shape(&without_errno(&own))),
        "{}",
        shown()
    );
    let counts = |finished: &Ended| {
        let found = read(&format!("{}\n{}", finished.err, finished.out), "siege");
        let names = ["completed", "successful", "failed", "availability_percent", "body_bytes"];
        found.iter().map(|f| names.map(|name| f.reading.get(name))).collect::<Vec<_>>()
    };
    assert_eq!(counts(real), counts(ours), "{}", shown());
}

/// Against a server of one answer, which closes behind it; `{url}` is where.
fn alike_at(camp: &Camp, answer: &'static [u8], args: &[&str]) {
    let ears = Ears::new(answer, true);
    let url = format!("http://127.0.0.1:{}", ears.port);
    let args: Vec<String> = args.iter().map(|arg| arg.replace("{url}", &url)).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (real, ours) = camp.both(&args);
    assert_alike(&real, &ours, &args.join(" "));
}

#[test]
fn reports_are_alike_whatever_the_answer() {
    let camp = Camp::new(PLAIN);
    let answers: &[&[u8]] = &[
        OK,
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7\r\n world\n\r\n0\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 418 Teapot\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 510 Oh\r\nContent-Length: 2\r\n\r\nno",
        b"this is not HTTP\r\n\r\n",
        b"",
    ];
    for answer in answers {
        alike_at(&camp, answer, &["-b", "-c", "2", "-r", "3", "{url}/x"]);
    }
}

#[test]
fn options_do_what_they_do() {
    let camp = Camp::new(PLAIN);
    for args in [
        &["-c1", "-r2", "{url}/a?b#c"][..],
        &["--conc=2", "--reps=2", "--benchmark", "{url}"],
        &["-q", "-c1", "-r1", "{url}/x"],
        &["-j", "-c1", "-r2", "{url}/x"],
        &["-v", "-q", "-c1", "-r1", "{url}/x"],
        &["-g", "{url}/x"],
        &["-p", "{url}/x"],
        &["-q", "-g", "{url}/x"],
        &["-c0", "-r1", "{url}/x"],
        &["-c2", "-r0", "{url}/x"],
        &["-c1", "-rx", "{url}/x"],
        &["-c1", "-r1", "{url}/x POST a=b"],
        &["-c1", "-r1", "{url}/x PUT a=b"],
        &["-c1", "-r1", "{url}/x DELETE"],
        &["-c1", "-r1", "{url}/x POST <no-such-file"],
        &["-c1", "-r1", "{url}/a b?c=%41%20"],
        &["-c2", "-r1", "-N", "-F", "-i", "{url}/x"],
    ] {
        alike_at(&camp, OK, args);
    }
}

#[test]
fn debian_s_own_settings_give_json() {
    // An empty home: siege takes the file that Debian installs, which asks for JSON.
    let camp = Camp(Home::new());
    camp.0.write(".siege/siege.conf", &std::fs::read_to_string("/etc/siege/siegerc").unwrap());
    alike_at(&camp, OK, &["-c2", "-r3", "{url}/x"]);
    alike_at(&camp, OK, &["-b", "-v", "-c2", "-r3", "{url}/x"]);
    alike_at(&camp, OK, &["-C"]);
    alike_at(&camp, OK, &["-c300", "-d2", "-t3m", "-C"]);
}

#[test]
fn settings_change_lines_and_reports() {
    for more in [
        "color = on\n",
        "csv = true\n",
        "timestamp = true\n",
        "fullurl = true\n",
        "display-id = true\n",
        "verbose = false\n",
        "json_output = true\n",
        "zero-data-ok = false\n",
        "url-escaping = false\n",
        "protocol = HTTP/1.0\n",
        "show-logfile = false\nlogging = true\nlogfile = ${HOME}/a.log\n",
    ] {
        let camp = Camp::new(&format!("{PLAIN}{more}"));
        alike_at(&camp, OK, &["-c1", "-r2", "{url}/x"]);
        alike_at(&camp, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &["-c1", "-r1", "{url}/x%41"]);
        alike_at(&camp, OK, &["-C"]);
    }
}

#[test]
fn logs_are_alike() {
    let camp = Camp::new(PLAIN);
    let (theirs, ours) = (camp.path("siege.log"), camp.path("drome.log"));
    let ears = Ears::new(OK, true);
    let url = format!("http://127.0.0.1:{}/x", ears.port);
    for mark in [&[][..], &["-m", "a mark"]] {
        let line =
            |file: &str| [&["-c1", "-r2", &format!("-l{file}")], mark, &[url.as_str()]].concat().join("\n");
        let (first, second) = (line(&theirs), line(&ours));
        let real = camp.siege(&first.split('\n').collect::<Vec<_>>());
        let finished = camp.drome(&second.split('\n').collect::<Vec<_>>());
        assert_eq!(shape(&real.out.replace(&theirs, "LOG")), shape(&finished.out.replace(&ours, "LOG")));
    }
    let text = |file: &str| {
        let text = std::fs::read_to_string(file).unwrap();
        // Without time, C and Rust write what can't be divided.
        shape(&text.replace("-nan", "0.00").replace("inf", "0.00").replace("nan", "0.00"))
    };
    assert_eq!(text(&theirs), text(&ours));
    alike_at(&camp, OK, &["-c1", "-r1", "-l/no/such/folder/log", "{url}"]);
    alike_at(&camp, OK, &["-c1", "-r1", "-m", "x", "-l/no/such/folder/log", "{url}"]);
}

#[test]
fn nobody_there() {
    let camp = Camp::new(&format!("{PLAIN}failures = 3\n"));
    for args in [
        &["-c1", "-r2", "http://127.0.0.1:1/"][..],
        &["-c1", "-r5", "http://127.0.0.1:1/"],
        &["-c1", "-t9S", "http://127.0.0.1:1/"],
        &["-c1", "-r1", "-j", "http://127.0.0.1:1/"],
        &["-c1", "-r2", "http://no.invalid/"],
        &["-c1", "-r1", "http://"],
        &["-c1", "-r1", "gopher://127.0.0.1/"],
        &["-c1", "-r1", "localhost:1"],
    ] {
        let (real, ours) = camp.both(args);
        assert_alike(&real, &ours, &args.join(" "));
    }
    alike_at(&camp, b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", &["-c1", "-r9", "{url}"]);
}

#[test]
fn bad_command_lines() {
    let camp = Camp::new(PLAIN);
    for args in [
        &["-Z", "-c1", "-r1", "{url}"][..],
        &["--foo", "-c1", "-r1", "{url}"],
        &["--no", "-c1", "-r1", "{url}"],
        &["--quiet=x", "-c1", "-r1", "{url}"],
        &["-g"],
        &["-R", "no-such-file", "{url}"],
        &["-Z", "-R", "no-such-file", "-Y", "{url}"],
        &["-V", "-R", "no-such-file"],
        &["-H", "no-colon", "{url}"],
        &["-c1", "-r1", "-t1S", "-C"],
    ] {
        alike_at(&camp, OK, args);
    }
}

#[test]
fn help_and_version_go_where_siege_s_go() {
    let camp = Camp::new(PLAIN);
    for args in [&["-h"][..], &["-V"], &["-c"], &["-f", "no-such-file"]] {
        let (real, ours) = (camp.siege(args), camp.drome(args));
        assert_eq!((real.code, real.out.is_empty()), (ours.code, ours.out.is_empty()), "{args:?}");
        let first = |text: &str| text.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(first(&real.out), first(&ours.out), "{args:?}");
        assert_eq!(first(&real.err), first(&ours.err), "{args:?}");
    }
}

#[test]
fn the_request_is_siege_s_own_byte_by_byte() {
    let camp = Camp::new(PLAIN);
    camp.0.write("data.txt", "  a=b \n");
    camp.0.write("data.bin", " bytes ");
    camp.0.write("old.rc", "connection = keep-alive\nheader = X-Rc: 1\nuser-agent = other\n");
    for args in [
        &["-c1", "-r1", "{url}"][..],
        &["-c1", "-r1", "{url}/a?b=c#d"],
        &["-c1", "-r1", "{url}/a b%41%20é~"],
        &["-c1", "-r1", "{url}/a HEAD"],
        &["-c1", "-r1", "{url}/a?b=c GET"],
        &["-c1", "-r1", "{url}/x POST a GET b"],
        &["-c1", "-r1", "{url}/a TRACE"],
        &["-c1", "-r1", "-A", "agent", "-H", "X-A: b", "-H", "X-C: d", "{url}/x"],
        &["-c1", "-r1", "-H", "Host: other", "{url}/x"],
        &["-c1", "-r1", "-H", "Accept: text/plain", "{url}/x"],
        &["-c1", "-r1", "-H", "X: y", "-H", "Accept: text/plain", "{url}/x"],
        &["-c1", "-r1", "{url}/x POST a=b&c=d"],
        &["-c1", "-r1", "-T", "text/json", "{url}/x POST {1}"],
        &["-c1", "-r1", "{url}/x PUT  data"],
        &["-c1", "-r1", "{url}/x PATCH p"],
        &["-c1", "-r1", "{url}/x OPTIONS"],
        &["-c1", "-r1", "{url}/x DELETE"],
        &["-c1", "-r1", "{url}/x POST"],
        &["-c1", "-r1", "{url}/x POST <data.txt"],
        &["-c1", "-r1", "{url}/x POST < data.bin"],
        &["-g", "{url}/x"],
        &["-p", "{url}/x"],
        &["-R", "old.rc", "-c1", "-r1", "{url}/x"],
    ] {
        let heard = |run: &dyn Fn(&[&str]) -> Ended| {
            let wire = |url: &str| {
                let args: Vec<String> = args.iter().map(|arg| arg.replace("{url}", url)).collect();
                run(&args.iter().map(String::as_str).collect::<Vec<_>>());
            };
            crate::common::tools::wire(wire, OK, true)
        };
        assert_eq!(heard(&|args| camp.siege(args)), heard(&|args| camp.drome(args)), "{args:?}");
    }
}

#[test]
fn lists_of_urls() {
    let camp = Camp::new(PLAIN);
    let ears = Ears::new(OK, true);
    let here = format!("http://127.0.0.1:{}", ears.port);
    let list =
        format!("# a list\nHERE={here}\n\n$(HERE)/one\n${{HERE}}/two\n  {here}/three POST x\n#{here}/no\n");
    camp.0.write("urls", &list);
    for args in [
        &["-c1", "-r3", "-f", "urls"][..],
        &["-c2", "-r", "once", "-f", "urls"],
        &["-c3", "-r2", "-f", "urls"],
    ] {
        let (real, ours) = camp.both(args);
        assert_alike(&real, &ours, &args.join(" "));
    }
    let random = camp.drome(&["-i", "-c1", "-r200", "-f", "urls"]);
    for path in ["/one", "/two", "/three"] {
        assert!(random.out.matches(path).count() > 20, "{}", random.out);
    }
}

#[test]
fn timed_runs_connections_that_stay_and_delays() {
    let server = serve(&["--fault", "delay=2ms"]);
    let url = format!("http://{}/hello", server.address);
    let camp = Camp::new(&format!("{PLAIN}verbose = false\n"));
    for connection in ["close", "keep-alive"] {
        let rc = camp.0.write("c.rc", &format!("{PLAIN}verbose = false\nconnection = {connection}\n"));
        let rc = rc.display().to_string();
        let args = ["-R", &rc, "-b", "-t2S", "-c", "3", &url];
        let (real, ours) = together(|| camp.timed_siege(&args), || camp.drome(&args));
        assert_eq!((real.code, shape(&real.err)), (ours.code, shape(&without_drome(&ours.err))));
        for finished in [&real, &ours] {
            let reading = &read(&finished.err, "siege")[0].reading;
            assert!(
                reading.get("completed").unwrap() >= 1.0 && reading.get("failed") == Some(0.0),
                "{finished:?}"
            );
        }
        let args = ["-R", &rc, "-b", "-r20", "-c", "3", &url];
        let (real, ours) = camp.both(&args);
        assert_alike(&real, &ours, connection);
    }
    // Five pauses of up to a second each, and not none.
    let ours = camp.drome(&["-c1", "-r6", "-d0.9", &url]);
    assert!(read(&ours.err, "siege")[0].reading.get("duration_ns").unwrap() >= 1e8, "{}", ours.err);
}

#[test]
fn encrypted_servers_too() {
    let server = serve(&["--tls"]);
    let camp = Camp::new(PLAIN);
    let url = format!("https://{}/hello", server.address);
    for args in [&["-b", "-c2", "-r3", &url][..], &["-c1", "-r1", &format!("{url} POST a=b")]] {
        let (real, ours) = camp.both(args);
        assert_alike(&real, &ours, &args.join(" "));
    }
}

/// Ends by ^C, as sieges without an end do.
#[test]
fn an_interrupted_siege_reports_what_it_has() {
    let camp = Camp::new(&format!("{PLAIN}verbose = false\n"));
    let drome = env!("CARGO_BIN_EXE_drome");
    let finished = [("siege", &[][..]), (drome, &["siege"])].map(|(program, first)| {
        let server = Counted::new(&["--fault", "delay=5ms"]);
        let url = server.url();
        let mut command = camp.command(program, first, &["-b", "-c2", &url]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = process::spawn(&mut command);
        process::interrupt_at_work(&child, || server.answers() > 10);
        process::ended(child)
    });
    let [real, ours] = &finished;
    assert_eq!((real.code, shape(&real.err)), (ours.code, shape(&without_drome(&ours.err))));
    for finished in &finished {
        assert!(read(&finished.err, "siege")[0].reading.get("completed").unwrap() > 8.0, "{}", finished.err);
    }
}

#[test]
fn the_command_of_the_page() {
    let server = serve(&["--fault", "delay=5ms"]);
    let url = format!("http://{}/hello", server.address);
    let camp = Camp::new(PLAIN);
    let ours = camp.drome(&["-q", "-j", "-b", "-t1S", "-c200", &url]);
    let reading = &read(&ours.out, "siege")[0].reading;
    assert_eq!((ours.code, reading.get("failed")), (Some(0), Some(0.0)));
    assert!(reading.get("completed").unwrap() >= 200.0, "{}", ours.out);
}

#[test]
fn what_siege_would_do_further_is_said() {
    let camp = Camp::new(PLAIN);
    for (answer, words, not) in [
        (
            &b"HTTP/1.1 302 F\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"[..],
            "1 answers were redirects",
            "--no-follow",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<img src='/a'>\n",
            "the answer is a page of HTML",
            "--no-parser",
        ),
    ] {
        let ears = Ears::new(answer, true);
        let url = format!("http://127.0.0.1:{}/", ears.port);
        let ours = camp.drome(&["-c1", "-r1", &url]);
        assert!(ours.err.contains(&format!("drome siege: {words}")), "{}", ours.err);
        let ours = camp.drome(&["-c1", "-r1", not, &url]);
        assert!(!ours.err.contains("drome siege: "), "{}", ours.err);
        alike_at(&camp, answer, &["-c1", "-r1", not, "{url}/"]);
    }
    let more: [(&'static [u8], &str); 3] = [
        (b"HTTP/1.1 401 U\r\nContent-Length: 0\r\n\r\n", "1 answers required credentials"),
        (b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n", "the server set cookies"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", "1 answers were cut off"),
    ];
    for (answer, words) in more {
        let ears = Ears::new(answer, true);
        let ours = camp.drome(&["-c1", "-r1", &format!("http://127.0.0.1:{}/", ears.port)]);
        assert!(ours.err.contains(&format!("drome siege: {words}")), "{}", ours.err);
    }
}

#[test]
fn what_drome_does_not_honour_is_refused_by_name() {
    let camp = Camp::new(PLAIN);
    let rc = |text: &str| camp.0.write("r.rc", text).display().to_string();
    for (args, name) in [
        (vec!["-D".to_owned(), "http://127.0.0.1:1/".to_owned()], "-D (--debug)"),
        (vec!["-R".to_owned(), rc("proxy-host = p\n"), "http://127.0.0.1:1/".to_owned()], "`proxy-host = p`"),
        (vec!["ftp://127.0.0.1/x".to_owned()], "ftp://127.0.0.1/x"),
        (vec!["http://u:p@127.0.0.1/x".to_owned()], "http://u:p@127.0.0.1/x"),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ours = camp.drome(&args);
        assert_eq!(ours.code, Some(2), "{ours:?}");
        assert!(ours.err.starts_with("drome siege: ") && ours.err.contains(name), "{}", ours.err);
    }
}
